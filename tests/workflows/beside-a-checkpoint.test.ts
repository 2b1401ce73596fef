/** What a definition asks for while people look at a checkpoint of it: begun when they have decided. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { WorkflowContext } from "../../src/workflows/definition.ts";
import { settled } from "../fixtures/runtime.ts";
import { kit } from "./kit.ts";
import { ANN, type Desk, office, waiting } from "./office.ts";

type Parts = ReturnType<typeof partsOf>;
function partsOf(desk: Desk) {
  const child = desk.workflow("child", {}, async () => "child");
  return { ...kit(desk, []), child };
}

const OPERATIONS: { readonly [kind: string]: (ctx: WorkflowContext, parts: Parts) => Promise<unknown> } = {
  call: (ctx, { book }) => ctx.call(book, { n: 1 }),
  step: (ctx) => ctx.step("step", () => 1),
  "gated step": (ctx) => ctx.step("step", { effect: "idempotent" }, () => 1),
  sleep: (ctx) => ctx.sleep(100),
  "second checkpoint": (ctx) => ctx.checkpoint("Second"),
  question: (ctx) => ctx.ask("q", "Well?"),
  child: (ctx, { child }) => ctx.spawn(child, {}),
};

describe("beside a checkpoint that is just being reached, a", () => {
  for (const [kind, operation] of Object.entries(OPERATIONS))
    test(`${kind} waits for the decision and is not forgotten, while something else keeps the run here`, async () => {
      const place = office();
      let isReaching = false;
      const desk = place.open({
        reach: async (point) => {
          if (point !== "before_fact" || !isReaching) return;
          isReaching = false;
          await settled(40);
        },
      });
      const parts = partsOf(desk);
      const gate = Promise.withResolvers<void>();
      const flow = desk.workflow("w", {}, async (ctx, _: object) => {
        await ctx.parallel([
          (own) => own.step("long", () => gate.promise),
          async (own) => {
            isReaching = true;
            await own.checkpoint("First");
          },
          async (own) => {
            // Asks while the commit of the checkpoint is under way.
            await settled(15);
            await operation(own, parts);
          },
        ]);
        return "end";
      });
      const { id } = await flow.start({});
      const result = desk.workflows.result(id);
      const questions = kind === "second checkpoint" || kind === "question" ? 2 : 1;
      for (let left = questions; left > 0; left--) {
        const [one = ""] = await waiting(place, desk);
        await desk.approvals.approve(one, ANN);
        await place.pass(1_000);
      }
      gate.resolve();
      assert.partialDeepStrictEqual(await place.finish(result), { status: "completed", result: "end" });
      await place.finish(desk.close());
    });
});
