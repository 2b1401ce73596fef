import assert from "node:assert/strict";
import { test } from "node:test";
import { amountFault, microsOf, shareOf, typedOf } from "./money-input.ts";

test("an amount is read to the millionth, whatever its size", () => {
  assert.equal(microsOf("500"), "500000000");
  assert.equal(microsOf(" 12,5 "), "12500000");
  assert.equal(microsOf("0.000001"), "1");
  assert.equal(microsOf("9007199254740993.25"), "9007199254740993250000");
});

test("what is no amount is not read as one", () => {
  for (const typed of ["", "-1", "1e3", "1.2345678", "12 USD", "1.2.3"]) assert.equal(microsOf(typed), null);
});

test("an amount that is a thousand to some and one to others is refused, and the person told", () => {
  for (const typed of ["1,000", "10.000", "250,000", "1 000.500"]) {
    assert.equal(microsOf(typed), null);
    assert.match(amountFault(typed) ?? "", /two ways/);
  }
  assert.equal(microsOf("1 000"), "1000000000");
  assert.equal(microsOf("0.125"), "125000");
  assert.equal(microsOf("1.0000"), "1000000");
  assert.match(amountFault("12 USD") ?? "", /such as/);
  assert.equal(amountFault("12.50"), undefined);
  assert.equal(typedOf({ micros: "12345000" }), "12.3450", "what is shown can be sent again");
});

test("an amount is shown as it would be typed", () => {
  for (const typed of ["500", "12.50", "0.000001", "0"])
    assert.equal(typedOf({ micros: microsOf(typed) ?? "" }), typed);
});

test("the share of a limit is exact enough for a bar and never divides by nothing", () => {
  assert.equal(shareOf("250000", "1000000"), 0.25);
  assert.equal(shareOf("0", "0"), 0);
  assert.equal(shareOf("1", "0"), 1);
});
