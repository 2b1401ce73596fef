/** An instance that closes beside another one: until it has come to rest, what it has in hand is its own. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { recoverDead } from "../../src/effects/recover.ts";
import { isHoldpointError } from "../../src/index.ts";
import { machine, settled } from "../fixtures/runtime.ts";

const SECOND = 1_000;
const LEASE_MS = 3 * SECOND;

test("an effect that takes longer than the lease ends in the name of the instance that closes meanwhile", async () => {
  const computer = machine({ leaseMs: LEASE_MS });
  const [closing, other] = [computer.process(), computer.process()];
  const out = Promise.withResolvers<void>();
  const slow = closing.gate({ name: "slow", policy: "approve", run: () => out.promise });
  other.gate({ name: "slow", policy: "approve", run: () => undefined });
  const answer = slow({}, { requestId: "one" });
  await settled();
  const closed = closing.close();
  await computer.clock.advance(LEASE_MS * 3);
  await recoverDead(other.runtime);
  assert.equal((await other.actions.get("one")).phase, "running");
  out.resolve();
  await computer.clock.advance(LEASE_MS);
  await closed;
  assert.equal((await answer).status, "done");
  assert.equal((await other.actions.get("one")).phase, "applied");
});

/** An instance that closes while its tool does not heed that, beside one that can tell whether it happened. */
async function overstayed(leaseMs?: number) {
  const computer = machine(leaseMs === undefined ? {} : { leaseMs });
  const [closing, other] = [computer.process({ drainMs: 300 }), computer.process()];
  const out = Promise.withResolvers<void>();
  const told: unknown[] = [];
  const tool = { name: "slow", policy: "approve", effect: "probed" } as const;
  const verify = () => ({ answer: "not_applied" }) as const;
  const run = (_: unknown, { signal }: { signal: AbortSignal }) => {
    signal.addEventListener("abort", () => told.push(signal.reason));
    return out.promise;
  };
  const answer = closing.gate({ ...tool, verify, run })({}, { requestId: "one" });
  other.gate({ ...tool, verify, run: () => undefined });
  const refused = assert.rejects(answer, { code: "closed" });
  await other.runtime.epoch();
  await settled();
  const closed = closing.close();
  await computer.clock.advance(SECOND);
  await closed;
  const phase = async () => (await other.actions.get("one")).phase;
  return { computer, other, told, phase, end: out.resolve, refused };
}

test("an effect that outlasts the drain is looked into when the lease has lapsed, and not before; its tool is told", async () => {
  const { computer, other, told, phase, end, refused } = await overstayed(30 * SECOND);
  assert.equal(told.length, 1);
  await computer.clock.advance(25 * SECOND);
  assert.equal(await phase(), "running");
  await computer.clock.advance(30 * SECOND);
  assert.equal(await phase(), "not_applied");
  end();
  await refused;
  await other.close();
});

test("an effect that outlasts the drain is looked into once it has come to rest, where it is held by a lock", async () => {
  const { computer, other, told, phase, end, refused } = await overstayed();
  assert.equal(told.length, 1);
  await computer.clock.advance(600 * SECOND);
  assert.equal(await phase(), "running");
  end();
  await refused;
  await computer.clock.advance(30 * SECOND);
  assert.equal(await phase(), "not_applied");
  await other.close();
});

for (const effect of ["idempotent", "keyed", "read"] as const)
  test(`a call whose attempt fails while its instance closes is left to whoever comes next: ${effect}`, async () => {
    const computer = machine();
    const sent: string[] = [];
    const open = (isUp: boolean) => {
      const hp = computer.process();
      const out = Promise.withResolvers<void>();
      const retention = effect === "keyed" ? { keyRetentionMs: 60_000 } : {};
      const run = async () => {
        sent.push("sent");
        await out.promise;
        if (!isUp) throw new Error("503");
        return "done";
      };
      const call = hp.gate({ name: "call", policy: "approve", effect, attempts: 5, ...retention, run });
      return { hp, call, end: out.resolve };
    };
    const first = open(false);
    const answer = first.call({}, { requestId: "one" }).catch((error: unknown) => error);
    await settled();
    const closed = first.hp.close();
    await settled();
    first.end();
    await computer.clock.advance(1_000);
    await closed;
    const told = await answer;
    assert.ok(isHoldpointError(told, "closed"), String(told));
    assert.match(told.data, effect === "read" ? /^Nothing was written/ : /may have been started/);
    const second = open(true);
    second.end();
    assert.equal((await second.call({}, { requestId: "one" })).status, "done");
    assert.deepEqual(sent, ["sent", "sent"]);
    await second.hp.close();
  });

test("a pause before the next attempt is not cut short by closing: nothing is sent once more", async () => {
  const computer = machine();
  const hp = computer.process();
  const sent: string[] = [];
  const run = () => {
    sent.push("sent");
    throw new Error("later, please");
  };
  const call = hp.gate({ name: "call", policy: "approve", effect: "idempotent", attempts: 5, run });
  const answer = call({}, { requestId: "one" }).catch((error: unknown) => error);
  await settled();
  const closing = hp.close();
  assert.ok(isHoldpointError(await answer, "closed"));
  await computer.clock.advance(1_000);
  await closing;
  assert.deepEqual(sent, ["sent"]);
});
