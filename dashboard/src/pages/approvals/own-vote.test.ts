import assert from "node:assert/strict";
import { test } from "node:test";
import type { Approval } from "../../api/approvals.ts";
import { hasArrived } from "./own-vote.ts";

const vote = { by: "person:ann", decision: "approve", shown: "a".repeat(64) } as Approval["votes"][number];
const sent = { decision: "approve", shown: vote.shown ?? "" } as const;

test("a vote has arrived where one of its voter stands for what they were shown", () => {
  assert.equal(hasArrived({ votes: [vote] }, sent, "ann"), true);
  assert.equal(hasArrived({ votes: [] }, sent, "ann"), false);
  assert.equal(hasArrived({ votes: [vote] }, undefined, "ann"), false);
});

test("not where it is another's, says something else, or is of another card", () => {
  assert.equal(hasArrived({ votes: [vote] }, sent, "ben"), false);
  assert.equal(hasArrived({ votes: [vote] }, { ...sent, decision: "reject" }, "ann"), false);
  assert.equal(hasArrived({ votes: [{ ...vote, shown: "b".repeat(64) }] }, sent, "ann"), false);
  const { shown: _, ...unshown } = vote;
  assert.equal(hasArrived({ votes: [unshown] }, { decision: "approve" }, "ann"), false);
});
