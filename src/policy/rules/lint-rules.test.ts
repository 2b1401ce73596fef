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

it("a condition that is written false is told of", () => {
  assert.deepEqual(ofRule("false"), ["rules.0.when - a can never match: its condition is false"]);
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
