/** Corners: results that are none, effects under way when a workflow is cancelled, a switch in the middle of a rollback. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { opened, reject } from "./kit.ts";
import { ANN, atRest, type Desk, office, question, reopen } from "./office.ts";

describe("a definition that returns", () => {
  const circular: Record<string, unknown> = {};
  circular["self"] = circular;
  for (const [what, value, expected] of [
    ["nothing", undefined, null],
    ["a date", new Date(0), "1970-01-01T00:00:00.000Z"],
  ] as const)
    test(`${what} has completed with ${JSON.stringify(expected)}`, async () => {
      const place = office();
      const desk = place.open();
      const flow = desk.workflow("w", {}, async () => value);
      const result = await place.finish(flow.run({}));
      assert.equal(result.status, "completed");
      assert.deepEqual(result.status === "completed" && result.result, expected);
      await desk.close();
    });

  for (const [what, value] of [
    ["a big integer", 1n],
    ["something that contains itself", circular],
    ["a function", () => 1],
  ] as const)
    test(`${what} is over all the same, and is not tried for ever`, async () => {
      const place = office();
      const desk = place.open();
      const flow = desk.workflow("w", {}, async () => value);
      const result = await place.finish(flow.run({}));
      assert.ok(result.status === "completed" || result.status === "failed");
      assert.deepEqual(
        desk.notices.filter(({ kind }) => kind === "maintenance_failed"),
        [],
      );
      await desk.close();
    });
});

test("a definition that is not asynchronous, or throws at once, ends like any other", async () => {
  const place = office();
  const desk = place.open();
  assert.partialDeepStrictEqual(await place.finish(desk.workflow("plain", {}, () => 7).run({})), {
    result: 7,
  });
  const thrown = desk.workflow("thrown", {}, () => {
    throw new Error("at once");
  });
  assert.partialDeepStrictEqual(await place.finish(thrown.run({})), { status: "failed", reason: "at once" });
  await desk.close();
});

test("what a step returns is what the definition gets, the first time as in a replay", async () => {
  const place = office();
  const seen: string[] = [];
  const setUp = (desk: Desk) =>
    desk.workflow("w", {}, async (ctx, _: object) => {
      const values = [await ctx.step("none", () => undefined), await ctx.step("date", () => new Date(0))];
      seen.push(JSON.stringify(values));
      await ctx.ask("go", "Go on?");
    });
  const first = place.open();
  const { id } = await setUp(first).start({});
  await atRest(place, first, id);
  const second = await reopen(place, first, setUp);
  await second.approvals.approve(await question(place, second), ANN);
  await place.finish(second.workflows.result(id));
  assert.equal(seen.length, 2);
  assert.equal(seen[0], seen[1]);
  await second.close();
});

test("an effect that is under way when its workflow is cancelled ends, is recorded, and moves nothing", async () => {
  const place = office();
  const desk = place.open();
  const gate = Promise.withResolvers<string>();
  const slow = desk.gate({ name: "slow", policy: "approve", run: () => gate.promise });
  const ran: string[] = [];
  const flow = desk.workflow("w", {}, async (ctx, _: object) => {
    await ctx.call(slow, {});
    await ctx.step("after", () => void ran.push("after"));
  });
  const { id } = await flow.start({});
  await place.until(async () => (await desk.actions.list({ phase: "running" })).items.length === 1);
  await desk.workflows.cancel(id, { ...ANN, reason: "stop" });
  gate.resolve("done");
  await place.until(async () => (await desk.actions.list({ phase: "applied" })).items.length === 1);
  await place.pass(2_000);
  assert.deepEqual(ran, []);
  assert.partialDeepStrictEqual(await desk.workflows.get(id), {
    status: "failed",
    end: { code: "cancelled" },
  });
  await place.finish(desk.close());
});

test("a rollback that meets the kill switch waits, and goes on when it is off", async () => {
  const { place, desk, done, id, end } = await opened(async (ctx, { book }) => {
    await ctx.call(book, { n: ctx.attempt });
    await ctx.checkpoint("Only");
    return ctx.attempt;
  });
  const asked = await question(place, desk);
  await desk.switch.pause({ ...ANN, reason: "drill" });
  await reject(desk, asked);
  await place.pass(40_000);
  assert.equal((await desk.workflows.get(id)).status, "rolling_back");
  assert.deepEqual(done, ["book 1"]);
  await desk.switch.resume({ ...ANN, reason: "over" });
  await place.until(async () => (await desk.workflows.get(id)).attempt === 2);
  await desk.approvals.approve(await question(place, desk), ANN);
  assert.partialDeepStrictEqual(await end(), { status: "completed", result: 2 });
  assert.deepEqual(done, ["book 1", "undo 1 of 10", "book 2"]);
  await place.finish(desk.close());
});

test("a large result of a call comes back whole, and its undo gets it", async () => {
  const place = office();
  const text = "y".repeat(200_000);
  const undone: number[] = [];
  const setUp = (desk: Desk) => {
    const big = desk.gate({
      name: "big",
      policy: "approve",
      effect: "idempotent",
      undo: (_: { text: string }, result: { text: string }) => void undone.push(result.text.length),
      run: (args: { text: string }) => ({ text: args.text.repeat(2) }),
    });
    return desk.workflow("w", {}, async (ctx, _: object) => {
      const answer = await ctx.call(big, { text });
      await ctx.checkpoint("Only");
      return answer.status === "done" ? answer.result?.text.length : 0;
    });
  };
  const first = place.open();
  const { id } = await setUp(first).start({});
  await atRest(place, first, id);
  const second = await reopen(place, first, setUp);
  await reject(second, await question(place, second));
  await place.until(async () => (await second.workflows.get(id)).attempt === 2);
  await second.approvals.approve(await question(place, second), ANN);
  assert.partialDeepStrictEqual(await place.finish(second.workflows.result(id)), { result: 400_000 });
  assert.deepEqual(undone, [400_000]);
  await second.close();
});

test("workflows are listed by status, newest first, a page at a time", async () => {
  const place = office();
  const desk = place.open();
  const flow = desk.workflow("w", {}, async (ctx, { n }: { n: number }) => {
    if (n % 2 === 0) await ctx.checkpoint("Only");
    return n;
  });
  for (let n = 0; n < 7; n++) {
    await flow.start({ n });
    await place.pass(200);
  }
  const first = await desk.workflows.list({ limit: 3, status: "awaiting_approval" });
  assert.equal(first.items.length, 3);
  const rest = await desk.workflows.list({ limit: 3, status: "awaiting_approval", after: first.next ?? "" });
  assert.equal(rest.items.length, 1);
  assert.equal(rest.next, null);
  assert.equal((await desk.workflows.list({ status: "completed" })).items.length, 3);
  const all = (await desk.workflows.list()).items.map(({ createdAt }) => Number(createdAt));
  assert.deepEqual(
    all,
    [...all].sort((a, b) => b - a),
  );
  await assert.rejects(
    desk.workflows.list({ status: "done" as never }),
    /A workflow is initialized, executing/,
  );
  await desk.close();
});
