import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Approval } from "../../api/approvals.ts";
import { endWords, needsText, notOverWords, selectSections, statusWord, votesText } from "./words.ts";

const RULE = { quorum: 2, from: ["person:ann", "role:supervisor"], veto: true, separate: false };
const approval = (fields: Partial<Approval>): Approval =>
  ({ about: "action", status: "pending", edited: false, decided: null, ended: null, ...fields }) as Approval;
const by = (...names: readonly string[]) => ({ at: "2026-01-01T00:00:00Z", by: [...names], reason: "" });

describe("what became of an approval, in words", () => {
  test("names who decided, and that what was rejected does not run", () => {
    const rejected = approval({ status: "rejected", decided: by("person:bob") });
    assert.equal(endWords(rejected), "Rejected by bob. It does not run.");
    const modified = approval({ status: "modified", edited: true, decided: by("person:ann", "person:cho") });
    assert.equal(endWords(modified), "Approved with changes by ann, cho.");
  });

  test("a rejected checkpoint sends its workflow back; nothing is said not to run", () => {
    const rejected = approval({ status: "rejected", about: "checkpoint", decided: by("person:bob") });
    assert.equal(endWords(rejected), "Rejected by bob. Its workflow goes back, or fails where it cannot.");
    assert.equal(/does not run/.test(endWords({ ...rejected, status: "cancelled" })), false);
  });

  test("what was used reads as it was decided", () => {
    assert.equal(statusWord(approval({ status: "consumed" })), "approved");
    assert.equal(statusWord(approval({ status: "consumed", edited: true })), "modified");
  });

  test("what has run out was decided by nobody", () => {
    assert.equal(endWords(approval({ status: "expired" })).includes("nobody decided"), true);
  });

  test("a question that was used up was answered", () => {
    const answered = approval({ status: "consumed", about: "question", decided: by("person:ann") });
    assert.equal(endWords(answered), "Answered by ann.");
  });

  test("votes and stages are told only where there are several", () => {
    assert.equal(votesText({ votes: 0, quorum: 1, stage: 1, stages: 1 }), "");
    assert.equal(votesText({ votes: 1, quorum: 2, stage: 2, stages: 3 }), "1 of 2, stage 2 of 3");
    const rule = { ...RULE, escalate_at_half: [] };
    assert.equal(needsText(rule), "2 people of ann, role supervisor");
  });
});

test("a rejection that does not end it is not said to: as the server says, or where it does not know", () => {
  assert.equal(notOverWords(true), null);
  assert.match(String(notOverWords(false)), /does not end it/);
  assert.match(String(notOverWords(null)), /only where too few are left/);
});

test("sections come in the order of the page; an older server sends none, which is not an empty list", () => {
  const fields = [{ label: "rule", text: [{ kind: "text" as const, text: "large" }] }];
  const why = { part: "why", heading: "Why it is asked", tone: null, fields };
  const people = { ...why, part: "people", heading: "Who decides" };
  const empty = { ...why, heading: "Values alone", fields: [] };
  assert.deepEqual(selectSections({ sections: [people, empty, why] }, ["why", "people"]), [why, people]);
  assert.deepEqual(selectSections({ sections: [people] }, ["costs"]), []);
  assert.equal(selectSections({}, ["why"]), null);
});
