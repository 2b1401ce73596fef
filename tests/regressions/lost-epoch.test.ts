/** What is begun in the name of an epoch that is lost before it is done: secrets on their way, reads, and runs of workflows. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { HoldpointError } from "../../src/index.ts";
import { machine, settled } from "../fixtures/runtime.ts";
import { ANN, office, question } from "../workflows/office.ts";

const LEASE_MS = 3_000;
const WHY = { by: "person:ann", reason: "enough" };

/** A call with a secret of the store's, whose row is being read while something else happens. */
async function onItsWay(effect: "once" | "read") {
  const computer = machine({ leaseMs: LEASE_MS });
  const [hp, other] = [computer.process(), computer.process()];
  const row = Promise.withResolvers<void>();
  const asked = Promise.withResolvers<void>();
  const sent: string[] = [];
  const run = ({ key }: { key: string }) => void sent.push(key);
  const pay = hp.gate({ name: "pay", policy: "approve", effect, run });
  const key = (await hp.putSecret("hunter2hunter2")) as unknown as string;
  const { getSecret } = hp.store;
  // The schema has it looked up first; the second time is for the send.
  let times = 0;
  const slow: typeof getSecret = async (...args) => {
    if (++times !== 2) return getSecret(...args);
    asked.resolve();
    await row.promise;
    return getSecret(...args);
  };
  Object.assign(hp.store, { getSecret: slow });
  const answer = pay({ key }, { requestId: "one" });
  await Promise.race([asked.promise, settled(200)]);
  assert.equal(times, 2, "it is on its way");
  return { computer, hp, other, row, sent, answer };
}

describe("while a stored secret is read for a call", () => {
  for (const [effect, status] of [
    ["once", "failed"],
    ["read", "pending"],
  ] as const)
    test(`the kill switch comes on: nothing is sent (${effect})`, async () => {
      const { hp, other, row, sent, answer } = await onItsWay(effect);
      await other.switch.pause(WHY);
      row.resolve();
      assert.equal((await answer).status, status);
      assert.deepEqual(sent, []);
      await hp.close();
    });

  test("another process takes this one for dead: nothing is sent", async () => {
    const { computer, hp, other, row, sent, answer } = await onItsWay("once");
    await other.runtime.epoch();
    computer.database.holds.clear();
    await computer.clock.advance(LEASE_MS);
    row.resolve();
    await answer.catch(() => undefined);
    assert.deepEqual(sent, []);
    await hp.close();
  });

  for (const effect of ["once", "read"] as const)
    test(`nothing happens: it is sent once, with the value (${effect})`, async () => {
      const { hp, row, sent, answer } = await onItsWay(effect);
      row.resolve();
      assert.equal((await answer).status, "done");
      assert.deepEqual(sent, ["hunter2hunter2"]);
      await hp.close();
    });

  test("the store does not answer: it is asked again, and the call is not over", async () => {
    const { computer, hp, row, sent, answer } = await onItsWay("once");
    row.reject(new HoldpointError("store_unavailable", "The line is down."));
    await settled();
    await computer.clock.advance(LEASE_MS / 3);
    assert.equal((await answer).status, "done");
    assert.deepEqual(sent, ["hunter2hunter2"]);
    await hp.close();
  });
});

test("a read whose lease runs out is begun anew, and is not said to have failed", async () => {
  const computer = machine({ leaseMs: LEASE_MS });
  const hp = computer.process();
  let runs = 0;
  const run = (_args: object, { signal }: { signal: AbortSignal }) => {
    runs += 1;
    if (runs > 1) return "the answer";
    return new Promise<string>((_resolve, reject) => {
      signal.addEventListener("abort", () => reject(signal.reason));
    });
  };
  const look = hp.gate({ name: "look", policy: "approve", effect: "read", attempts: 1, run });
  const answer = look({}, { requestId: "one" });
  await settled();
  computer.database.holds.clear();
  await computer.clock.advance(LEASE_MS / 2);
  assert.partialDeepStrictEqual(await answer, { status: "done", result: "the answer" });
  assert.equal(runs, 2);
  await hp.close();
});

test("a run whose epoch is lost goes on in the name of the next one, and its calls with it", async () => {
  const place = office(1, LEASE_MS);
  const desk = place.open();
  const slow = Promise.withResolvers<void>();
  const ran: string[] = [];
  const pay = desk.gate({
    ...{ name: "pay", policy: "escalate", effect: "idempotent" },
    run: () => void ran.push("paid"),
  });
  const flow = desk.workflow("w", {}, async (ctx, _: object) => {
    await ctx.parallel([(one) => one.step("slow", () => slow.promise), (one) => one.call(pay, {})]);
  });
  await desk.work();
  const { id } = await flow.start({});
  const asked = await question(place, desk);
  const before = (await desk.runtime.epoch()).id;
  place.database.holds.clear();
  await place.pass(LEASE_MS);
  assert.notEqual((await desk.runtime.epoch()).id, before);
  await desk.approvals.approve(asked, ANN);
  await place.until(async () => ran.length > 0);
  slow.resolve();
  await place.until(async () => (await desk.workflows.get(id)).status === "completed");
  assert.deepEqual(ran, ["paid"]);
  await place.finish(desk.close());
});
