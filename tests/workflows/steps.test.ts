/** Steps: work of the definition's own, recorded once. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { StepContext } from "../../src/workflows/definition.ts";
import { StepFailed, StepRefused } from "../../src/workflows/run/step.ts";

import { ANN, atRest, type Desk, office, question, reopen } from "./office.ts";

const failing = (ran: StepContext[], times: number) => (context: StepContext) => {
  ran.push(context);
  if (ran.length <= times) throw new Error(`attempt ${context.attempt} is broken`);
  return ran.length;
};

describe("a step that throws", () => {
  test("fails at once unless it may be tried again, and the definition can catch that", async () => {
    const place = office();
    const desk = place.open();
    const ran: StepContext[] = [];
    const flow = desk.workflow("w", {}, async (ctx, _: object) => {
      try {
        await ctx.step("work", failing(ran, 1));
      } catch (error) {
        assert.ok(error instanceof StepFailed);
        assert.deepEqual([error.code, error.attempts], ["step_failed", 1]);
        return error.message;
      }
      return "it went on";
    });
    assert.partialDeepStrictEqual(await place.finish(flow.run({})), {
      status: "completed",
      result: 'The step "work" failed after 1 attempts: attempt 1 is broken',
    });
    assert.equal(ran.length, 1);
    await desk.close();
  });

  test("and is not caught fails the workflow, which says why", async () => {
    const place = office();
    const desk = place.open();
    const flow = desk.workflow("w", {}, (ctx, _: object) => ctx.step("work", failing([], 1)));
    assert.partialDeepStrictEqual(await place.finish(flow.run({})), {
      status: "failed",
      code: "error",
      by: "workflow",
      reason: 'The step "work" failed after 1 attempts: attempt 1 is broken',
    });
    await desk.close();
  });

  test("is tried again with a back-off that doubles up to its longest, less the share left to chance", async () => {
    const place = office();
    const desk = place.open();
    const retries = { attempts: 5, backOffMs: 10_000, longestBackOffMs: 25_000, jitter: 0.5 };
    const work = failing([], 4);
    const flow = desk.workflow("w", {}, (ctx, _: object) => ctx.step("work", { retries }, work));
    const handle = await flow.start({});
    assert.partialDeepStrictEqual(await place.finish(handle.result()), { status: "completed", result: 5 });
    const entries = await desk.entries(handle.id);
    const waits = entries.flatMap(({ type, body, at }) =>
      type === "step.retried" ? [Number(body["retryAt"]) - at] : [],
    );
    assert.equal(waits.length, 4);
    for (const [index, full] of [10_000, 20_000, 25_000, 25_000].entries())
      assert.ok((waits[index] ?? 0) >= full / 2 && (waits[index] ?? 0) <= full, `${waits}`);
    assert.ok(new Set(waits).size > 2, "chance had no part in it");
    const done = entries.find(({ type }) => type === "step.completed");
    assert.equal(done?.body["attempts"], 5);
    await desk.close();
  });

  test("lets go of the workflow while it waits for long, and its attempts survive a restart", async () => {
    const place = office();
    const ran: StepContext[] = [];
    const retries = { attempts: 3, backOffMs: 60_000, jitter: 0 };
    const setUp = (desk: Desk) =>
      desk.workflow("w", {}, (ctx, _: object) => ctx.step("work", { retries }, failing(ran, 3)));
    const first = place.open();
    const { id } = await setUp(first).start({});
    const state = await atRest(place, first, id);
    assert.deepEqual(
      state.waits.map(({ kind }) => kind),
      ["retry"],
    );
    const second = await reopen(place, first, setUp);
    await place.clock.set((state.wakeAt ?? 0) - 1);
    await place.until(async () => true);
    assert.equal(ran.length, 1);
    const result = await place.finish(second.workflows.result(id));
    assert.deepEqual(
      ran.map(({ attempt }) => attempt),
      [1, 2, 3],
    );
    assert.equal(new Set(ran.map(({ idempotencyKey }) => idempotencyKey)).size, 1);
    assert.match(JSON.stringify(result), /failed after 3 attempts: attempt 3 is broken/);
    await second.close();
  });

  test("and whose process died in it runs again: a plain step promises no more", async () => {
    const place = office();
    let runs = 0;
    const setUp = (desk: Desk) =>
      desk.workflow("w", {}, (ctx, _: object) =>
        ctx.step("work", () => (++runs === 1 ? new Promise<number>(() => undefined) : runs)),
      );
    const first = place.open();
    const { id } = await setUp(first).start({});
    await place.until(async () => runs === 1);
    const second = await reopen(place, first, setUp);
    assert.partialDeepStrictEqual(await place.finish(second.workflows.result(id)), { result: 2 });
    await second.close();
  });
});

describe("a step that hangs", () => {
  test("is given up at its time-out, is told so, and counts as an attempt that failed", async () => {
    const place = office();
    const desk = place.open();
    const told: string[] = [];
    const work = ({ attempt, signal }: StepContext) => {
      if (attempt === 2) return "at last";
      return new Promise<string>(() => signal.addEventListener("abort", () => told.push("stop")));
    };
    const options = { timeoutMs: 5_000, retries: { attempts: 2, backOffMs: 100 } };
    const flow = desk.workflow("w", {}, (ctx, _: object) => ctx.step("work", options, work));
    assert.partialDeepStrictEqual(await place.finish(flow.run({})), {
      status: "completed",
      result: "at last",
    });
    assert.deepEqual(told, ["stop"]);
    await desk.close();
  });
});

describe("a step with approvalRequired", () => {
  const setUp = (desk: Desk, ran: string[]) =>
    desk.workflow("w", {}, async (ctx, _: object) => {
      try {
        return await ctx.step("send", { approvalRequired: true, args: { to: "all" } }, () => {
          ran.push("sent");
          return "sent";
        });
      } catch (error) {
        assert.ok(error instanceof StepRefused);
        assert.deepEqual([error.code, error.refusal], ["step_refused", "rejected"]);
        return error.message;
      }
    });

  test("asks first, shows what it is about, holds only itself, and runs once", async () => {
    const place = office();
    const ran: string[] = [];
    const first = place.open();
    const { id } = await setUp(first, ran).start({});
    const asked = await question(place, first);
    assert.deepEqual((await first.approvals.get(asked)).args, { to: "all" });
    assert.equal((await atRest(place, first, id)).status, "executing");
    const second = await reopen(place, first, (desk) => setUp(desk, ran));
    await second.approvals.approve(asked, ANN);
    assert.partialDeepStrictEqual(await place.finish(second.workflows.result(id)), { result: "sent" });
    assert.deepEqual(ran, ["sent"]);
    await second.close();
  });

  test("that is rejected throws StepRefused, with the reason", async () => {
    const place = office();
    const desk = place.open();
    const { id } = await setUp(desk, []).start({});
    await desk.approvals.reject(await question(place, desk), { ...ANN, reason: "not to all" });
    const result = await place.finish(desk.workflows.result(id));
    assert.match(JSON.stringify(result), /The step \\"send\\" was not run: .*not to all/);
    await desk.close();
  });
});

test("a gated step that is in doubt waits until somebody has found out", async () => {
  const place = office();
  const ran: string[] = [];
  const setUp = (desk: Desk) =>
    desk.workflow("w", {}, (ctx, _: object) =>
      ctx.step("send", { undo: () => undefined }, () => {
        ran.push("sent");
        throw new Error("connection reset");
      }),
    );
  const first = place.open();
  const { id } = await setUp(first).start({});
  const state = await atRest(place, first, id);
  const [wait] = state.waits;
  assert.equal(wait?.kind, "doubt");
  const second = await reopen(place, first, setUp);
  await place.pass(10_000);
  await second.actions.resolve(wait.on, { status: "applied", ...ANN, reason: "it arrived" });
  assert.partialDeepStrictEqual(await place.finish(second.workflows.result(id)), {
    status: "completed",
    result: null,
  });
  assert.deepEqual(ran, ["sent"]);
  await second.close();
});

describe("a step is refused before anything runs", () => {
  const REFUSED: readonly (readonly [string, string, object, RegExp])[] = [
    ["a name with a slash", "a/b", {}, /The name of a step is a text/],
    ["an unknown option", "a", { retry: 3 }, /has no field "retry" \(did you mean retries\?\)/],
    ["an option that is not there yet", "a", { sandbox: true }, /asks for "sandbox", which is not there yet/],
    ["a misspelt retry", "a", { retries: { atempts: 3 } }, /"retries" has no field "atempts"/],
    ["no attempts", "a", { retries: { attempts: 0 } }, /has retries that are not/],
    ["chance above 1", "a", { retries: { jitter: 2 } }, /has retries that are not/],
    ["a time-out of 0", "a", { timeoutMs: 0 }, /timeoutMs that is not a whole number of at least 1/],
  ];
  for (const [what, name, options, expected] of REFUSED)
    test(`with ${what}`, async () => {
      const place = office();
      const desk = place.open();
      const flow = desk.workflow("w", {}, (ctx, _: object) =>
        ctx.step(name, options, () => assert.fail("it ran")),
      );
      const result = await place.finish(flow.run({}));
      assert.equal(result.status, "failed");
      assert.match(JSON.stringify(result), new RegExp(expected.source.replaceAll('"', '\\\\"')));
      await desk.close();
    });
});
