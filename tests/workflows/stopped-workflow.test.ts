/** The kill switch of one workflow: nothing of it begins, and everything else goes on. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { isHoldpointError } from "../../src/kernel/errors.ts";
import { ANN, atRest, type Desk, office, question } from "./office.ts";

const STOP = { ...ANN, reason: "drill" };
const refusedAs = (code: string) => (error: unknown) => isHoldpointError(error, code as never);

/** Asks people first, so that it can be stopped before it does something. */
function setUp(desk: Desk, done: string[]) {
  const buy = desk.gate({
    name: "buy",
    policy: "approve",
    effect: "idempotent",
    undo: () => void done.push("undo"),
    run: ({ who }: { readonly who: string }) => void done.push(`buy ${who}`),
  });
  return desk.workflow("w", {}, async (ctx, { who }: { readonly who: string }) => {
    await ctx.sleep(10_000);
    const { status } = await ctx.call(buy, { who });
    await ctx.step("count", () => void done.push(`count ${who}`));
    return status;
  });
}

const heldAt = (place: ReturnType<typeof office>, desk: Desk, id: string, on: string) =>
  place.until(async () => {
    const { waits, runner } = await desk.workflows.get(id);
    return runner === null && waits.some((wait) => wait.kind === "held" && wait.on === on);
  });

describe("the kill switch of one workflow", () => {
  test("holds its calls and steps until it is released, and no other workflow of the same agent", async () => {
    const place = office();
    const desk = place.open();
    const done: string[] = [];
    const flow = setUp(desk, done);
    const [one, two] = [await flow.start({ who: "one" }), await flow.start({ who: "two" })];
    await atRest(place, desk, one.id);
    await desk.switch.pause({ ...STOP, workflow: one.id });
    assert.partialDeepStrictEqual(await desk.switch.paused({ workflow: one.id }), {
      paused: true,
      ...STOP,
    });
    assert.deepEqual(await desk.switch.paused(), { paused: false });
    await place.pass(20_000);
    assert.partialDeepStrictEqual(await place.finish(two.result()), { result: "done" });
    await heldAt(place, desk, one.id, `switch/workflow:${one.id}`);
    assert.deepEqual(done, ["buy two", "count two"]);
    const { seq } = await desk.workflows.get(one.id);
    await place.pass(100_000);
    assert.equal((await desk.workflows.get(one.id)).seq, seq, "to wait adds nothing to the journal");
    await desk.switch.resume({ ...STOP, workflow: one.id });
    assert.partialDeepStrictEqual(await place.finish(one.result()), { result: "done" });
    assert.deepEqual(done, ["buy two", "count two", "buy one", "count one"]);
    await desk.close();
  });

  test("holds a plain step, although another workflow was found free a moment ago", async () => {
    const place = office();
    const desk = place.open();
    const ran: string[] = [];
    const flow = desk.workflow("w", {}, async (ctx, { who }: { readonly who: string }) => {
      await ctx.step("one", () => ran.push(who));
      await ctx.sleep(10_000);
      return ctx.step("two", () => ran.push(`${who} again`));
    });
    const [one, two] = [await flow.start({ who: "one" }), await flow.start({ who: "two" })];
    await atRest(place, desk, one.id);
    await atRest(place, desk, two.id);
    await desk.switch.pause({ ...STOP, workflow: one.id });
    await place.pass(20_000);
    await heldAt(place, desk, one.id, `switch/workflow:${one.id}`);
    await place.finish(two.result());
    assert.deepEqual(ran.toSorted(), ["one", "two", "two again"]);
    await desk.switch.resume({ ...STOP, workflow: one.id });
    await place.finish(one.result());
    assert.equal(ran.at(-1), "one again");
    await desk.close();
  });

  test("holds what its children do, and their children", async () => {
    const place = office();
    const desk = place.open();
    const done: string[] = [];
    const buy = desk.gate({ name: "buy", policy: "approve", run: () => void done.push("buy") });
    const inner = desk.workflow("inner", {}, async (ctx, _: object) => {
      await ctx.sleep(10_000);
      return (await ctx.call(buy, {})).status;
    });
    const middle = desk.workflow("middle", {}, (ctx, _: object) => ctx.spawn(inner, {}));
    const outer = desk.workflow("outer", {}, (ctx, _: object) => ctx.spawn(middle, {}));
    const { id, result } = await outer.start({});
    const idOf = async (name: string) => {
      const { items } = await desk.workflows.list();
      return String(items.find((item) => item["name"] === name)?.["id"]);
    };
    await place.until(async () => (await idOf("inner")) !== "undefined");
    const deepest = await idOf("inner");
    await atRest(place, desk, deepest);
    await desk.switch.pause({ ...STOP, workflow: id });
    await place.pass(20_000);
    await heldAt(place, desk, deepest, `switch/workflow:${id}`);
    assert.deepEqual(done, []);
    await desk.switch.resume({ ...STOP, workflow: id });
    assert.partialDeepStrictEqual(await place.finish(result()), { result: "done" });
    assert.deepEqual(done, ["buy"]);
    await desk.close();
  });

  test("holds its compensations as well, and they run when it is released", async () => {
    const place = office();
    const desk = place.open();
    const done: string[] = [];
    const buy = desk.gate({
      name: "buy",
      policy: "approve",
      undo: () => void done.push("undo"),
      run: () => void done.push("buy"),
    });
    const flow = desk.workflow("w", { attempts: 1 }, async (ctx, _: object) => {
      await ctx.call(buy, {});
      await ctx.checkpoint("Look", {});
    });
    const { id, result } = await flow.start({});
    const asked = await question(place, desk);
    await atRest(place, desk, id);
    await desk.switch.pause({ ...STOP, workflow: id });
    await desk.approvals.reject(asked, { ...ANN, reason: "no" });
    await place.pass(60_000);
    assert.deepEqual(done, ["buy"]);
    assert.equal((await desk.workflows.get(id)).status, "rolling_back");
    await desk.switch.resume({ ...STOP, workflow: id });
    assert.partialDeepStrictEqual(await place.finish(result()), { status: "failed" });
    assert.deepEqual(done, ["buy", "undo"]);
    await desk.close();
  });

  test("is of a workflow that is there, and of nobody else at the same time", async () => {
    const desk = office().open();
    const nowhere = "wf_01ARZ3NDEKTSV4RRFFQ69G5FAV";
    await assert.rejects(desk.switch.pause({ ...STOP, workflow: nowhere }), refusedAs("unknown_id"));
    await assert.rejects(desk.switch.paused({ workflow: nowhere }), refusedAs("unknown_id"));
    for (const odd of [{ workflow: "w" }, { workflow: nowhere, agent: "a" }, { workflow: 5 as never }])
      await assert.rejects(desk.switch.pause({ ...STOP, ...odd }), refusedAs("invalid_input"));
    await desk.close();
  });
});
