import assert from "node:assert/strict";
import { test } from "node:test";
import { forgetDraft, keepDraft, keepText, keptDraft, keptText } from "./kept-drafts.ts";

const approval = { request_id: "apr_1", args: { amount: 40 }, status: "pending" } as const;

test("what was written and not sent is there again, while the same is asked", () => {
  keepDraft(approval, { amount: 30 });
  assert.deepEqual(keptDraft(approval), { value: { amount: 30 } });
  assert.equal(keptDraft({ ...approval, args: { amount: 50 } }), "changed");
  assert.equal(keptDraft({ ...approval, status: "rejected" }), null);
  assert.equal(keptDraft({ ...approval, request_id: "apr_2" }), null);
  forgetDraft(approval);
  assert.equal(keptDraft(approval), null);
});

test("a note and a reason are there again each in its place, while the same is asked", () => {
  const of = { request_id: "apr_1", binding: "b1" };
  keepText(of, "note", "as agreed");
  assert.equal(keptText(of, "note"), "as agreed");
  assert.equal(keptText(of, "reason"), "");
  assert.equal(keptText({ ...of, binding: "b2" }, "note"), "");
  assert.equal(keptText({ ...of, request_id: "apr_2" }, "note"), "");
});
