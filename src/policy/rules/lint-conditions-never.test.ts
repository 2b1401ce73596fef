import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { compilePolicy } from "./compile.ts";
import type { PolicyText } from "./document.ts";
import type { KnownTool } from "./tools.ts";

const TOOLS: readonly KnownTool[] = ["pay", "pay.undo", "mail"].map((name) => ({
  name,
  effectClass: "once",
  schema: null,
}));

function warnings(document: object, tools: readonly KnownTool[] | null = null): readonly string[] {
  const made = compilePolicy({ policy: "p", default: "block", ...document } as unknown as PolicyText, tools);
  assert.ok(made.ok, JSON.stringify(made));
  return made.warnings.map(({ path, message, offset }) => `${path.join(".")} ${offset ?? "-"} ${message}`);
}
const ofRule = (when: string, tool?: string | readonly string[], tools: readonly KnownTool[] | null = null) =>
  warnings({ rules: [{ id: "a", verdict: "block", when, ...(tool === undefined ? {} : { tool }) }] }, tools);

describe("a condition that can never be true", () => {
  it("is told of, in rules, risk conditions and totals", () => {
    const message = "can never match: its condition can never be true";
    assert.deepEqual(ofRule("args.a > 10 && args.a < 5"), [`rules.0.when - a ${message}`]);
    const risk = { conditions: [{ id: "r", when: "args.x in []", weight: 1 }] };
    assert.deepEqual(warnings({ risk }), [`risk.conditions.0.when - r ${message}`]);
    const totals = { t: { tool: "pay", sum: "args.a", when: "args.a > 1 && args.a < 1" } };
    const uses = [{ id: "a", verdict: "block", when: "totals.t > 1" }];
    assert.deepEqual(warnings({ totals, rules: uses }), [`totals.t.when - totals.t ${message}`]);
  });

  it("is told of once where it is written false", () => {
    assert.deepEqual(ofRule("false"), ["rules.0.when - a can never match: its condition is false"]);
  });
});

describe("a rule whose condition wants a tool that it does not speak of", () => {
  const told = ["rules.0.when - a can never match: its condition wants a tool that it does not speak of"];

  it("is told of", () => {
    assert.deepEqual(ofRule('tool.name == "mail"', "pay"), told);
    assert.deepEqual(ofRule('tool.name == "mail" && args.a > 1', "pay*"), told);
    assert.deepEqual(ofRule('tool.name in ["mail", "post"]', ["pay", "pay.*"]), told);
    assert.deepEqual(ofRule('tool.name == "final"', "*"), told);
    assert.deepEqual(ofRule('tool.name == "final"'), told, "a rule for all tools does not speak of answers");
  });

  it("is left alone where it may be one of them", () => {
    for (const [when, tool] of [
      ['tool.name == "pay"', "pay"],
      ['tool.name == "pay.now"', "pay.*"],
      ['tool.name in ["mail", "pay"]', "pay"],
      ['tool.name == "mail" || args.a > 1', "pay"],
      ['tool.name != "mail"', "pay"],
      ['tool.name == "final"', ["final", "pay"]],
    ] as const)
      assert.deepEqual(ofRule(when, tool), [], when);
  });
});

describe("a tool that a condition names", () => {
  it("and that nobody has is told of, with the nearest", () => {
    assert.deepEqual(ofRule('tool.name == "mial"', undefined, TOOLS), [
      "rules.0.when 13 there is no tool mial here (did you mean mail?)",
    ]);
    assert.deepEqual(ofRule('args.a > 1 && tool.name in ["pay", "payout"]', undefined, TOOLS), [
      "rules.0.when 27 there is no tool payout here",
    ]);
  });

  it("is left alone where somebody has it, or nobody says what there is", () => {
    assert.deepEqual(ofRule('tool.name == "pay.undo"', undefined, TOOLS), []);
    assert.deepEqual(ofRule('tool.name == "mial"'), []);
    assert.deepEqual(ofRule('tool.name != "mial"', undefined, TOOLS), []);
  });
});
