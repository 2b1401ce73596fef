import assert from "node:assert/strict";
import { test } from "node:test";
import type { Day } from "../../api/activity.ts";
import { marksFor, waitsOf, waitsText } from "./waits.ts";

const day = (name: string, half: number | null, most: number | null): Day => ({
  ...{ day: name, asked: 0, approved: 0, modified: 0, rejected: 0, expired: 0, cancelled: 0 },
  verdicts: { approve: 0, revise: 0, block: 0, escalate: 0 },
  ...{ actions: 0, by_policy: 0, applied: 0, not_applied: 0, in_doubt: 0, refused: 0 },
  waited_p50_seconds: half,
  waited_p90_seconds: most,
});

test("a day on which nobody decided has no waiting time, and is not drawn as none", () => {
  assert.deepEqual(waitsOf([day("2026-05-04", null, null)]), []);
  assert.equal(waitsText([day("2026-05-04", null, null)]), "nothing was decided");
});

test("the scale reaches from the span below the shortest to the one above the longest", () => {
  assert.deepEqual(marksFor(waitsOf([day("2026-05-04", 40, 5_000)])), [10, 60, 600, 3_600, 21_600]);
});

test("one day is told exactly, many by a usual one", () => {
  assert.equal(waitsText([day("2026-05-04", 60, 3_600)]), "half within 1 min, nine in ten within 1 h");
  const many = [day("2026-05-04", 60, 60), day("2026-05-05", 120, 120), day("2026-05-06", 9_000, 9_000)];
  assert.equal(waitsText(many), "on a usual day half are decided within 2 min");
});
