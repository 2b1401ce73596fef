import assert from "node:assert/strict";
import { test } from "node:test";
import { sumsText } from "./answers.ts";

test("sums say what is known, and of how many it is not", () => {
  const row = {
    ...{ from: "escalate", to: "approve", count: 3, withoutCost: 1 },
    money: [{ currency: "USD", micros: "12500000" }],
    amount: { micros: "20000000", count: 1 },
  };
  assert.deepEqual(sumsText(row, "total"), [
    "12.5 USD",
    "total 20 in 1 action",
    "1 not started, so no cost of theirs is recorded",
  ]);
});
