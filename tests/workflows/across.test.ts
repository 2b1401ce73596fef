/** Operations that were begun before a checkpoint and ended after it, when the workflow goes back to that checkpoint. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { WorkflowContext } from "../../src/workflows/definition.ts";
import { kit, reject } from "./kit.ts";
import { ANN, type Desk, office, reopen, waiting } from "./office.ts";

type Parts = ReturnType<typeof partsOf>;
type Gate = PromiseWithResolvers<string>;

function partsOf(desk: Desk, done: string[], gate: Gate) {
  const slow = desk.gate({
    name: "slow",
    policy: "approve",
    effect: "idempotent",
    undo: () => void done.push("undo slow"),
    run: async () => {
      const said = await gate.promise;
      done.push("slow");
      return said;
    },
  });
  const child = desk.workflow("child", {}, async (ctx, _: object) => {
    await ctx.call(slow, {});
    return "said";
  });
  return { ...kit(desk, done), slow, child };
}

const BEGUN: { readonly [kind: string]: (ctx: WorkflowContext, parts: Parts) => Promise<unknown> } = {
  call: async (ctx, { slow }) => {
    const answer = await ctx.call(slow, {});
    return answer.status === "done" && answer.result;
  },
  child: (ctx, { child }) => ctx.spawn(child, {}),
  question: async (ctx) => {
    const told = await ctx.ask("q", "Well?", { suggestion: "said" });
    return told.answered && told.answer;
  },
  sleep: async (ctx) => {
    await ctx.sleep(3_000);
    return "said";
  },
};

describe("after a rollback to a checkpoint that it was begun before, a", () => {
  for (const [kind, begin] of Object.entries(BEGUN))
    test(`${kind} that ended afterwards keeps its answer, and is not undone`, async () => {
      const place = office();
      const done: string[] = [];
      const gate = Promise.withResolvers<string>();
      const setUp = (desk: Desk) => {
        const parts = partsOf(desk, done, gate);
        const checkpoints = [{ name: "One", requiresApproval: false }, { name: "Two" }];
        return desk.workflow("w", { checkpoints }, async (ctx, _: object) => {
          const begun = begin(ctx, parts);
          await ctx.sleep(1_000);
          await ctx.checkpoint("One");
          const said = await begun;
          await ctx.call(parts.book, { n: ctx.attempt });
          await ctx.checkpoint("Two");
          return [said, ctx.attempt];
        });
      };
      const first = place.open();
      const { id } = await setUp(first).start({});
      await place.until(async () => (await first.workflows.get(id)).passed.length === 1);
      gate.resolve("said");
      if (kind === "question") await first.approvals.approve((await waiting(place, first))[0] ?? "", ANN);
      const two = await place.until(async () => (await first.workflows.get(id)).pending?.approval);
      const second = await reopen(place, first, setUp);
      await reject(second, two);
      await place.until(async () => (await second.workflows.get(id)).attempt === 2);
      const again = await place.until(async () => (await second.workflows.get(id)).pending?.approval);
      await second.approvals.approve(again, ANN);
      assert.partialDeepStrictEqual(await place.finish(second.workflows.result(id)), {
        status: "completed",
        result: ["said", 2],
      });
      const slow = kind === "call" || kind === "child" ? ["slow"] : [];
      assert.deepEqual(done, [...slow, "book 1", "undo 1 of 10", "book 2"]);
      await second.close();
    });
});

describe("in a fork from a checkpoint that it was begun before, a", () => {
  async function origin(kind: string) {
    const place = office();
    const done: string[] = [];
    const gate = Promise.withResolvers<string>();
    const desk = place.open();
    const parts = partsOf(desk, done, gate);
    const checkpoints = [{ name: "One", requiresApproval: false }];
    const flow = desk.workflow("w", { checkpoints }, async (ctx, _: object) => {
      const begun = BEGUN[kind]?.(ctx, parts);
      await ctx.sleep(1_000);
      await ctx.checkpoint("One");
      return begun;
    });
    const { id } = await flow.start({});
    await place.until(async () => (await desk.workflows.get(id)).passed.length === 1);
    const finish = async () => {
      gate.resolve("said");
      for (const { id: one } of (await desk.approvals.list()).items) await desk.approvals.approve(one, ANN);
      await place.finish(desk.workflows.result(id));
    };
    return { place, desk, id, done, finish };
  }

  for (const kind of Object.keys(BEGUN))
    test(`${kind} that has ended since has its answer there too, and no effect twice`, async () => {
      const { place, desk, id, done, finish } = await origin(kind);
      await finish();
      const fork = await desk.workflows.fork(id, { at: "One" });
      const result = await place.finish(desk.workflows.result(fork));
      assert.partialDeepStrictEqual(result, { status: "completed", result: "said" });
      assert.equal(done.length, kind === "call" || kind === "child" ? 1 : 0);
      assert.equal(await desk.approvals.count(), 0);
      await place.finish(desk.close());
    });

  for (const kind of ["call", "child"])
    test(`${kind} that has not ended is in the way: the fork is refused, and says so`, async () => {
      const { place, desk, id, finish } = await origin(kind);
      await assert.rejects(desk.workflows.fork(id, { at: "One" }), /was begun before it and has not ended/);
      await finish();
      await place.finish(desk.close());
    });
});
