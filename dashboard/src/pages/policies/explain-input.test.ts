import assert from "node:assert/strict";
import { test } from "node:test";
import { argsFault, BLANK, inputOf } from "./explain-input.ts";

test("nothing is asked while the action, the tool or its arguments are missing", () => {
  assert.equal(inputOf(BLANK, ""), null);
  assert.equal(inputOf({ ...BLANK, of: "imagined", args: "{}" }, ""), null);
  assert.equal(inputOf({ ...BLANK, of: "imagined", tool: "pay", args: "{" }, ""), null);
});

test("a recorded action is asked for by its id, and an imagined one by tool, arguments and agent", () => {
  assert.deepEqual(inputOf({ ...BLANK, action: " act_1 " }, ""), { action_id: "act_1" });
  const pay = { ...BLANK, of: "imagined", tool: "pay", args: '{"amount": 3}' } as const;
  assert.deepEqual(inputOf(pay, ""), { action: { tool: "pay", args: { amount: 3 } } });
  assert.deepEqual(inputOf({ ...pay, agent: "clerk" }, ""), {
    action: { tool: "pay", args: { amount: 3 }, agent: "clerk" },
  });
});

test("the policy on trial is sent along only where it was chosen and is there", () => {
  const form = { ...BLANK, action: "act_1" };
  assert.deepEqual(inputOf(form, "policy: a"), { action_id: "act_1" });
  assert.deepEqual(inputOf({ ...form, byDraft: true }, "policy: a"), {
    action_id: "act_1",
    text: "policy: a",
  });
  assert.equal(inputOf({ ...form, byDraft: true }, " "), null);
});

test("arguments that are no JSON say why", () => {
  assert.equal(argsFault("[1, 2]"), undefined);
  assert.match(argsFault("{amount: 1}") ?? "", /not JSON/);
});
