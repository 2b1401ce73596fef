/** Runs of the refund case: each thing to try with it, and who decided what. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { goalOf, scriptedModel } from "../../examples/demos/refund-script.ts";
import type { Holdpoint } from "../../src/index.ts";
import { ANN, approves, CONTEXT, email, FINAL, play, refund, rejects, reviewed } from "./refund-case.ts";

const scripted = (amount: number) => ({ options: { model: scriptedModel, goal: goalOf(amount) } });
const nobody = () => assert.fail("a person was asked");
const ok = { executed_from: "original", ok: true };

describe("Anna's refund", () => {
  test("of 1000 USD runs through, and no person is asked", async () => {
    const { result, outside } = await play({ ...scripted(1000), person: nobody });
    assert.equal(result.status, "ok");
    assert.equal(result.stop_reason, "success");
    const rows = result.trace.map(({ args_hash: _, risk_score: __, ...row }) => row);
    assert.deepEqual(rows, [
      { step: 1, tool: "get_refund_context", supervisor_decision: "approve", ...ok },
      { step: 2, tool: "issue_refund", supervisor_decision: "approve", ...ok },
      { step: 3, tool: "send_refund_email", supervisor_decision: "approve", ...ok },
      { step: 4, tool: "final", supervisor_decision: "approve", ...ok },
    ]);
    assert.equal(result.trace[0]?.args_hash, "feaa769a39ae");
    assert.deepEqual(
      result.history.map(({ supervisor }) => supervisor?.reason),
      ["read_only_context", "refund_within_auto_limit", "email_after_refund", "final_with_context"],
    );
    assert.partialDeepStrictEqual(outside, [
      { user_id: 42, amount_usd: 1000, transaction_id: "rf_42_20260226" },
      { to: "anna@example.com", amount_usd: 1000, template: "refund_confirmation_v2" },
    ]);
    assert.match(result.answer ?? "", /1000 USD.*No person.*refund_within_auto_limit/);
  });

  test("of 1200 USD waits for a person, who makes it 800: human_revised", async () => {
    const { result, outside } = await play({
      ...scripted(1200),
      person: approves({ amount_usd: 800 }, "approved_with_cap:800"),
    });
    assert.equal(result.stop_reason, "success");
    assert.partialDeepStrictEqual(result.trace[1], {
      tool: "issue_refund",
      supervisor_decision: "escalate",
      executed_from: "human_revised",
      human_approved: true,
      ok: true,
    });
    assert.partialDeepStrictEqual(result.history[1], {
      action: { args: { amount_usd: 1200 } },
      supervisor: { decision: "escalate", reason: "high_refund_requires_human" },
      human_approval: { approved: true, by: ["person:ann"], comment: "approved_with_cap:800" },
      executed_action: { args: { amount_usd: 800 } },
    });
    assert.partialDeepStrictEqual(outside, [{ amount_usd: 800 }, { amount_usd: 800 }]);
    assert.match(result.answer ?? "", /800 USD.*A person had to approve.*high_refund_requires_human/);
  });

  test("that a person approves as it is runs as it was proposed", async () => {
    const { result, outside } = await play({ ...scripted(1200), person: approves() });
    assert.partialDeepStrictEqual(result.trace[1], { executed_from: "original", human_approved: true });
    assert.partialDeepStrictEqual(outside[0], { amount_usd: 1200 });
  });

  test("of 1000.01 USD asks a person", async () => {
    const { result, approvals } = await play({ ...scripted(1000.01), person: approves() });
    assert.equal(result.stop_reason, "success");
    assert.equal(approvals.length, 1);
  });

  test("asks more often with a limit of 500 USD", async () => {
    const policy = [["args.amount_usd > 1000", "args.amount_usd > 500"]] as const;
    const { approvals } = await play({ ...scripted(501), policy, person: approves() });
    assert.equal(approvals[0]?.rule, "high_refund_requires_human");
    const { result } = await play({ ...scripted(500), policy, person: nobody });
    assert.equal(result.stop_reason, "success");
  });

  test("that a person rejects ends there, and nothing is paid", async () => {
    const { result, outside } = await play({ ...scripted(1200), person: rejects });
    assert.equal(result.status, "stopped");
    assert.equal(result.stop_reason, "human_rejected");
    assert.equal(result.phase, "human_approval");
    assert.partialDeepStrictEqual(result.action, { name: "issue_refund", args: { amount_usd: 1200 } });
    assert.partialDeepStrictEqual(result.trace[1], {
      supervisor_decision: "escalate",
      human_approved: false,
      stop_reason: "human_rejected",
      ok: false,
    });
    assert.deepEqual(outside, []);
  });

  test("without the e-mail among the allowed tools: paid, and then tool_denied", async () => {
    const { result, outside } = await play({
      ...scripted(1000),
      policy: [["  send_refund_email: { effect: keyed, calls: 2 }\n", ""]],
    });
    assert.equal(result.stop_reason, "tool_denied:send_refund_email");
    assert.equal(result.phase, "execution");
    assert.equal(outside.length, 1);
  });

  test("without a reason gets one from the policy", async () => {
    const lines = [CONTEXT, refund(500, {}), email(500), FINAL];
    const { result, outside } = await play({ lines, person: nobody });
    assert.equal(result.stop_reason, "success");
    assert.partialDeepStrictEqual(result.trace[1], {
      supervisor_decision: "revise",
      executed_from: "supervisor_revised",
    });
    const filled = refund(500, { reason: "The customer asked for it" });
    assert.deepEqual(result.history[1]?.supervisor, {
      decision: "revise",
      reason: "refund_reason_required",
      revised_action: filled,
    });
    assert.deepEqual(result.history[1]?.executed_action, filled);
    assert.partialDeepStrictEqual(outside[0], { reason: "The customer asked for it" });
  });

  test("without a reason and over the limit shows both, the revision and the person", async () => {
    const { result } = await play({ lines: [CONTEXT, refund(1200, {}), FINAL], person: approves() });
    assert.partialDeepStrictEqual(result.trace[1], {
      supervisor_decision: "escalate",
      executed_from: "supervisor_revised",
      human_approved: true,
    });
    assert.deepEqual(result.history[1]?.supervisor?.revised, [
      { reason: "refund_reason_required", rule: "refund_reason_required" },
    ]);
  });

  test("has its risk in the trace", async () => {
    const { result } = await play({ ...scripted(1200), person: approves() });
    assert.deepEqual(
      result.trace.map(({ tool, risk_score }) => [tool, risk_score]),
      [
        ["get_refund_context", 0],
        ["issue_refund", 60],
        ["send_refund_email", 0],
        ["final", 0],
      ],
    );
  });

  test("never comes to more than 2000 USD in a run", async () => {
    const lines = [CONTEXT, refund(2500), refund(1200, { reason: "again" }), refund(1)];
    const { result, outside } = await play({ lines, person: approves({ amount_usd: 1200 }) });
    assert.deepEqual(result.history[1]?.supervisor?.revised, [
      { reason: "cap_to_remaining_run_budget", rule: "cap_to_remaining_run_budget" },
    ]);
    assert.partialDeepStrictEqual(result.history[2], {
      supervisor: { decision: "revise", reason: "cap_to_remaining_run_budget" },
      executed_action: { args: { amount_usd: 800 } },
    });
    assert.partialDeepStrictEqual(outside, [{ amount_usd: 1200 }, { amount_usd: 800 }]);
    assert.equal(result.stop_reason, "supervisor_block:refund_budget_exhausted");
    assert.equal(result.phase, "supervisor");
  });
});

describe("a person's edit", () => {
  test("that the policy forbids is refused with the rule; nothing runs, and the question stays open", async () => {
    const outsideThen: number[] = [];
    const { result, outside, approvals } = await play({
      ...scripted(1200),
      async person(hp, { id }) {
        await hp.approvals.approve(id, { ...ANN, edit: { amount_usd: 0 } });
        const after = await reviewed(hp, id);
        assert.equal(after.status, "pending");
        assert.partialDeepStrictEqual(after.editRefused, {
          by: "person:ann",
          rule: "invalid_refund_amount",
          reason: "invalid_refund_amount",
        });
        const { phase } = await hp.actions.get(after.action ?? "");
        assert.equal(phase, "waiting");
        outsideThen.push(1);
        await hp.approvals.reject(id, { ...ANN, reason: "then not" });
      },
    });
    assert.deepEqual(outsideThen, [1]);
    assert.equal(result.stop_reason, "human_rejected");
    assert.deepEqual(outside, []);
    assert.equal(approvals.length, 1);
  });

  test("cannot change the tool, nor add what the tool does not take", async () => {
    const edits = [{ name: "send_refund_email" }, { tool: "send_refund_email" }, { kind: "final" }];
    const refusals: unknown[] = [];
    const { outside } = await play({
      ...scripted(1200),
      async person(hp: Holdpoint, { id }) {
        for (const edit of edits) {
          await hp.approvals.approve(id, { ...ANN, edit }).then(
            async () => refusals.push((await reviewed(hp, id)).editRefused?.rule),
            (error: { readonly code: string }) => refusals.push(error.code),
          );
          assert.equal((await hp.approvals.get(id)).tool, "issue_refund");
        }
        await hp.approvals.reject(id, { ...ANN, reason: "then not" });
      },
    });
    assert.equal(refusals.length, edits.length);
    assert.ok(
      refusals.every((code) => typeof code === "string"),
      JSON.stringify(refusals),
    );
    assert.deepEqual(outside, []);
  });
});
