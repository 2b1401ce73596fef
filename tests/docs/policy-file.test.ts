// The reference of policy files against the code, in both directions, and every policy in the texts against the reader.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { FUNCTIONS } from "../../src/policy/expression/functions.ts";
import { LONGEST_PATTERN } from "../../src/policy/expression/pattern.ts";
import {
  ASSUMED_ITEMS,
  COST_PER_EXPRESSION,
  COST_PER_POLICY,
  PARSE_LIMITS,
} from "../../src/policy/expression/syntax.ts";
import { LONGEST_LIST, LONGEST_TEXT, STEPS_PER_VERDICT } from "../../src/policy/expression/values.ts";
import { readCases, readPolicy } from "../../src/policy/read.ts";
import { type CaseResult, casesSchema, runCase } from "../../src/policy/rules/cases.ts";
import { keysAt } from "../../src/policy/rules/document.ts";
import { namesInScope } from "../../src/policy/rules/evaluation-context.ts";

import { blocksOf, codeCells, readRoot } from "./markdown.ts";

const reference = readRoot("docs/reference/policy-file.md");

/** The text under a heading, up to the next one. */
function under(heading: string): string {
  const [, text = ""] = reference.split(new RegExp(`^#+ ${heading}$`, "m"));
  return text.split(/^#/m)[0] ?? "";
}

const sorted = (names: Iterable<string>): readonly string[] => [...names].toSorted();

describe("docs/reference/policy-file.md", () => {
  const keys: readonly (readonly [string, readonly (string | number)[]])[] = [
    ["The document", []],
    ["A rule", ["rules", 0]],
    ["Approvers and stages", ["rules", 0, "stages", 0]],
  ];
  for (const [heading, path] of keys) {
    test(`"${heading}" has every key of it, and no other`, () => {
      assert.deepEqual(sorted(codeCells(under(heading))), sorted(keysAt(path)));
    });
  }

  test("limits, tools and totals have every key, and no other", () => {
    const expected = [
      ...keysAt(["limits"]).map((key) => `limits.${key}`),
      ...keysAt(["tools", "x"]).map((key) => `tools.<name>.${key}`),
      ...keysAt(["totals", "x"]).map((key) => `totals.<name>.${key}`),
    ];
    assert.deepEqual(sorted(codeCells(under("Limits, tools and totals"))), sorted(expected));
  });

  test("risk has every key, and no other", () => {
    assert.deepEqual(sorted(codeCells(under("Risk"))), sorted(keysAt(["risk"]).map((key) => `risk.${key}`)));
    for (const key of [...keysAt(["risk", "conditions", 0]), ...keysAt(["risk", "levels"])])
      assert.ok(under("Risk").includes(`\`${key}\``), key);
  });

  test("cases have every key, and no other", () => {
    const { cases, ...file } = casesSchema.shape;
    const { given, when, then, ...own } = cases.unwrap().element.shape;
    const named = (holder: string, shape: object) => Object.keys(shape).map((key) => `${holder}.${key}`);
    const expected = [
      ...Object.keys(file),
      "cases",
      ...Object.keys(own),
      ...named("given", given.unwrap().shape),
      ...named("when", when.shape),
      ...named("then", then.shape),
    ];
    assert.deepEqual(sorted(codeCells(under("Cases"))), sorted(expected));
  });

  test("every name and every function is there, and no other", () => {
    assert.deepEqual(sorted(codeCells(under("Names in expressions"))), sorted(namesInScope([], true).keys()));
    const macros = ["has", "all", "exists", "exists_one", "filter", "map"];
    const functions = new Set([...macros, ...FUNCTIONS.map(({ name }) => name)]);
    assert.deepEqual(sorted(codeCells(under("What expressions are made of"))), sorted(functions));
  });

  test("the limits are those of the code", () => {
    const written = [
      ...under("How much an expression may cost").matchAll(/^\| (?!limit|-)([^|]+) \| ([\d,]+) \|/gm),
    ];
    const values = written.map(([, , value]) => Number(value?.replaceAll(",", "")));
    const { characters, nodes, depth } = PARSE_LIMITS;
    assert.deepEqual(values, [
      ...[characters, nodes, depth, COST_PER_EXPRESSION, COST_PER_POLICY, STEPS_PER_VERDICT],
      ...[LONGEST_TEXT, LONGEST_LIST, LONGEST_PATTERN],
    ]);
    assert.ok(under("How much an expression may cost").includes(`counted with ${ASSUMED_ITEMS} items`));
  });

  test("every rule that a verdict may name by itself is there", () => {
    const sources = ["judge", "limits", "compile", "tools"]
      .map((name) => readRoot(`src/policy/rules/${name}.ts`))
      .join("\n");
    const used = [...sources.matchAll(/"((?:limit|tools|final|undo):[a-z_]+|default)"[,);]/g)].map(
      ([, rule]) => rule ?? "",
    );
    const written = codeCells(under("Rules that verdicts name")).filter((rule) => !rule.startsWith("risk:"));
    assert.deepEqual(sorted(written), sorted(new Set(used)));
  });
});

describe("policies in the guide", () => {
  const blocks = blocksOf("docs/guide/policies.md").filter(({ language }) => language === "yaml");
  const policies = blocks.filter(({ marks }) => !marks.includes("cases"));

  test("are read without a fault or a warning", () => {
    assert.ok(policies.length >= 2);
    for (const { line, text } of policies) {
      const { ok, findings } = readPolicy(text, null);
      assert.deepEqual({ line, ok, findings }, { line, ok: true, findings: [] });
    }
  });

  test("say what their cases say", () => {
    const read = readPolicy(policies[0]?.text ?? "", null);
    const cases = readCases(blocks.find(({ marks }) => marks.includes("cases"))?.text ?? "");
    assert.ok(read.ok && cases.ok, JSON.stringify([read, cases]));
    const results = cases.cases.cases.map((one): CaseResult => runCase(read.policy, one, null));
    assert.ok(results.length >= 3);
    assert.deepEqual(
      results.flatMap(({ name, differences }) => differences.map((line) => `${name}: ${line}`)),
      [],
    );
  });
});

test("the policy in the README is read without a warning, and says what it seems to say", () => {
  const [block] = blocksOf("README.md").filter(({ language }) => language === "yaml");
  const schema = {
    type: "object",
    properties: { amount_usd: { type: "number" } },
    required: ["amount_usd"],
  };
  const read = readPolicy(block?.text ?? "", [{ name: "issue_refund", effectClass: "once", schema }]);
  assert.ok(read.ok);
  assert.deepEqual(read.findings, []);
  const verdicts = [5, 1_000, 1_001, 2_001].map((amount_usd) => {
    const call = { tool: "issue_refund", effectClass: "once", args: { amount_usd }, agent: "agent:a" };
    return read.policy.judge({
      ...call,
      requester: [],
      requestId: null,
      workflow: null,
      history: [],
      now: 0,
    }).verdict;
  });
  assert.deepEqual(verdicts, ["approve", "approve", "escalate", "block"]);
});
