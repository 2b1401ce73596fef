import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { compilePolicy } from "./compile.ts";
import type { PolicyText } from "./document.ts";
import type { KnownTool } from "./tools.ts";

const tool = (name: string, properties: object): KnownTool => ({
  name,
  effectClass: "once",
  schema: { type: "object", properties, required: Object.keys(properties) } as KnownTool["schema"],
});
const PAY = tool("pay", {
  amount: { type: "number", minimum: 1, maximum: 100 },
  share: { type: "number", exclusiveMinimum: 0, exclusiveMaximum: 1 },
  currency: { enum: ["USD", "EUR"] },
  kind: { anyOf: [{ enum: ["card", "wire"] }, { type: "null" }] },
  urgent: { type: "boolean" },
  to: { type: "object", properties: { age: { type: "integer", minimum: 18 } }, required: ["age"] },
  list: { type: "array", items: { type: "number" } },
});
describe("an expression that a revision puts into the arguments", () => {
  const faults = (set: object) => {
    const rules = [{ id: "a", verdict: "revise", tool: "pay", set }];
    const made = compilePolicy({ policy: "p", default: "block", rules } as unknown as PolicyText, [PAY]);
    return made.ok ? [] : made.faults.map(({ path, message }) => `${path.join(".")}: ${message}`);
  };

  it("has to be of the type that the tool takes", () => {
    assert.deepEqual(faults({ amount: { expr: '"much"' } }), [
      "rules.0.set.amount: amount of pay is a number, and this is text",
    ]);
    assert.match(faults({ amount: { expr: "args.currency" } }).join(), /is a number, and this is text/);
    assert.match(
      faults({ urgent: { expr: "args.amount * 2" } }).join(),
      /is true or false, and this is a number/,
    );
    assert.match(faults({ list: { expr: "size(args.list)" } }).join(), /is a list, and this is a number/);
  });

  it("is left alone where it is, or may be", () => {
    for (const set of [
      { amount: { expr: "min(args.amount, 50)" } },
      { list: { expr: "args.list.filter(x, x > 1)" } },
      { kind: { expr: "args.currency" } },
      { amount: { expr: "args.urgent ? 1 : args.amount" } },
      { urgent: { expr: "args.amount > 5" } },
    ])
      assert.deepEqual(faults(set), []);
  });
});
