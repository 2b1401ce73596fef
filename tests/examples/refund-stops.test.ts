/** Why runs of the refund case end: every stop reason that its tools, its policy and its people can bring about. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type Holdpoint, NotApplied } from "../../src/index.ts";
import {
  type Change,
  CONTEXT,
  email,
  FINAL,
  type Line,
  type Played,
  play,
  refund,
  rejects,
  saying,
} from "./refund-case.ts";

const context = (user_id: unknown) => ({ kind: "tool", name: "get_refund_context", args: { user_id } });
const call = (name: string, args: object) => ({ kind: "tool", name, args });

function ends({ result }: Played, stop_reason: string, phase?: string): void {
  assert.equal(result.stop_reason, stop_reason);
  assert.equal(result.phase, phase);
  assert.equal(result.status, phase === undefined ? "ok" : "stopped");
  if (phase !== undefined && result.trace.length > 0 && !stop_reason.startsWith("llm"))
    assert.partialDeepStrictEqual(result.trace.at(-1), { stop_reason, ok: false });
}

describe("the policy stops a run", () => {
  const blocks: readonly (readonly [string, readonly Line[]])[] = [
    ["invalid_refund_amount", [CONTEXT, refund(0)]],
    ["invalid_refund_amount", [CONTEXT, refund(-800)]],
    ["email_before_refund", [CONTEXT, email(1000)]],
    ["email_before_refund", [CONTEXT, call("issue_refund", { user_id: 99, amount_usd: 5 }), email(5)]],
    ["final_requires_context", [FINAL]],
    ["final_requires_context", [context(99), FINAL]],
  ];
  for (const [reason, lines] of blocks)
    test(`supervisor_block:${reason}, after ${lines.length} turns`, async () => {
      const played = await play({ lines, person: () => assert.fail("a person was asked") });
      ends(played, `supervisor_block:${reason}`, "supervisor");
      assert.deepEqual(played.outside, []);
    });

  test("supervisor_block:refund_budget_exhausted", async () => {
    const policy: readonly Change[] = [
      ["2000 - totals.refunded", "100 - totals.refunded"],
      [">= 2000", ">= 100"],
    ];
    const played = await play({ lines: [CONTEXT, refund(150), refund(1)], policy });
    ends(played, "supervisor_block:refund_budget_exhausted", "supervisor");
    assert.partialDeepStrictEqual(played.outside, [{ amount_usd: 100 }]);
    assert.equal(played.outside.length, 1);
  });

  test("supervisor_block:unknown_tool_for_supervisor:<name>, for a tool that the run has and the policy does not know", async () => {
    let runs = 0;
    const played = await play({
      lines: [CONTEXT, call("delete_account", { user_id: 42 })],
      more: (hp) => [hp.gate({ name: "delete_account", run: (_: { user_id: number }) => void runs++ })],
    });
    ends(played, "supervisor_block:unknown_tool_for_supervisor:delete_account", "supervisor");
    assert.equal(runs, 0);
  });

  test("tool_denied:delete_account, where a rule lets it through and the list of tools does not", async () => {
    const played = await play({
      lines: [CONTEXT, call("delete_account", { user_id: 42 })],
      policy: [['"send_refund_email"])', '"send_refund_email", "delete_account"])']],
      more: (hp) => [hp.gate({ name: "delete_account", run: (_: { user_id: number }) => assert.fail() })],
    });
    ends(played, "tool_denied:delete_account", "execution");
  });
});

describe("limits stop a run", () => {
  test("max_tool_calls, at the sixth call", async () => {
    const lines = [CONTEXT, CONTEXT, context(7), refund(1), refund(2), email(2)];
    const played = await play({ lines });
    ends(played, "max_tool_calls", "execution");
    assert.equal(played.result.trace.filter(({ ok }) => ok).length, 5);
    assert.equal(played.outside.length, 2);
  });

  test("loop_detected:per_tool_limit, at the third refund, whatever its amount", async () => {
    const played = await play({ lines: [CONTEXT, refund(1), refund(2), refund(3)] });
    ends(played, "loop_detected:per_tool_limit", "execution");
    assert.equal(played.outside.length, 2);
  });

  test("loop_detected:signature_repeat, at the same refund again, white space aside", async () => {
    const spaced = refund(500, { reason: "  annual \n plan " });
    const played = await play({ lines: [CONTEXT, refund(500), spaced] });
    ends(played, "loop_detected:signature_repeat", "execution");
    assert.equal(played.outside.length, 1);
  });

  test("loop_detected:signature_repeat, at the third time that the same case is read", async () => {
    ends(await play({ lines: [CONTEXT, CONTEXT, CONTEXT] }), "loop_detected:signature_repeat", "execution");
  });

  test("max_steps: an answer is asked for, and reviewed", async () => {
    const options = { onRefusal: "continue" as const };
    const refused = Array.from({ length: 7 }, () => refund(0));
    const played = await play({ lines: [CONTEXT, ...refused, "Nothing was refunded."], options });
    ends(played, "max_steps");
    assert.equal(played.result.answer, "Nothing was refunded.");
    assert.equal(played.result.history.length, 9);
    assert.deepEqual(played.outside, []);
  });

  test("as the policy file says: one call, or two turns", async () => {
    const one = await play({ lines: [CONTEXT, refund(1)], policy: [["tool_calls: 5", "tool_calls: 1"]] });
    ends(one, "max_tool_calls", "execution");
    const two = await play({
      lines: [CONTEXT, refund(1), "Paid 1 USD."],
      policy: [["steps: 8", "steps: 2"]],
    });
    ends(two, "max_steps");
    assert.equal(two.result.answer, "Paid 1 USD.");
  });

  test("max_seconds, of time in the model", async () => {
    const model = saying([CONTEXT, FINAL]);
    const slow = async (request: Parameters<typeof model.propose>[0]) => {
      await new Promise((done) => setTimeout(done, 20));
      return model.propose(request);
    };
    const policy: readonly Change[] = [["seconds: 30", "seconds: 0.01"]];
    const { result } = await play({ options: { model: { ...model, propose: slow } }, policy });
    assert.deepEqual([result.status, result.stop_reason], ["stopped", "max_seconds"]);
  });
});

describe("what a model says stops a run", () => {
  const sayings: readonly (readonly [string, Line])[] = [
    ["non_json", "I would refund 1200 USD."],
    ["non_json", `${JSON.stringify(CONTEXT)}${JSON.stringify(FINAL)}`],
    ["not_object", "[]"],
    ["bad_kind", { kind: "approve" }],
    ["extra_keys_tool", { ...refund(1200), approved: true }],
    ["extra_keys_final", { ...FINAL, approved_by: "person:ann" }],
    ["bad_final_answer", { kind: "final", answer: " " }],
    ["bad_tool_name", { kind: "tool", name: " ", args: {} }],
    ["bad_tool_args", { kind: "tool", name: "issue_refund", args: [] }],
    ["unknown_tool:delete_account", call("delete_account", {})],
    ["extra_tool_args:issue_refund", refund(1200, { reason: "r", human_approved: true })],
    ["missing_required_arg:issue_refund:amount_usd", call("issue_refund", { user_id: 42 })],
    ["bad_arg_type:issue_refund:amount_usd", call("issue_refund", { user_id: 42, amount_usd: "1200" })],
    ["bad_arg_type:issue_refund:reason", refund(1200, { reason: " " })],
    ["bad_arg_type:get_refund_context:user_id", context(42.5)],
    [
      "bad_arg_type:send_refund_email:message",
      call("send_refund_email", { user_id: 42, amount_usd: 1, message: 1 }),
    ],
  ];
  for (const [reason, line] of sayings)
    test(`invalid_action:${reason}`, async () => {
      const played = await play({ lines: [line] });
      ends(played, `invalid_action:${reason}`, "worker");
      assert.ok("raw_action" in played.result);
      assert.deepEqual(played.outside, []);
    });

  test("llm_timeout and llm_empty, and what was done until then stays done", async () => {
    const silent = { failure: "timeout", message: "no answer" };
    ends(await play({ lines: [CONTEXT, silent] }), "llm_timeout", "worker");
    const played = await play({ lines: [CONTEXT, refund(1000), ""] });
    ends(played, "llm_empty", "worker");
    assert.equal(played.outside.length, 1);
  });
});

describe("people and tools stop a run", () => {
  test("human_rejected", async () =>
    ends(
      await play({ lines: [CONTEXT, refund(1200)], person: rejects }),
      "human_rejected",
      "human_approval",
    ));

  test("human_expired, when nobody decides in time", async () => {
    const policy: readonly Change[] = [
      ["    verdict: escalate\n", "    verdict: escalate\n    decide_by: 1ms\n"],
    ];
    const played = await play({ lines: [CONTEXT, refund(1200)], policy });
    ends(played, "human_expired", "human_approval");
    assert.deepEqual(played.outside, []);
  });

  test("stopped, by the kill switch", async () => {
    const lines = saying([CONTEXT, refund(1000)]);
    let instance: Holdpoint | undefined;
    const model = {
      ...lines,
      propose: async (request: Parameters<typeof lines.propose>[0]) => {
        const isSecond = lines.asked.length === 1;
        if (isSecond) await instance?.pause({ by: "person:ann", reason: "all hands off" });
        return lines.propose(request);
      },
    };
    const more = (hp: Holdpoint) => {
      instance = hp;
      return [];
    };
    const played = await play({ more, options: { model } });
    ends(played, "stopped", "execution");
    assert.deepEqual(played.outside, []);
  });

  test("cancelled, by an operator while a person is asked", async () => {
    const played = await play({
      lines: [CONTEXT, refund(1200)],
      async person(hp) {
        const [run] = (await hp.workflows.list()).items;
        await hp.workflows.cancel(run?.id ?? "", { by: "person:bob", reason: "withdrawn" });
      },
    });
    assert.equal(played.result.stop_reason, "cancelled");
    assert.deepEqual(played.outside, []);
  });

  test("tool_error, when the receiver says that nothing happened", async () => {
    const policy: readonly Change[] = [
      ["  send_refund_email: {", "  check_fraud: { effect: read }\n  send_refund_email: {"],
    ];
    const allowed: Change = ['"send_refund_email"])', '"send_refund_email", "check_fraud"])'];
    const rule: Change = [
      "rules:\n",
      "rules:\n  - { id: fraud_check, tool: check_fraud, verdict: approve }\n",
    ];
    const played = await play({
      lines: [CONTEXT, call("check_fraud", {})],
      policy: [...policy, allowed, rule],
      more: (hp) => [
        hp.gate({
          name: "check_fraud",
          effect: "read",
          run: (_: object): object => {
            throw new NotApplied("out of order");
          },
        }),
      ],
    });
    ends(played, "tool_error:check_fraud", "execution");
  });
});
