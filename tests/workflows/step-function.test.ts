/** What happens inside a step's function: its signal, what it may not ask for, and the pauses between its attempts. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { WorkflowContext } from "../../src/workflows/definition.ts";
import { ANN, DAY, type Desk, office, reopen } from "./office.ts";

describe("the signal of a step", () => {
  for (const move of ["cancel", "rollback"] as const)
    test(`is aborted by the ${move} of its workflow, and nothing that it does then is recorded`, async () => {
      const place = office();
      const desk = place.open();
      const signals: AbortSignal[] = [];
      const flow = desk.workflow("w", {}, async (ctx, _: object) => {
        if (ctx.attempt === 2) return "again";
        return ctx.step(
          "long",
          ({ signal }) =>
            new Promise<string>((resolve) => {
              signals.push(signal);
              signal.addEventListener("abort", () => resolve("given up"));
            }),
        );
      });
      const { id, result } = await flow.start({});
      await place.until(async () => signals.length === 1);
      assert.equal(signals[0]?.aborted, false);
      await desk.workflows[move](id, { ...ANN, reason: "enough" });
      await place.until(async () => signals[0]?.aborted === true);
      const end = await place.finish(result());
      assert.partialDeepStrictEqual(end, move === "cancel" ? { code: "cancelled" } : { result: "again" });
      const said = (await desk.entries(id)).map(({ type }) => type);
      assert.ok(!said.some((type) => type.startsWith("step.")), said.join());
      await desk.close();
    });

  test("is not aborted by anything while the workflow goes on", async () => {
    const place = office();
    const desk = place.open();
    const signals: AbortSignal[] = [];
    const flow = desk.workflow("w", {}, async (ctx, _: object) => {
      await ctx.parallel([
        (own) => own.step("one", ({ signal }) => void signals.push(signal)),
        (own) => own.step("two", async ({ signal }) => place.clock.sleep(5_000).then(() => signal.aborted)),
      ]);
      await ctx.sleep(10_000);
    });
    assert.partialDeepStrictEqual(await place.finish(flow.run({})), { status: "completed" });
    await desk.close();
  });
});

describe("an operation inside a step's function", () => {
  const OPERATIONS: readonly (readonly [string, (ctx: WorkflowContext, desk: Desk) => unknown])[] = [
    ['The step "inner"', (ctx) => ctx.step("inner", () => 1)],
    ['The sleep "sleep"', (ctx) => ctx.sleep(1)],
    ['The question "who"', (ctx) => ctx.ask("who", "Who?")],
    ['The checkpoint "Look"', (ctx) => ctx.checkpoint("Look")],
    ["ctx.now", (ctx) => ctx.now()],
    ["ctx.random", (ctx) => ctx.random()],
    ["ctx.version", (ctx) => ctx.version("a change")],
    ["ctx.parallel", (ctx) => ctx.parallel([async (own) => own.now()])],
  ];
  for (const options of [{}, { effect: "idempotent" } as const])
    for (const [what, ask] of OPERATIONS)
      test(`is refused and named: ${what}, ${"effect" in options ? "gated" : "plain"}`, async () => {
        const place = office();
        const desk = place.open();
        const told: string[] = [];
        const flow = desk.workflow("w", {}, async (ctx, _: object) => {
          await ctx.step("outer", options, async () => {
            try {
              await ask(ctx, desk);
            } catch (error) {
              told.push((error as Error).message);
            }
          });
          await ctx.sleep(DAY);
          return ctx.step("after", () => "done");
        });
        const { id } = await flow.start({});
        await place.until(async () => told.length === 1);
        assert.match(told[0] ?? "", /was asked for inside the function of the step "outer"/);
        assert.ok(told[0]?.startsWith(what), told[0]);
        await place.pass(1_000);
        await place.clock.set(place.clock.now() + DAY);
        const end = await place.finish(desk.workflows.result(id));
        assert.partialDeepStrictEqual(end, { result: "done" }, "the replay is not disturbed by it");
        await desk.close();
      });

  test("is refused inside the function of a tool that the workflow calls, too", async () => {
    const place = office();
    const desk = place.open();
    const told: string[] = [];
    let outer: WorkflowContext | undefined;
    const tool = desk.gate({
      name: "tool",
      policy: "approve",
      run: async () => {
        await Promise.resolve(outer?.step("inner", () => 1)).catch(() => undefined);
      },
      isDefinite: (error) => told.push((error as Error).message) > 0,
    });
    const flow = desk.workflow("w", {}, async (ctx, _: object) => {
      outer = ctx;
      return (await ctx.call(tool, {})).status;
    });
    assert.partialDeepStrictEqual(await place.finish(flow.run({})), {
      status: "completed",
      result: "failed",
    });
    assert.match(told[0] ?? "", /^The step "inner" was asked for inside the function of the tool "tool"/);
    await desk.close();
  });

  test("of another workflow, started there, is none of its business", async () => {
    const place = office();
    const desk = place.open();
    const other = desk.workflow("other", {}, async (ctx, _: object) => ctx.step("inner", () => ctx.workflow));
    const flow = desk.workflow("w", {}, async (ctx, _: object) => {
      const id = await ctx.step("outer", async () => (await other.start({}, { requestId: "inner" })).id);
      return ctx.step("after", () => id);
    });
    const end = await place.finish(flow.run({}));
    assert.ok(end.status === "completed");
    const inner = await place.finish(desk.workflows.result(String(end.result)));
    assert.partialDeepStrictEqual(inner, { status: "completed", result: end.result });
    await desk.close();
  });
});

test("a gated step pauses between its attempts as its retries say", async () => {
  const place = office();
  const desk = place.open();
  const times: number[] = [];
  const flow = desk.workflow("w", {}, (ctx, _: object) =>
    ctx.step(
      "send",
      {
        effect: "idempotent",
        retries: { attempts: 4, backOffMs: 10_000, longestBackOffMs: 20_000, jitter: 0 },
      },
      () => {
        times.push(place.clock.now());
        if (times.length < 4) throw new Error("not yet");
        return "sent";
      },
    ),
  );
  assert.partialDeepStrictEqual(await place.finish(flow.run({})), { result: "sent" });
  assert.deepEqual(
    times.slice(1).map((time, index) => time - (times[index] ?? 0)),
    [10_000, 20_000, 20_000],
  );
  await desk.close();
});

describe("a fork", () => {
  const setUp = (desk: Desk) =>
    desk.workflow(
      "w",
      { checkpoints: [{ name: "Half", requiresApproval: false }] },
      async (ctx, _: object) => {
        const first = await ctx.step("first", () => ran.push("first"));
        await ctx.checkpoint("Half", { outputs: { first } });
        if (ctx.attempt === 1) await ctx.sleep(DAY);
        return ctx.sentBack?.restored ?? null;
      },
    );
  let ran: string[] = [];

  test("has passed the checkpoint that it was forked at, and goes back to it with what was captured there", async () => {
    ran = [];
    const place = office();
    const first = place.open();
    const { id } = await setUp(first).start({});
    await place.until(async () => (await first.workflows.get(id)).waits.length > 0);
    const fork = await first.workflows.fork(id, { at: "Half" });
    const { passed } = await first.workflows.get(fork);
    const [origin] = (await first.workflows.get(id)).passed;
    assert.deepEqual(passed, [{ ...origin, seq: 0 }]);
    assert.deepEqual(
      await first.workflows.snapshot(fork, "Half"),
      await first.workflows.snapshot(id, "Half"),
    );
    const second = await reopen(place, first, setUp);
    await place.until(async () => (await second.workflows.get(fork)).waits.length > 0);
    await second.workflows.rollback(fork, { to: "Half", ...ANN, reason: "once more" });
    const end = await place.finish(second.workflows.result(fork));
    assert.partialDeepStrictEqual(end, { result: { outputs: { first: 1 } } });
    assert.deepEqual(ran, ["first"], "what it had borrowed was not done again");
    await second.close();
  });

  test("of a fork, at the checkpoint that both borrowed, does nothing again either", async () => {
    ran = [];
    const place = office();
    const desk = place.open();
    const { id } = await setUp(desk).start({});
    await place.until(async () => (await desk.workflows.get(id)).waits.length > 0);
    const fork = await desk.workflows.fork(id, { at: "Half" });
    const second = await desk.workflows.fork(fork, { at: "Half" });
    await place.until(async () => (await desk.workflows.get(second)).waits.length > 0);
    await desk.workflows.rollback(second, { ...ANN, reason: "once more" });
    const end = await place.finish(desk.workflows.result(second));
    assert.partialDeepStrictEqual(end, { result: { outputs: { first: 1 } } });
    assert.deepEqual(ran, ["first"]);
    await assert.rejects(
      desk.workflows.rollback(id, { to: "start", ...ANN, reason: "all of it" }),
      /goes on from what would be undone/,
    );
    await desk.workflows.rollback(fork, { to: "start", ...ANN, reason: "nothing of its own was borrowed" });
    assert.partialDeepStrictEqual(await place.finish(desk.workflows.result(fork)), { status: "completed" });
    await desk.workflows.cancel(id, { ...ANN, reason: "enough" });
    await desk.close();
  });
});
