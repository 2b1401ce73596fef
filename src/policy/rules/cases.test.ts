import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { parse } from "yaml";
import { caseText, type PolicyCase, runCase } from "./cases.ts";
import { compilePolicy } from "./compile.ts";
import type { KnownTool } from "./tools.ts";

const REFUND: KnownTool = {
  name: "issue_refund",
  effectClass: "once",
  schema: {
    type: "object",
    properties: { amount: { type: "number", maximum: 5000 }, reason: { type: "string" } },
    required: ["amount"],
    additionalProperties: false,
  },
};

const made = compilePolicy(
  {
    policy: "refunds",
    default: "block",
    totals: { refunded: { tool: "issue_refund", sum: "args.amount" } },
    risk: {
      conditions: [{ id: "big", when: "args.amount > 1000", weight: 70 }],
      routes: { high: "escalate" },
    },
    rules: [
      {
        id: "reason",
        tool: "issue_refund",
        when: "!has(args.reason)",
        verdict: "revise",
        set: { reason: "asked for" },
      },
      {
        id: "cap",
        tool: "issue_refund",
        when: "args.amount > 9000",
        verdict: "revise",
        set: { amount: 9000 },
      },
      {
        id: "spent",
        tool: "issue_refund",
        when: "totals.refunded + args.amount > 2000",
        verdict: "block",
        reason: "spent",
      },
      { id: "late", tool: "issue_refund", when: "now.getHours() >= 20", verdict: "block", shadow: true },
      { id: "small", tool: "issue_refund", verdict: "approve" },
    ],
  },
  [REFUND],
);
assert.ok(made.ok);
const { policy } = made;

const caseOf = (text: string): PolicyCase => ({ name: "case", ...parse(text) });
const run = (text: string) => runCase(policy, caseOf(text), [REFUND]);

describe("cases beside a policy", () => {
  it("pass when everything they say is so, after all revisions", () => {
    const result = run(`
      given:
        history: [{ tool: issue_refund, args: { amount: 500 } }]
        now: 2026-03-01T21:00:00Z
      when: { tool: issue_refund, args: { amount: 1200 } }
      then:
        verdict: escalate
        rule: risk:high
        args: { amount: 1200, reason: asked for }
        revised_by: [reason]
        risk: { level: high, score: 70, conditions: [big] }
        shadow: [late]
    `);
    assert.deepEqual(result.differences, []);
    assert.equal(caseText(result), "ok      case");
  });

  it("say each difference in a line", () => {
    const result = run(`
      given: { history: [{ tool: issue_refund, args: { amount: 1500 }, status: in_doubt }] }
      when: { tool: issue_refund, args: { amount: 600, reason: late } }
      then: { verdict: approve, rule: small, args: { amount: 500 }, risk: medium }
    `);
    assert.equal(
      caseText(result),
      [
        "FAILED  case",
        "        the verdict is block, and should be approve",
        "        the rule is spent, and should be small",
        '        args is {"amount":600,"reason":"late"}, and should be {"amount":500}',
        "        the risk's level is low, and should be medium",
        "        it said: spent, spent",
      ].join("\n"),
    );
  });

  it("an undone call and another attempt are told apart", () => {
    const result = run(`
      given:
        history: [{ tool: issue_refund, args: { amount: 1900 }, undone: true, generation: 1 }]
        workflow: { generation: 2 }
      when: { tool: issue_refund, args: { amount: 1000, reason: x } }
      then: { verdict: approve }
    `);
    assert.deepEqual(result.differences, []);
  });

  it("a revision that the tool's schema refuses blocks, as it would", () => {
    const other = compilePolicy(
      { policy: "p", default: "approve", rules: [{ id: "cap", verdict: "revise", set: { amount: 9000 } }] },
      [REFUND],
    );
    assert.ok(other.ok);
    const text = "{ when: { tool: issue_refund, args: { amount: 1 } }, then: { verdict: block, rule: cap } }";
    const { differences, review } = runCase(other.policy, caseOf(text), [REFUND]);
    assert.deepEqual(differences, []);
    assert.match(review.reason, /does not fit the tool: amount/);
  });

  it("outside of a workflow there is no history", () => {
    const result = run(`
      given: { workflow: null, history: [{ tool: issue_refund, args: { amount: 1900 } }] }
      when: { tool: issue_refund, args: { amount: 900, reason: x } }
      then: { verdict: approve, rule: small }
    `);
    assert.deepEqual(result.differences, []);
  });
});
