/** Workflows that the kill switch or a budget holds up: they wait, and go on by themselves. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { ANN, atRest, type Desk, office, question, reopen, types } from "./office.ts";

const usd = (whole: number) => ({ currency: "USD", micros: BigInt(whole) * 1_000_000n });
const STOP = { ...ANN, reason: "drill" };

/** Two things that the workflow does one after the other, each of which can be held. */
function setUp(desk: Desk, done: string[], cost = 0) {
  const buy = desk.gate({
    name: "buy",
    policy: "approve",
    effect: "idempotent",
    undo: () => void done.push("undo"),
    ...(cost === 0 ? {} : { cost: () => ({ budget: "trip", amount: usd(cost) }) }),
    run: () => void done.push("buy"),
  });
  return desk.workflow("w", {}, async (ctx, _: object) => {
    if (ctx.attempt > 1) return "again";
    const { status } = await ctx.call(buy, {});
    await ctx.step("count", () => void done.push("count"));
    return status;
  });
}

const heldAt = (place: ReturnType<typeof office>, desk: Desk, id: string, on: string) =>
  place.until(async () => {
    const { waits, runner } = await desk.workflows.get(id);
    return runner === null && waits.some((wait) => wait.kind === "held" && wait.on === on);
  });

describe("a call under the kill switch", () => {
  for (const scope of [{}, { agent: "tester" }])
    test(`holds its workflow up until it is released: ${JSON.stringify(scope)}`, async () => {
      const place = office();
      const desk = place.open();
      const done: string[] = [];
      await desk.switch.pause({ ...STOP, ...scope });
      const { id, result } = await setUp(desk, done).start({});
      const on = "agent" in scope ? "switch/agent:tester" : "switch/tenant";
      await heldAt(place, desk, id, on);
      const { seq, status, open } = await desk.workflows.get(id);
      assert.deepEqual([status, open.length], ["executing", 1]);
      const [listed] = (await desk.workflows.list()).items;
      assert.deepEqual(listed?.["held"], [on]);
      await place.pass(100_000);
      assert.equal((await desk.workflows.get(id)).seq, seq, "to wait adds nothing to the journal");
      await desk.switch.resume({ ...STOP, ...scope });
      const since = place.clock.now();
      assert.partialDeepStrictEqual(await place.finish(result()), { result: "done" });
      assert.ok(place.clock.now() - since < 5_000, "nobody had to wait for the slow look");
      assert.deepEqual(done, ["buy", "count"]);
      await desk.close();
    });

  test("goes on in another process too, which was not there when it was released", async () => {
    const place = office();
    const first = place.open();
    const done: string[] = [];
    await first.switch.pause(STOP);
    const { id } = await setUp(first, done).start({});
    await heldAt(place, first, id, "switch/tenant");
    first.crash();
    const second = place.open();
    await second.switch.resume(STOP);
    await place.pass(1_000);
    setUp(second, done);
    const since = place.clock.now();
    await second.work();
    assert.partialDeepStrictEqual(await place.finish(second.workflows.result(id)), { result: "done" });
    assert.ok(place.clock.now() - since < 5_000, "one that lives for less than the slow look finds it too");
    assert.deepEqual(done, ["buy", "count"]);
    await second.close();
  });

  test("is withdrawn when its workflow is cancelled", async () => {
    const place = office();
    const desk = place.open();
    await desk.switch.pause(STOP);
    const { id } = await setUp(desk, []).start({});
    await heldAt(place, desk, id, "switch/tenant");
    const [action] = (await desk.workflows.get(id)).open;
    await desk.workflows.cancel(id, STOP);
    assert.partialDeepStrictEqual(await desk.actions.get(String(action)), {
      phase: "refused",
      refusal: { code: "cancelled" },
    });
    await desk.switch.resume(STOP);
    await place.pass(40_000);
    assert.equal((await desk.workflows.get(id)).status, "failed");
    await desk.close();
  });

  test("is withdrawn when its workflow is rolled back, and never runs afterwards", async () => {
    const place = office();
    const desk = place.open();
    const done: string[] = [];
    await desk.switch.pause(STOP);
    const { id, result } = await setUp(desk, done).start({});
    await heldAt(place, desk, id, "switch/tenant");
    const [action] = (await desk.workflows.get(id)).open;
    await desk.workflows.rollback(id, STOP);
    assert.partialDeepStrictEqual(await place.finish(result()), { result: "again" });
    assert.partialDeepStrictEqual(await desk.actions.get(String(action)), { phase: "refused" });
    await desk.switch.resume(STOP);
    await place.pass(40_000);
    assert.deepEqual(done, []);
    await desk.close();
  });

  test("beside something that is under way is looked at again here, without being let go of", async () => {
    const place = office();
    const desk = place.open();
    const done: string[] = [];
    const send = desk.gate({ name: "send", policy: "approve", run: () => void done.push("send") });
    const flow = desk.workflow("w", {}, async (ctx, _: object) =>
      ctx.parallel([
        async (own) => {
          await own.step("begin", () => desk.switch.pause(STOP));
          await own.call(send, {});
        },
        (own) => own.step("long", () => place.clock.sleep(60_000).then(() => void done.push("long"))),
      ]),
    );
    const { id, result } = await flow.start({});
    await place.pass(10_000);
    await desk.switch.resume(STOP);
    await place.until(async () => done.length > 0);
    assert.deepEqual(done, ["send"]);
    assert.notEqual((await desk.workflows.get(id)).runner, null);
    await place.finish(result());
    await desk.close();
  });

  test("that people have approved meanwhile runs when it is released", async () => {
    const place = office();
    const desk = place.open();
    const done: string[] = [];
    const send = desk.gate({ name: "send", policy: "escalate", run: () => void done.push("send") });
    const flow = desk.workflow("w", {}, async (ctx, _: object) => (await ctx.call(send, {})).status);
    const { id, result } = await flow.start({});
    const asked = await question(place, desk);
    await atRest(place, desk, id);
    await desk.switch.pause(STOP);
    await desk.approvals.approve(asked, ANN);
    await heldAt(place, desk, id, "switch/tenant");
    assert.deepEqual(done, []);
    await desk.switch.resume(STOP);
    assert.partialDeepStrictEqual(await place.finish(result()), { result: "done" });
    await desk.close();
  });
});

describe("a plain step under the kill switch", () => {
  test("does not begin, and begins when it is released", async () => {
    const place = office();
    const first = place.open();
    const ran: string[] = [];
    const define = (desk: Desk) =>
      desk.workflow("w", {}, async (ctx, _: object) => {
        await ctx.step("one", () => ran.push("one"));
        await ctx.sleep(10_000);
        return ctx.step("two", () => ran.push("two"));
      });
    const { id } = await define(first).start({});
    await atRest(place, first, id);
    await first.switch.pause(STOP);
    const second = await reopen(place, first, define);
    await heldAt(place, second, id, "switch/tenant");
    assert.deepEqual(ran, ["one"]);
    await second.switch.resume(STOP);
    assert.partialDeepStrictEqual(await place.finish(second.workflows.result(id)), { result: 2 });
    assert.deepEqual(ran, ["one", "two"]);
    await second.close();
  });

  test("of an agent that is not stopped begins", async () => {
    const place = office();
    const desk = place.open();
    await desk.switch.pause({ ...STOP, agent: "another" });
    const flow = desk.workflow("w", {}, (ctx, _: object) => ctx.step("one", () => 1));
    assert.partialDeepStrictEqual(await place.finish(flow.run({})), { result: 1 });
    await desk.close();
  });
});

describe("a call that is over its budget", () => {
  test("holds its workflow up until there is room, however often the budget moves until then", async () => {
    const place = office();
    const desk = place.open();
    const done: string[] = [];
    await desk.budgets.limit("trip", usd(3));
    const { id, result } = await setUp(desk, done, 10).start({});
    await heldAt(place, desk, id, "budget/trip");
    await desk.budgets.limit("trip", usd(2));
    await place.pass(5_000);
    const { seq } = await desk.workflows.get(id);
    for (let left = 20; left > 0; left--) {
      await desk.budgets.limit("trip", usd(left % 2 === 0 ? 1 : 2));
      await place.pass(1_000);
    }
    const more = (await desk.workflows.get(id)).seq - seq;
    assert.ok(more <= 4, `${more} entries were added by looking`);
    await desk.budgets.limit("trip", usd(10));
    const since = place.clock.now();
    assert.partialDeepStrictEqual(await place.finish(result()), { result: "done" });
    assert.ok(place.clock.now() - since < 5_000);
    assert.deepEqual(done, ["buy", "count"]);
    assert.equal((await desk.budgets.get("trip")).spent, usd(10).micros);
    await desk.close();
  });

  test("of one that was never opened waits until it is", async () => {
    const place = office();
    const desk = place.open();
    const done: string[] = [];
    const { id, result } = await setUp(desk, done, 1).start({});
    await heldAt(place, desk, id, "budget/trip");
    assert.ok(!types(await desk.entries(id)).includes("call.settled"), "it has not come to an end");
    await desk.budgets.limit("trip", usd(1));
    assert.partialDeepStrictEqual(await place.finish(result()), { result: "done" });
    await desk.close();
  });
});
