import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Policy } from "../../src/effects/define-tool.ts";
import { ANN, atRest, DAY, type Desk, type Office, office, question } from "./office.ts";

test("an undo that a person rejects is not asked about again, and the report says so", async () => {
  const place = office();
  const desk = place.open();
  const book = desk.gate({
    name: "book",
    policy: "approve",
    run: () => "booked",
    undo: { run: () => "cancelled", policy: "escalate" },
  });
  const flow = desk.workflow("flow", {}, async (ctx, _: object) => {
    await ctx.call(book, {});
    await ctx.checkpoint("Look");
  });
  const run = await flow.start({});
  await desk.approvals.reject(await question(place, desk), { ...ANN, reason: "no" });
  await desk.approvals.reject(await question(place, desk), { ...ANN, reason: "the guests are there" });
  const end = await place.finish(run.result());
  assert.ok(end.status === "failed");
  assert.equal(end.code, "rollback_failed");
  assert.deepEqual(
    end.report?.notUndone.map(({ reason }) => reason),
    ["the guests are there"],
  );
  assert.equal(await desk.approvals.count("any"), 2);
});

describe("an undo that was refused has ended in the workflow's own entries, and is in the report", () => {
  type Undone = { readonly policy: Policy<never>; readonly reason: string };
  const REFUSED: readonly (readonly [string, Undone, (place: Office, desk: Desk) => Promise<void>])[] = [
    [
      "by people",
      { policy: "escalate", reason: "the guests are there" },
      async (place, desk) => {
        const approval = await question(place, desk);
        await desk.approvals.reject(approval, { ...ANN, reason: "the guests are there" });
      },
    ],
    ["by policy", { policy: { verdict: "block", reason: "never" }, reason: "never" }, async () => undefined],
    [
      "by nobody in time",
      { policy: { verdict: "escalate", decideWithinMs: 1_000 }, reason: "nobody decided in time" },
      async () => undefined,
    ],
  ];
  for (const [by, { policy, reason }, decide] of REFUSED)
    test(by, async () => {
      const place = office();
      const desk = place.open();
      const book = desk.gate({
        name: "book",
        policy: "approve",
        run: () => "booked",
        undo: { run: () => assert.fail("it ran"), policy: policy as Policy<unknown> },
      });
      const flow = desk.workflow("flow", {}, async (ctx, _: object) => {
        await ctx.call(book, {});
        await ctx.sleep(DAY);
      });
      const { id, result } = await flow.start({});
      await atRest(place, desk, id);
      await desk.workflows.rollback(id, { ...ANN, reason: "no" });
      await decide(place, desk);
      const end = await place.finish(result());
      assert.ok(end.status === "failed");
      assert.deepEqual(
        end.report?.notUndone.map((one) => one.reason),
        [reason],
      );
      const entries = await desk.entries(id);
      const settled = entries.filter(({ type }) => type === "compensation.settled");
      assert.deepEqual(
        settled.map(({ body }) => [body["status"], body["reason"]]),
        [["not_undone", reason]],
      );
      assert.equal(entries.filter(({ type }) => type === "compensation.made").length, 1);
      assert.deepEqual((await desk.workflows.get(id)).open, []);
      await desk.close();
    });
});
