import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { compilePolicy } from "./compile.ts";
import type { PolicyText } from "./document.ts";
import type { KnownTool } from "./tools.ts";

const tool = (name: string, properties: object, effectClass = "once"): KnownTool => ({
  name,
  effectClass,
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
const LOOK = tool("look", { amount: { type: "number" } }, "read");

function told(document: object, tools: readonly KnownTool[] | null = null): readonly string[] {
  const made = compilePolicy({ policy: "p", default: "block", ...document } as unknown as PolicyText, tools);
  assert.ok(made.ok, JSON.stringify(made));
  return made.warnings.map(({ path, message }) => `${path.join(".")}: ${message}`);
}
const ofRule = (
  when: string,
  tools: readonly KnownTool[] | null = [PAY, LOOK],
  more: object = { tool: "pay" },
) => told({ rules: [{ id: "a", verdict: "block", when, ...more }] }, tools);
const never = (when: string, words: RegExp, ...more: [(readonly KnownTool[] | null)?, object?]) => {
  const found = ofRule(when, ...more);
  assert.equal(found.length, 1, `${when}: ${found.join("; ")}`);
  assert.match(found[0] ?? "", words);
};
const free = (when: string, ...more: [(readonly KnownTool[] | null)?, object?]) =>
  assert.deepEqual(ofRule(when, ...more), [], when);

describe("a condition that no arguments of its tools make true", () => {
  const words = /a can never match: no tool that it speaks of takes arguments of which its condition is true/;

  it("is told of: below the minimum, above the maximum, every value of an enum left out", () => {
    for (const when of [
      "args.amount < 1",
      "args.amount > 100",
      "args.amount <= 0 && args.urgent",
      "args.share <= 0",
      "args.share >= 1",
      "args.to.age < 18",
      'args.currency != "USD" && args.currency != "EUR"',
      '!(args.currency in ["USD", "EUR"])',
      '!(args.currency == "USD" || args.currency == "EUR")',
    ])
      never(when, words);
  });

  it("is left alone where one of them may, or where that cannot be told", () => {
    for (const when of [
      "args.amount <= 1",
      "args.amount >= 100",
      "args.share < 1",
      "args.to.age == 18",
      'args.currency != "USD"',
      'args.kind != "card" && args.kind != "wire"',
      "args.list.exists(x, x < 0)",
    ])
      free(when);
    free("args.amount > 100", [PAY, LOOK], { tool: ["pay", "look"] });
    free("args.amount > 100", [PAY, { name: "pay2", effectClass: "once", schema: null }], { tool: "pay*" });
    free("args.amount > 100", null);
  });
});

describe("counts", () => {
  it("are not negative, sums may be", () => {
    const totals = { n: { tool: "pay", count: true }, s: { tool: "pay", sum: "args.amount" } };
    const found = (when: string) =>
      told({ totals, rules: [{ id: "a", verdict: "block", when: `${when} && totals.n + totals.s > -5` }] });
    assert.deepEqual(found("totals.n < 0"), [
      "rules.0.when: a can never match: its condition can never be true",
    ]);
    assert.deepEqual(found("totals.s < 0"), []);
    assert.deepEqual(found("totals.n <= 0"), []);
    never("size(args.list) < 0", /its condition can never be true/);
    free("size(args.list) == 0");
  });
});

describe("a risk that is never reached", () => {
  const risk = (more: object = {}) => ({
    conditions: [
      { id: "x", when: "args.a > 1", weight: 30 },
      { id: "y", when: "args.b > 1", weight: 25 },
      { id: "z", when: "args.c > 1", weight: -10 },
    ],
    ...more,
  });
  const found = (when: string, more: object = {}) =>
    told({ risk: risk(more), rules: [{ id: "a", verdict: "block", when }] });
  const words = "rules.0.when: a can never match: the risk never comes to what its condition asks for";

  it("is told of in conditions and routes", () => {
    assert.deepEqual(found('risk.level == "critical"'), [words]);
    assert.deepEqual(found('risk.level in ["high", "critical"]'), [words]);
    assert.deepEqual(found("risk.score > 55"), [words]);
    assert.deepEqual(found("risk.score < -10"), [words]);
    assert.deepEqual(told({ risk: risk({ routes: { high: "block", medium: "escalate" } }) }), [
      "risk.routes.high: the risk is never high: the weights of its conditions do not come to that",
    ]);
    never("risk.score > 0", /the risk never comes to/, null, {});
  });

  it("is left alone where it may be", () => {
    assert.deepEqual(found('risk.level == "medium"'), []);
    assert.deepEqual(found("risk.score >= 55"), []);
    assert.deepEqual(found("risk.score <= -10"), []);
    assert.deepEqual(found('risk.level == "high"', { levels: { high: 50 } }), []);
  });
});

describe("a class that no tool has", () => {
  it("is told of where the tools are known", () => {
    never('tool.effect == "read"', /no tool that it speaks of is of the class/);
    never('tool.effect in ["read", "keyed"]', /no tool that it speaks of is of the class/);
    free('tool.effect == "once"');
    free('tool.effect == "read"', [PAY, LOOK], { tool: ["pay", "final"] });
    free('tool.effect == "read"', [PAY, LOOK], {});
    free('tool.effect == "read"', [PAY, { name: "pay2", effectClass: "once", schema: null }], {
      tool: "pay*",
    });
    free('tool.effect == "read"', null);
  });
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
