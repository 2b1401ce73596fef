import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { findingText, readPolicy } from "./read.ts";
import type { KnownTool } from "./rules/tools.ts";

const REFUND: KnownTool = {
  name: "issue_refund",
  effectClass: "once",
  schema: {
    type: "object",
    properties: { amount_usd: { type: "number" }, reason: { type: "string" } },
    required: ["amount_usd"],
  },
};

const read = (text: string, tools: readonly KnownTool[] | null = [REFUND]) =>
  readPolicy(text, tools).findings.map((one) => findingText("p.yaml", one));

const start = "policy: refunds\ndefault: block\nrules:\n";

describe("a policy's file", () => {
  it("is read, and what it says is in force", () => {
    const made = readPolicy(
      `${start}  - { id: small, tool: issue_refund, when: args.amount_usd <= 1000, verdict: approve }\n`,
      [REFUND],
    );
    assert.ok(made.ok, JSON.stringify(made));
    assert.deepEqual(made.findings, []);
    assert.equal(made.policy.name, "refunds");
  });

  it("may be JSON, with tabs, and has the same digest as the same in YAML", () => {
    const document = {
      policy: "p",
      default: "block",
      rules: [{ id: "a", when: "args.x > 1", verdict: "approve" }],
    };
    const json = readPolicy(JSON.stringify(document, null, "\t"), null);
    const yaml = readPolicy(
      "policy: p\ndefault: block\nrules:\n- id: a\n  verdict: approve\n  when: args.x > 1\n",
      null,
    );
    assert.ok(json.ok, JSON.stringify(json));
    assert.ok(yaml.ok);
    assert.equal(json.policy.digest, yaml.policy.digest);
  });

  it("a misspelt key is found on its line, with the one that was meant", () => {
    assert.deepEqual(read(`${start}  - id: a\n    verdit: block\n    verdict: block\n`), [
      "p.yaml:5:5  verdit is not a key here (did you mean verdict?)",
    ]);
    assert.deepEqual(read(`${start}  - id: a\n    verdict: escalate\n    approvers:\n      qourum: 2\n`), [
      "p.yaml:7:7  qourum is not a key here (did you mean quorum?)",
    ]);
    assert.deepEqual(read("policy: p\ndefault:\n  verdict: escalate\n  decide_bye: 1h\n"), [
      "p.yaml:4:3  decide_bye is not a key here (did you mean decide_by?)",
    ]);
  });

  const misspelt = "args has no field amont_usd (did you mean amount_usd?)";
  const places: readonly (readonly [string, string, string])[] = [
    ["plain", "when: args.amont_usd > 5", "5:16"],
    ["plain over lines", "when: args.amount_usd > 5 &&\n      args.amont_usd > 5", "6:12"],
    ["in double quotes", 'when: "args.reason == \\"x\\" || args.amont_usd > 5"', "5:41"],
    ["in single quotes", "when: 'has(args.reason) && args.reason == ''x'' || args.amont_usd > 5'", "5:61"],
    ["in a block", "when: |\n      args.amount_usd > 5 &&\n        args.amont_usd > 5", "7:14"],
    ["in a folded block", "when: >-\n      args.amount_usd > 5 &&\n\n      args.amont_usd > 5", "8:12"],
  ];
  for (const [how, text, place] of places) {
    it(`an expression ${how} is pointed into`, () => {
      const found = read(`${start}  - id: a\n    ${text}\n    tool: issue_refund\n    verdict: block\n`);
      assert.ok(found.includes(`p.yaml:${place}  ${misspelt}`), found.join("\n"));
    });
  }

  it("an expression in set and in totals is pointed into too", () => {
    const text = `policy: p\ndefault: block\ntotals:\n  sum: { tool: issue_refund, sum: args.amont_usd }\nrules:\n  - id: a\n    tool: issue_refund\n    verdict: revise\n    set:\n      amount_usd: { expr: "totals.summ - 1" }\n`;
    const found = read(text);
    assert.ok(found.includes(`p.yaml:4:40  ${misspelt}`), found.join("\n"));
    assert.ok(found.includes("p.yaml:10:35  totals has no field summ (did you mean sum?)"), found.join("\n"));
  });

  it("what is not YAML is found where it is", () => {
    assert.match(read("policy: p\npolicy: q\n").join(), /^p\.yaml:2:1 {2}policy stands here twice/);
    assert.match(read("policy: [p\n").join(), /^p\.yaml:\d+:\d+ {2}/);
    const two = read("policy: p\n---\npolicy: q\n").join();
    assert.match(two, /^p\.yaml:2:1 {2}a second document begins here, and a file holds one/);
    assert.doesNotMatch(two, /parseAllDocuments/, "a name of the parser's own says nothing to anybody");
    assert.match(read("policy: !!js/function 'x'\n").join(), /^p\.yaml:1:9 {2}Unresolved tag/);
    assert.match(read("").join(), /^p\.yaml:1:1 {2}the policy is not an object/);
    assert.match(read("- a\n").join(), /the policy is not an object/);
  });

  it("an expression that YAML takes for something else is said to need quotes", () => {
    const when = (text: string) => read(`${start}  - id: a\n    when: ${text}\n    verdict: block\n`).join();
    assert.match(when("!has(args.reason)"), /^p\.yaml:5:11 {2}Unresolved tag: .*quotes$/);
    assert.match(
      when("args.x ? args.y : args.z"),
      /^p\.yaml:5:11 {2}there is a colon in this value; .*quotes/,
    );
    assert.match(when('"a" == args.reason'), /^p\.yaml:5:15 {2}the value had ended before this; .*quotes$/);
    assert.match(when("@x"), /^p\.yaml:5:11 {2}.*reserved character @; .*quotes$/);
    assert.match(read("? [a]\n: b\n").join(), /a key has to be text/);
  });

  it("says how far it was looked at: behind the first faults there may be others", () => {
    const rule = "  - { id: a, tool: issue_refund, when: args.amont_usd > 5, verdict: block }\n";
    const looked = (text: string) => {
      const made = readPolicy(text, [REFUND]);
      return made.ok ? "fine" : made.looked;
    };
    assert.equal(looked(`${start}${rule}  - [\n`), "text");
    assert.equal(looked(`${start}${rule}  - { id: b, verdit: block }\n`), "shape");
    assert.equal(looked(`${start}${rule}`), "whole");
  });

  it("anchors may be used, but not to build a bomb", () => {
    const bomb = ["a: &a [x, x, x, x, x, x, x, x, x, x]"];
    for (const [one, next] of ["ab", "bc", "cd", "de", "ef"].map((pair) => pair.split("")))
      bomb.push(`${next}: &${next} [${Array.from({ length: 10 }, () => `*${one}`).join(", ")}]`);
    assert.match(read(bomb.join("\n")).join(), /alias/);
    const shared =
      "policy: p\ndefault: block\nrules:\n  - &small { id: a, tool: issue_refund, verdict: block }\n  - *small\n";
    assert.deepEqual(read(shared), [
      "p.yaml:5:5  the id a is taken by rule 1",
      "p.yaml:5:5  warning: a is never the answer: a always matches, and its block comes first",
    ]);
  });

  it("over 256 KiB is not read", () => {
    assert.match(read(`# ${"x".repeat(300_000)}\npolicy: p\n`).join(), /over 262144 characters/);
  });

  it("that would grow in the reading is not read: brackets, anchors, keys", () => {
    assert.match(read("[".repeat(200_000)).join(), /brackets over 100 deep/);
    const list = `[${"1,".repeat(50_000)}1]`;
    const uses = Array.from({ length: 40 }, (_, index) => `      k${index}: *big`).join("\n");
    const bomb = `policy: p\nrules:\n  - id: a\n    verdict: revise\n    set:\n      big: &big ${list}\n${uses}\n`;
    assert.match(read(bomb).join(), /over 100000 values/);
    const keys = Array.from({ length: 15_000 }, (_, index) => `  tool_${index}: {}`).join("\n");
    assert.match(read(`policy: p\ntools:\n${keys}\n`).join(), /tools names over 1000/);
  });

  it("keys of JavaScript's own are keys like others", () => {
    assert.match(read("policy: p\n__proto__: { default: approve }\n").join(), /reserved key "__proto__"/);
    assert.match(read("policy: p\ntools: { __proto__: {} }\n").join(), /reserved key "__proto__"/);
    assert.match(read("policy: p\nconstructor: 1\n").join(), /p\.yaml:2:1 {2}constructor is not a key here/);
  });
});
