import assert from "node:assert/strict";
import { test } from "node:test";
import { totalOf } from "../../examples/demos/print.ts";

const cost = (costUsd: number | null) => ({ costUsd, told: "" });

test("what was saved is set against what it still cost; a demo without a figure counts on neither side", () => {
  const rows = [
    { title: "a", without: cost(300), with: cost(100) },
    { title: "b", without: cost(null), with: cost(null) },
    { title: "c", without: cost(100), with: null },
  ];
  assert.deepEqual(totalOf(rows), { withoutUsd: 400, withUsd: 100, savedUsd: 300, returnPercent: 300 });
});

test("there is no return on nothing", () => {
  const rows = [{ title: "a", without: cost(300), with: cost(0) }];
  assert.equal(totalOf(rows).returnPercent, null);
});
