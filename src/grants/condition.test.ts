import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { amountFault, conditionHolds, evaluateAmount, whenFault } from "./rules.ts";

describe("the condition of a grant", () => {
  const args = { amount: 12.5, count: 3, to: "a@example.com", tags: ["a", "b"] };

  for (const [when, expected] of [
    ["args.amount <= 100", true],
    ["args.amount > 12.5", false],
    ["args.count == 3 && args.to.endsWith('@example.com')", true],
    ["'a' in args.tags", true],
    ["args.tags.all(tag, tag in ['a', 'b'])", true],
    ["has(args.nothing)", false],
    ["args.nothing == 1", false],
    ["args.amount", false],
    ["args.constructor == args.constructor", false],
    ["args.__proto__ == null", false],
  ] as const)
    test(`${when} is ${expected}`, () => assert.equal(conditionHolds(when, args), expected));

  test("none covers any arguments", () => assert.equal(conditionHolds(null, args), true));

  test("what is no expression over the tool's arguments is said when it is written", () => {
    const schema = {
      type: "object",
      properties: { amount: { type: "number" }, to: { type: "string" } },
      required: ["amount", "to"],
      additionalProperties: false,
    };
    assert.match(whenFault("args.amount >", null) ?? "", /at character \d+$/);
    assert.match(whenFault("1 + 1", null) ?? "", /is needed/);
    assert.match(whenFault("other.amount > 1", null) ?? "", /other/);
    assert.match(whenFault("args.amont <= 100", schema) ?? "", /amont/);
    assert.match(whenFault("args.to <= 100", schema) ?? "", /./);
    assert.match(whenFault("  ", null) ?? "", /./);
    assert.match(amountFault("'ten'", null) ?? "", /number is needed/);
    assert.match(amountFault("args.to", schema) ?? "", /number is needed/);
    assert.equal(whenFault("args.amount <= 100", schema), undefined);
    assert.equal(amountFault("args.amount * 2 + 1", schema), undefined);
  });
});

describe("the amount of a use, in micros", () => {
  for (const [amount, args, expected] of [
    ["args.a", { a: 12.5 }, 12_500_000n],
    ["args.a", { a: 0.1 }, 100_000n],
    ["args.a", { a: 1.005 }, 1_005_000n],
    ["args.a", { a: 0.000_000_1 }, 1n],
    ["args.a", { a: 1e-9 }, 1n],
    ["args.a", { a: 1e21 }, 1_000_000_000_000_000_000_000_000_000n],
    ["args.a", { a: 0 }, 0n],
    ["args.a * 2.0", { a: 3 }, 6_000_000n],
    ["args.a * 2 + 1", { a: 1.5 }, 4_000_000n],
    ["5", {}, 5_000_000n],
    ["args.a", { a: -1 }, undefined],
    ["-5", {}, undefined],
    ["args.a", { a: "5" }, undefined],
    ["args.a", {}, undefined],
    ["1.0 / args.a", { a: 0 }, undefined],
  ] as const)
    test(`${amount} of ${JSON.stringify(args)} is ${expected}`, () =>
      assert.equal(evaluateAmount(amount, args), expected));
});
