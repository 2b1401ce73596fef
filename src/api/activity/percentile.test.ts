import assert from "node:assert/strict";
import { test } from "node:test";
import { percentile } from "./rules.ts";

test("a percentile is one of the values, and never between two of them", () => {
  assert.equal(percentile([], 50), null);
  assert.equal(percentile([7], 50), 7);
  assert.equal(percentile([7], 90), 7);
  assert.equal(percentile([4, 1, 3, 2], 50), 2);
  assert.equal(percentile([10, 9, 8, 7, 6, 5, 4, 3, 2, 1], 90), 9);
  assert.equal(percentile([10, 9, 100, 7, 6, 5, 4, 3, 2, 1, 0], 90), 10);
});
