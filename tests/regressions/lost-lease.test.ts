/** Between a start and its send: a lease that was lost, and recovery that looks at an effect of its own process. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { recoverDead, startRecovery } from "../../src/effects/recover.ts";
import { HoldpointError, isHoldpointError } from "../../src/index.ts";
import { actionStream, streamName } from "../../src/kernel/stream.ts";
import type { CrashPoint } from "../../src/runtime/runtime.ts";
import { machine, type Process, settled } from "../fixtures/runtime.ts";
import { ANN, office } from "../workflows/office.ts";

const LEASE_MS = 3_000;

/** A process alone on a database whose leases it cannot renew while `isAway`. */
function alone(effect: "once" | "idempotent" = "once") {
  const computer = machine({ leaseMs: LEASE_MS });
  const at: { point: CrashPoint | null; work: () => Promise<void> } = { point: null, work: async () => {} };
  const reach = async (point: CrashPoint) => {
    if (point !== at.point) return;
    at.point = null;
    await at.work();
  };
  const line = { isAway: false };
  const ran: string[] = [];
  const open = () => {
    const hp = computer.process({ reach });
    const holdEpoch = hp.store.holdEpoch.bind(hp.store);
    Object.assign(hp.store, {
      holdEpoch: async (id: string) => {
        const hold = await holdEpoch(id);
        const renew = async () => {
          if (line.isAway) throw new HoldpointError("store_unavailable", "The line is down.");
          await hold.renew();
        };
        return { ...hold, renew };
      },
    });
    const run = () => void ran.push("sent");
    return { hp, send: hp.gate({ name: "send", policy: "approve", effect, run }) };
  };
  return { computer, line, at, ran, open };
}

const isLost = (error: unknown) => isHoldpointError(error, "epoch_ended");

describe("a process that is alone and has lost its lease", () => {
  test("says so, begins another epoch, and goes on in the name of that", async () => {
    const { computer, line, ran, open } = alone();
    const { hp, send } = open();
    await send({}, { requestId: "one" });
    const before = await hp.runtime.epoch();
    line.isAway = true;
    await computer.clock.advance(LEASE_MS * 2);
    line.isAway = false;
    assert.equal((await send({}, { requestId: "two" })).status, "done");
    await computer.clock.advance(LEASE_MS * 2);
    const told = hp.notices.filter((one) => one.kind === "maintenance_failed" && isLost(one.error));
    assert.equal(told.length, 1, "it is told about, once");
    assert.deepEqual(ran, ["sent", "sent"]);
    assert.notEqual((await hp.runtime.epoch()).id, before.id);
    assert.equal(before.mayRun(), false);
    await hp.close();
  });

  for (const effect of ["once", "idempotent"] as const)
    test(`between a start and its send sends nothing; the next process finds it: ${effect}`, async () => {
      const { computer, line, at, ran, open } = alone(effect);
      const { hp, send } = open();
      at.point = "before_send";
      at.work = async () => {
        line.isAway = true;
        await computer.clock.advance(LEASE_MS * 2);
        line.isAway = false;
      };
      await assert.rejects(
        send({}, { requestId: "one" }),
        (error) => isLost(error) && /was started; the next process/.test((error as HoldpointError).data),
      );
      assert.deepEqual(ran, []);
      hp.crash();
      const next = open();
      await recoverDead(next.hp.runtime);
      const { phase } = await next.hp.actions.get("one");
      assert.deepEqual([phase, ran], effect === "once" ? ["in_doubt", []] : ["applied", ["sent"]]);
    });

  test("tells its caller to call again, as a server that cannot work just now, and answers that", async () => {
    const { computer, line, at, open } = alone();
    const { hp, send } = open();
    at.point = "before_send";
    at.work = async () => {
      line.isAway = true;
      await computer.clock.advance(LEASE_MS * 2);
      line.isAway = false;
    };
    const refused = await send({}, { requestId: "one" }).catch((error: unknown) => error);
    assert.ok(isHoldpointError(refused, "epoch_ended"));
    assert.deepEqual([refused.status, refused.retryable], [503, true]);
    await hp.runtime.epoch();
    assert.equal((await send({}, { requestId: "one" })).status, "in_doubt", "it is there, and told");
    await hp.close();
  });

  test("for a moment, and renews it, sends once", async () => {
    const { computer, line, at, ran, open } = alone();
    const { send } = open();
    at.point = "before_send";
    at.work = async () => {
      line.isAway = true;
      await computer.clock.advance(LEASE_MS * 0.8);
      line.isAway = false;
    };
    assert.equal((await send({}, { requestId: "one" })).status, "done");
    assert.deepEqual(ran, ["sent"]);
  });
});

describe("a tool that runs longer than the lease", () => {
  /** Runs until the test says so, and tells when its signal aborts. */
  function long() {
    const { computer, line, open } = alone();
    const { hp } = open();
    const { promise: done, resolve: end } = Promise.withResolvers<void>();
    const heard: string[] = [];
    const run = async (_args: unknown, { signal }: { signal: AbortSignal }) => {
      heard.push("begins");
      signal.addEventListener("abort", () => heard.push(String(signal.reason)));
      await done;
    };
    return { computer, line, hp, heard, end, call: hp.gate({ name: "long", policy: "approve", run }) };
  }

  test("is told by its signal when the lease has run out, and not before", async () => {
    const { computer, line, heard, end, call, hp } = long();
    const answer = call({}, { requestId: "one" });
    await settled();
    line.isAway = true;
    await computer.clock.advance(LEASE_MS * 0.9);
    assert.deepEqual(heard, ["begins"]);
    await computer.clock.advance(LEASE_MS * 0.2);
    assert.deepEqual(heard, ["begins", "Error: the lease of this process has run out"]);
    line.isAway = false;
    end();
    await answer.catch(() => undefined);
    await hp.close();
  });

  test("hears nothing when only the machine's clock was set forward", async () => {
    const { computer, heard, end, call, hp } = long();
    const answer = call({}, { requestId: "one" });
    await settled();
    await computer.clock.advance(LEASE_MS * 5);
    assert.deepEqual(heard, ["begins"], "the store was asked, and it holds");
    end();
    assert.equal((await answer).status, "done");
    await hp.close();
  });

  test("hears it at once when the store says that the lease is lost, whether another epoch can begin or not", async () => {
    for (const canBegin of [true, false]) {
      const { computer, heard, end, call, hp } = long();
      const answer = call({}, { requestId: "one" });
      await settled();
      const own = await hp.runtime.epoch();
      const { holdEpoch } = hp.store;
      if (!canBegin)
        Object.assign(hp.store, {
          holdEpoch: () => Promise.reject(new HoldpointError("store_unavailable", "The line is down.")),
        });
      computer.database.holds.clear();
      await computer.clock.advance(LEASE_MS / 2);
      assert.deepEqual(heard, ["begins", "Error: the lease of this process has run out"], own.id);
      Object.assign(hp.store, { holdEpoch });
      end();
      await answer.catch(() => undefined);
      await hp.close();
    }
  });

  test("hears nothing as long as the lease is renewed", async () => {
    const { computer, heard, end, call, hp } = long();
    const answer = call({}, { requestId: "one" });
    await settled();
    for (let n = 0; n < 20; n++) await computer.clock.advance(LEASE_MS / 2);
    assert.deepEqual(heard, ["begins"]);
    end();
    assert.equal((await answer).status, "done");
    await hp.close();
  });
});

describe("recovery that looks at an effect whose start its own process has not heard of yet", () => {
  /** Holds the starter back in the moment after its commit. */
  function startedUnheard(effect: "once" | "idempotent") {
    const computer = machine();
    const heard = Promise.withResolvers<void>();
    const reach = (point: CrashPoint) => (point === "after_propose" ? heard.promise : undefined);
    const hp: Process = computer.process({ reach });
    const ran: string[] = [];
    const out = Promise.withResolvers<void>();
    const send = hp.gate({
      name: "send",
      policy: "approve",
      effect,
      run: async () => {
        ran.push("sent");
        await out.promise;
      },
    });
    return { computer, hp, ran, heard, out, answer: send({}, { requestId: "one" }) };
  }

  for (const effect of ["once", "idempotent"] as const)
    for (const order of ["while it is sent", "after it was sent", "before it is sent"])
      test(`sends it once, if that is heard ${order}: ${effect}`, async () => {
        const { hp, ran, heard, out, answer } = startedUnheard(effect);
        await settled();
        if (order === "before it is sent") heard.resolve();
        const recovery = startRecovery(hp.runtime).then(({ performed }) => Promise.all(performed));
        if (order !== "before it is sent") await settled();
        if (order === "after it was sent") {
          out.resolve();
          await recovery;
        }
        heard.resolve();
        await settled();
        out.resolve();
        await recovery;
        assert.equal((await answer).status, "done");
        assert.deepEqual(ran, ["sent"]);
      });
});

test("an effect that recovery gives up, because its workflow is over, is not sent while that is written down", async () => {
  const place = office();
  const heard = Promise.withResolvers<void>();
  const desk = place.open({
    reach: (point) => (point === "after_propose" && isOn ? heard.promise : undefined),
  });
  let isOn = false;
  const ran: string[] = [];
  const flow = desk.workflow("w", {}, async (ctx, _: object) => {
    isOn = true;
    await ctx.step("send", { effect: "once" }, () => void ran.push("sent"));
  });
  const { id } = await flow.start({});
  const action = await place.until(async () => (await desk.workflows.get(id)).open[0]);
  await desk.workflows.cancel(id, { ...ANN, reason: "enough" });
  const written = Promise.withResolvers<void>();
  const transact = desk.store.transact.bind(desk.store);
  let isDelayed = false;
  Object.assign(desk.store, {
    transact: async (...args: Parameters<typeof transact>) => {
      const [first] = args[1].write ?? [];
      if (!isDelayed && first !== undefined && streamName(first) === streamName(actionStream(action))) {
        isDelayed = true;
        await written.promise;
      }
      return transact(...args);
    },
  });
  const recovery = startRecovery(desk.runtime);
  await settled();
  assert.ok(isDelayed, "it is about to be given up");
  heard.resolve();
  await settled();
  written.resolve();
  await recovery;
  await settled();
  const { phase } = await desk.actions.get(action);
  assert.deepEqual([phase, ran], ["not_applied", []], "what was sent is never called not applied");
  await place.finish(desk.close());
});
