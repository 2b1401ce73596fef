import assert from "node:assert/strict";
import { test } from "node:test";
import { measureBacktest } from "./measure.ts";

test("the command back-tests a policy over every action that a store has recorded", async () => {
  const { report } = await measureBacktest(1_000, () => undefined);
  assert.deepEqual([report.actions, report.compared], [1_000, 1_000]);
  assert.ok(report.changed > 0);
  assert.deepEqual(
    report.people.map(({ decision }) => decision),
    ["rejected", "edited", "approved"],
  );
  assert.deepEqual(report.missing, {
    erased: 0,
    gone: 0,
    unreviewed: 0,
    partHistory: 0,
    beside: 0,
    decisions: 0,
  });
});
