/** A definition that changed while something it asked for is still open: nothing new is done. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { WorkflowContext } from "../../src/workflows/definition.ts";
import { kit } from "./kit.ts";
import { ANN, type Desk, office, waiting } from "./office.ts";

type Body = (ctx: WorkflowContext, tools: ReturnType<typeof kit>) => Promise<unknown>;

const OPEN: readonly (readonly [string, Body])[] = [
  ["a sleep", (ctx) => ctx.sleep(3_600_000)],
  ["a question", (ctx) => ctx.ask("other", "And this?")],
  ["a call that waits for a person", (ctx, tools) => ctx.call(tools.asked, { n: 7 })],
];

const define = (desk: Desk, done: string[], second: Body) => {
  const tools = kit(desk, done);
  return desk.workflow("w", {}, (ctx, _: object) =>
    ctx.parallel([(one) => one.ask("first", "Shall we?"), (two) => second(two, tools)]),
  );
};

describe("a definition that now does something new", () => {
  for (const [what, was] of OPEN)
    test(`in place of ${what} that is still open is refused before it does it`, async () => {
      const place = office();
      const before = place.open();
      const { id } = await define(before, [], was).start({});
      await waiting(place, before);
      await place.pass(2_000);
      before.crash();
      const done: string[] = [];
      const desk = place.open();
      define(desk, done, (ctx, tools) => ctx.call(tools.book, { n: 1 }));
      await desk.work();
      const { items } = await desk.approvals.list();
      const first = items.find(({ tool }) => tool === "first");
      await desk.approvals.approve(String(first?.id), ANN);
      await place.pass(10_000);
      assert.deepEqual(done, []);
      const { waits, runner } = await desk.workflows.get(id);
      assert.equal(runner, null);
      assert.deepEqual(
        waits.map(({ kind }) => kind),
        ["definition"],
      );
      await desk.close();
    });
});
