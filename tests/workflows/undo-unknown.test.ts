/** A rollback in a process that does not know how something is undone: it waits for one that does. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { kit, reject } from "./kit.ts";
import { ANN, atRest, type Desk, office, question, reopen } from "./office.ts";

type SetUp = (desk: Desk, done: string[]) => ReturnType<Desk["workflow"]>;

const withTool: SetUp = (desk, done) => {
  const { book } = kit(desk, done);
  return desk.workflow("w", {}, async (ctx, _: unknown) => {
    await ctx.call(book, { n: 1 });
    await ctx.checkpoint("Only");
    return ctx.attempt;
  });
};
/** A program that has not declared the tool. */
const withoutTool: SetUp = (desk) => desk.workflow("w", {}, async () => 1);

const withStep =
  (name: string): SetUp =>
  (desk, done) =>
    desk.workflow("w", {}, async (ctx, _: unknown) => {
      await ctx.step(name, { undo: () => void done.push("undo 1 of 10"), effect: "idempotent" }, () => {
        done.push("book 1");
        return 1;
      });
      await ctx.checkpoint("Only");
      return ctx.attempt;
    });

describe("a rollback", () => {
  for (const [what, right, wrong] of [
    ["without the tool", withTool, withoutTool],
    ["with a definition whose step has another name", withStep("book"), withStep("reserve")],
  ] as const)
    test(`in a process ${what} undoes nothing, says why it waits, and goes on in one that knows`, async () => {
      const place = office();
      const done: string[] = [];
      const first = place.open();
      const { id } = await right(first, done).start({});
      const asked = await question(place, first);
      await atRest(place, first, id);
      const second = await reopen(place, first, (desk) => wrong(desk, done));
      await reject(second, asked);
      const state = await place.until(async () => {
        const now = await second.workflows.get(id);
        return now.waits[0]?.kind === "definition" && now;
      });
      assert.equal(state.status, "rolling_back");
      assert.match(state.waits[0]?.on ?? "", /is not known here/);
      assert.ok(second.notices.some(({ kind }) => kind === "definition_changed"));
      await place.pass(10_000);
      assert.deepEqual(done, ["book 1"]);
      const third = await reopen(place, second, (desk) => right(desk, done));
      await place.until(async () => (await third.workflows.get(id)).attempt === 2);
      await third.approvals.approve(await question(place, third), ANN);
      assert.partialDeepStrictEqual(await place.finish(third.workflows.result(id)), {
        status: "completed",
        result: 2,
      });
      assert.deepEqual(done, ["book 1", "undo 1 of 10", "book 1"]);
      await third.close();
    });
});
