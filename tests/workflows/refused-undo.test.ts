import assert from "node:assert/strict";
import { test } from "node:test";
import { ANN, office, question } from "./office.ts";

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
