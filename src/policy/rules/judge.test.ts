import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { definePolicy } from "../../index.ts";
import type { Json } from "../../kernel/json.ts";
import { type CompiledPolicy, compilePolicy } from "./compile.ts";
import type { PolicyText } from "./document.ts";
import type { PastCall, PolicyInput, Verdict } from "./verdict.ts";

const NOON = Date.UTC(2026, 2, 2, 12);

function compiled(document: PolicyText): CompiledPolicy {
  const made = compilePolicy(document, null);
  assert.ok(made.ok, JSON.stringify(made));
  return made.policy;
}

function call(tool: string, args: Json, given: Partial<PolicyInput> = {}): PolicyInput {
  return {
    tool,
    effectClass: "once",
    args,
    agent: "agent:refunds",
    requester: ["agent:refunds"],
    requestId: null,
    workflow: { id: "wf_1", name: "refunds", generation: 1 },
    history: [],
    now: NOON,
    ...given,
  };
}

function past(tool: string, args: Json, given: Partial<PastCall> = {}): PastCall {
  return {
    action: "act_1",
    tool,
    args,
    status: "applied",
    result: null,
    generation: 1,
    undone: false,
    at: NOON,
    ...given,
  };
}

const said = ({ verdict, rule, reason }: Verdict) => [verdict, rule, reason];

const REFUNDS: PolicyText = definePolicy({
  policy: "refunds",
  default: { verdict: "block", reason: "unknown_tool_for_supervisor" },
  limits: { steps: 8, tool_calls: 5, seconds: 30 },
  tools: {
    get_refund_context: { calls: 3, repeats: 2 },
    issue_refund: { calls: 2 },
    send_refund_email: { calls: 2 },
  },
  totals: { refunded: { tool: "issue_refund", sum: "args.amount_usd" } },
  rules: [
    { id: "context", tool: "get_refund_context", verdict: "approve", reason: "read_only_context" },
    {
      id: "positive",
      tool: "issue_refund",
      when: "args.amount_usd <= 0",
      verdict: "block",
      reason: "invalid_refund_amount",
    },
    {
      id: "exhausted",
      tool: "issue_refund",
      when: "totals.refunded >= 2000",
      verdict: "block",
      reason: "refund_budget_exhausted",
    },
    {
      id: "cap",
      tool: "issue_refund",
      when: "args.amount_usd > 2000 - totals.refunded",
      verdict: "revise",
      set: { amount_usd: { expr: "round(2000 - totals.refunded, 2)" } },
      reason: "cap_to_remaining_run_budget",
    },
    {
      id: "reason",
      tool: "issue_refund",
      when: '!has(args.reason) || args.reason.trim() == ""',
      verdict: "revise",
      set: { reason: "Customer requested refund within policy review" },
      reason: "refund_reason_required",
    },
    {
      id: "high",
      tool: "issue_refund",
      when: "args.amount_usd > 1000",
      verdict: "escalate",
      reason: "high_refund_requires_human",
      approvers: { from: ["person:ann", "person:bob"], quorum: 2 },
      decide_by: "24h",
      execute_by: "30m",
    },
    { id: "auto", tool: "issue_refund", verdict: "approve", reason: "refund_within_auto_limit" },
    {
      id: "email_first",
      tool: "send_refund_email",
      when: '!history.exists(h, h.tool == "issue_refund" && h.status == "applied")',
      verdict: "block",
      reason: "email_before_refund",
    },
    { id: "email", tool: "send_refund_email", verdict: "approve", reason: "email_after_refund" },
    {
      id: "answer_first",
      tool: "final",
      when: '!history.exists(h, h.tool == "get_refund_context")',
      verdict: "block",
      reason: "final_requires_context",
    },
    { id: "answer", tool: "final", verdict: "approve", reason: "final_with_context" },
  ],
});

describe("the refund policy", () => {
  const policy = compiled(REFUNDS);
  const refund = (amount: number, given: Partial<PolicyInput> = {}) =>
    policy.judge(call("issue_refund", { user_id: 42, amount_usd: amount, reason: "late" }, given));

  it("a whole number in the file is compared with a number of the arguments", () => {
    assert.deepEqual(said(refund(800)), ["approve", "auto", "refund_within_auto_limit"]);
    assert.deepEqual(said(refund(1000)), ["approve", "auto", "refund_within_auto_limit"]);
    assert.deepEqual(said(refund(1000.01)), ["escalate", "high", "high_refund_requires_human"]);
    assert.deepEqual(said(refund(0)), ["block", "positive", "invalid_refund_amount"]);
  });

  it("an escalation names its people and its deadlines", () => {
    assert.deepEqual(refund(1200), {
      verdict: "escalate",
      rule: "high",
      reason: "high_refund_requires_human",
      approvers: { from: ["person:ann", "person:bob"], quorum: 2 },
      decideWithinMs: 86_400_000,
      executeWithinMs: 1_800_000,
    });
  });

  it("what is left of the cap is computed from what was refunded", () => {
    const history = [past("issue_refund", { amount_usd: 1500.5 })];
    assert.deepEqual(refund(1200, { history }), {
      verdict: "revise",
      rule: "cap",
      set: { amount_usd: 499.5 },
      reason: "cap_to_remaining_run_budget",
    });
  });

  it("a refund under way or in doubt counts, one that failed, was refused or undone does not", () => {
    const counts = (given: Partial<PastCall>) =>
      refund(1000, { history: [past("issue_refund", { amount_usd: 2000 }, { generation: 2, ...given })] })
        .rule;
    assert.equal(counts({ status: "running" }), "exhausted");
    assert.equal(counts({ status: "in_doubt" }), "exhausted");
    assert.equal(counts({ status: "not_applied" }), "auto");
    assert.equal(counts({ status: "refused" }), "auto");
    assert.equal(counts({ status: "waiting" }), "auto");
    assert.equal(counts({ undone: true }), "auto");
  });

  it("a missing or blank reason is filled in, and the first revision in the file comes first", () => {
    const judge = (args: Json) => policy.judge(call("issue_refund", args));
    assert.equal(judge({ amount_usd: 10 }).rule, "reason");
    assert.equal(judge({ amount_usd: 10, reason: "  " }).rule, "reason");
    assert.equal(judge({ amount_usd: 9000 }).rule, "cap");
  });

  it("a missing amount blocks with the error", () => {
    assert.deepEqual(said(policy.judge(call("issue_refund", { reason: "late" }))), [
      "block",
      "positive",
      'rule positive cannot be answered: there is no field "amount_usd"',
    ]);
  });

  it("an email comes after the refund, and an answer after the context", () => {
    const email = call("send_refund_email", {});
    assert.equal(policy.judge(email).reason, "email_before_refund");
    const history = [past("get_refund_context", {}), past("issue_refund", { amount_usd: 5 })];
    assert.equal(policy.judge({ ...email, history }).reason, "email_after_refund");
    assert.equal(
      policy.judge(call("final", { answer: "done" }, { effectClass: "read" })).reason,
      "final_requires_context",
    );
    assert.equal(
      policy.judge(call("final", { answer: "done" }, { effectClass: "read", history })).reason,
      "final_with_context",
    );
  });

  it("a tool that is not listed is not allowed", () => {
    assert.deepEqual(said(policy.judge(call("delete_user", {}))), [
      "block",
      "tools:not_allowed",
      "delete_user is not among the tools that this policy allows",
    ]);
  });

  it("the fifth call is the last", () => {
    const history = Array.from({ length: 5 }, (_, index) => past("other", { index }));
    assert.deepEqual(said(refund(10, { history })), [
      "block",
      "limit:tool_calls",
      "5 tool calls were made, and 5 are allowed",
    ]);
    assert.equal(refund(10, { history: history.slice(1) }).rule, "auto");
  });

  it("calls of an earlier attempt, or that never started, do not count towards limits", () => {
    const twice = (given: Partial<PastCall>) =>
      refund(10, {
        history: [1, 2].map((amount) =>
          past("issue_refund", { amount_usd: amount }, { undone: true, ...given }),
        ),
        workflow: { id: "wf_1", name: "refunds", generation: 2 },
      }).rule;
    assert.equal(twice({ generation: 2 }), "limit:calls");
    assert.equal(twice({ generation: 1 }), "auto");
    assert.equal(twice({ generation: 2, status: "refused" }), "auto");
    assert.equal(twice({ generation: 2, status: "waiting" }), "auto");
    assert.equal(twice({ generation: 2, status: "not_applied" }), "limit:calls");
  });

  it("the same call again is a loop, whatever its white space", () => {
    const args = { user_id: 42, amount_usd: 10, reason: "late  delivery " };
    const history = [past("issue_refund", args)];
    const again = policy.judge(call("issue_refund", { ...args, reason: " late delivery" }, { history }));
    assert.deepEqual(said(again), [
      "block",
      "limit:repeats",
      "issue_refund was called once with the same arguments, and 1 is the limit",
    ]);
    assert.equal(policy.judge(call("issue_refund", { ...args, user_id: 7 }, { history })).rule, "auto");
  });

  it("a repeated call that a rule revises is judged as revised", () => {
    const args = { user_id: 42, amount_usd: 1200, reason: "late" };
    const verdict = policy.judge(call("issue_refund", args, { history: [past("issue_refund", args)] }));
    assert.equal(verdict.rule, "cap");
  });

  it("outside of a workflow there are no limits over calls", () => {
    assert.equal(refund(10, { workflow: null }).rule, "auto");
  });

  it("says which tools need the history", () => {
    assert.ok(policy.usesHistory("get_refund_context"), "limits");
    const free = compiled({
      policy: "p",
      default: "approve",
      rules: [{ id: "a", tool: "a", when: "size(history) > 0", verdict: "block" }],
    });
    assert.ok(free.usesHistory("a"));
    assert.ok(!free.usesHistory("b"));
  });
});
