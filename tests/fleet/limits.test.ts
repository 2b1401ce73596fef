import assert from "node:assert/strict";
import { test } from "node:test";
import { overLimit } from "./figures/quantiles.ts";

test("a figure over its limit is wrong, and says by how much; one below it is not", () => {
  const ms = Array.from({ length: 100 }, (_, at) => at + 1);
  assert.deepEqual(overLimit(ms, 0.95, 95), []);
  assert.deepEqual(overLimit(ms, 0.95, 94), ["p95 is 95 ms, and 94 ms at most"]);
  assert.deepEqual(overLimit(ms, 0.99, 98), ["p99 is 99 ms, and 98 ms at most"]);
});
