import assert from "node:assert/strict";
import { test } from "node:test";
import { isHoldpointError } from "./errors.ts";
import { money, moneyText, usd } from "./money.ts";

test("an amount is what its text says, to the micro", () => {
  assert.deepEqual(money("10.00 USD"), { currency: "USD", micros: 10_000_000n });
  assert.deepEqual(money("0.000001 EUR"), { currency: "EUR", micros: 1n });
  assert.deepEqual(money("0 USDC"), { currency: "USDC", micros: 0n });
  assert.deepEqual(usd(10), money("10 USD"));
  assert.deepEqual(usd("0.25"), { currency: "USD", micros: 250_000n });
  assert.deepEqual(usd(0.1), { currency: "USD", micros: 100_000n });
});

test("what moneyText prints is read back as the same amount", () => {
  for (let micros = 0n; micros < 10n ** 20n; micros = micros * 7n + 13n) {
    const amount = { currency: "USD", micros };
    assert.deepEqual(money(moneyText(amount)), amount);
  }
});

test("an amount that is negative, finer than a micro, or no number is refused, and never rounded", () => {
  const wrong = [
    "-1 USD",
    "0.0000001 USD",
    "1e3 USD",
    "1,000 USD",
    "NaN USD",
    "10",
    "10 usd",
    "10 USD ",
    "",
    " USD",
  ];
  for (const text of wrong)
    assert.throws(
      () => money(text),
      (error) => isHoldpointError(error, "invalid_input"),
      text,
    );
  for (const amount of [-1, Number.NaN, Number.POSITIVE_INFINITY, 1e-7, 1e21])
    assert.throws(
      () => usd(amount),
      (error) => isHoldpointError(error, "invalid_input"),
      String(amount),
    );
  assert.throws(() => money(undefined as unknown as string), /is no amount of money/);
});
