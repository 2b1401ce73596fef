import assert from "node:assert/strict";
import { test } from "node:test";
import { isStopReason, parseStopReason } from "../../../tests/fixtures/stop-reasons.ts";
import { REFUSALS, type RefusalCode, refusal } from "../../kernel/refusals.ts";
import { STOP_REASONS, stopOfRefusal } from "./stop-reason.ts";
import { stopOfFailure } from "./turn.ts";

test("every reason of the list is read back as itself, with what it was filled in with", () => {
  for (const pattern of STOP_REASONS) {
    let count = 0;
    const text = pattern.replaceAll(/<\w+>/g, () => `x${++count}`);
    const parsed = parseStopReason(text);
    assert.equal(parsed?.pattern, pattern);
    assert.equal(parsed?.details.length, count);
  }
});

test("what is not in the list is none", () => {
  for (const text of [
    "",
    "Success",
    "success ",
    "max_step",
    "tool_denied:",
    "supervisor_block",
    "invalid_action:x",
    "in_doubt",
  ])
    assert.equal(parseStopReason(text), undefined, text);
});

test("every refusal ends a run for a reason of the list", () => {
  for (const code of Object.keys(REFUSALS) as RefusalCode[])
    if (code !== "pending")
      assert.ok(isStopReason(stopOfRefusal(refusal(code, "somebody", "why"), "pay").stop_reason), code);
});

test("a call that waits for people ends no run: nobody has let it expire", () => {
  assert.throws(
    () => stopOfRefusal(refusal("pending", "approval", "a person has to decide"), "pay"),
    TypeError,
  );
});

test("the policy's own rules have reasons of their own; a rule of that name by somebody else has not", () => {
  const blocked = (rule: string) =>
    stopOfRefusal(refusal("blocked", `policy (${rule})`, "why not"), "pay").stop_reason;
  assert.equal(blocked("limit:tool_calls"), "max_tool_calls");
  assert.equal(blocked("limit:calls"), "loop_detected:per_tool_limit");
  assert.equal(blocked("limit:repeats"), "loop_detected:signature_repeat");
  assert.equal(blocked("tools:not_allowed"), "tool_denied:pay");
  assert.equal(blocked("mine"), "supervisor_block:why not");
  assert.equal(
    stopOfRefusal(refusal("blocked", "limit:calls", ""), "pay").stop_reason,
    "supervisor_block:no_reason",
  );
});

test("every failure of a model ends a run for a reason of the list", () => {
  for (const failure of ["overloaded", "unreachable", "timeout", "refused", "empty"] as const)
    assert.ok(isStopReason(stopOfFailure(failure)));
});
