import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Approval, CardAnswer } from "../../api/approvals.ts";
import { batchOf, rejectionWords, whyAlone, whyLeftOut } from "./batch.ts";

const YOU = { why_not: null, may: ["approve", "reject"], why_alone: null, why_reject_alone: null };
const APPROVAL = { request_id: "apr_1", binding: "b", about: "action", status: "pending" };
const card = (fields: object, of: Partial<Approval> = {}): CardAnswer =>
  ({
    approval: { ...APPROVAL, ...of },
    card: { shown: "s", shown_row: "r", you: { ...YOU, ...fields } },
  }) as CardAnswer;
const still = (seen: CardAnswer) => ({ seen, now: seen });

describe("several decided together", () => {
  test("leave out what the server says is approved by itself, and what is somebody else's", () => {
    const alone = card({ why_alone: "it cannot be undone" });
    assert.equal(whyAlone(card({}), "approve"), null);
    assert.equal(whyAlone(alone, "approve"), "It cannot be undone.");
    assert.equal(whyAlone(alone, "reject"), null);
    const back = card({ why_reject_alone: "its workflow goes back" });
    assert.equal(whyAlone(back, "reject"), "Its workflow goes back.");
    assert.equal(whyAlone(back, "approve"), null);
    assert.equal(whyAlone(card({ may: [], why_not: "you have voted" }), "reject"), "You have voted.");
    assert.equal(whyAlone(card({ may: ["reject"], why_not: "only reject" }), "approve"), "Only reject.");
    assert.equal(whyAlone(card({}, { status: "approved" }), "approve"), "It is decided already.");
  });

  test("a rejection is said to end only what it ends", () => {
    const ends = still(card({ rejection_ends: true }));
    assert.match(rejectionWords([ends]), /^None of them runs/);
    assert.match(rejectionWords([ends, still(card({ rejection_ends: false }))]), /people can still agree/);
  });

  test("each is sent with the binding and the digest of what its row showed, where that is all of it", () => {
    assert.deepEqual(batchOf([still(card({})), still(card({ why_alone: "it is long" }))], "approve", ""), [
      { request_id: "apr_1", binding: "b", shown: "r", decision: "approve" },
    ]);
    const long = card({ why_alone: "it is long" });
    const cut = { ...long, card: { ...long.card, shown_row: null } };
    assert.deepEqual(batchOf([still(cut)], "reject", "no"), [
      { request_id: "apr_1", binding: "b", decision: "reject", note: "no" },
    ]);
  });

  test("leave out what has changed or was decided since the dialogue was opened, and say so", () => {
    const seen = card({});
    const changed = { seen, now: card({}, { binding: "c" }) };
    assert.match(whyLeftOut(changed, "approve") ?? "", /^It has changed since you opened this/);
    const decided = { at: "2026-01-01T00:00:00Z", by: ["person:ben"], reason: "" };
    const over = { seen, now: card({}, { status: "approved", decided, edited: false }) };
    assert.equal(whyLeftOut(over, "reject"), "Since you opened this: Approved by ben.");
    const alone = { seen, now: card({ why_alone: "it has comments" }) };
    assert.equal(whyLeftOut(alone, "approve"), "It has comments.");
    assert.deepEqual(batchOf([changed, over, alone], "approve", ""), []);
  });

  test("never take in what could not be decided together when the dialogue was opened", () => {
    const late = { seen: card({ may: [], why_not: "it is not your turn" }), now: card({}) };
    assert.equal(whyLeftOut(late, "approve"), "It is not your turn.");
  });
});
