import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { isWholeInRow, whyAlone, whyRejectAlone } from "./card.ts";

type ToBatch = Parameters<typeof whyAlone>[0];

const short: ToBatch = {
  ...{ about: "action", isIrreversible: false, isTyped: false, hasPreview: false, hasUndo: false },
  ...{ isChanged: false, hasComments: false, args: { amount: 40 }, rationale: "It arrived broken." },
};

describe("together with others", () => {
  test("is approved what a row shows whole and can be taken back", () => {
    assert.equal(whyAlone(short), null);
    assert.equal(whyAlone({ ...short, about: "intent", rationale: null }), null);
  });

  test("is not what cannot be taken back, wants an answer or a word, or has more to look at", () => {
    const alone: readonly (readonly [Partial<ToBatch>, RegExp])[] = [
      [{ isIrreversible: true }, /cannot be undone$/],
      [{ isIrreversible: true, isTyped: true }, /a word is typed/],
      [{ about: "question" }, /an answer of its own/],
      [{ about: "checkpoint" }, /the state of its workflow/],
      [{ hasPreview: true }, /what the tool shows/],
      [{ hasUndo: true }, /it has an undo to review first/],
      [{ hasComments: true }, /comments to read/],
      [{ isChanged: true }, /changed since it was proposed/],
      [{ args: { text: "x".repeat(600) } }, /too long/],
      [{ args: { many: Array.from({ length: 300 }, () => 1) } }, /too long/],
      [{ rationale: "x".repeat(301) }, /too long/],
    ];
    for (const [fields, why] of alone) assert.match(whyAlone({ ...short, ...fields }) ?? "", why);
  });

  test("is rejected whatever only does not run then, and nobody has written about", () => {
    const long = { ...short, isIrreversible: true, isTyped: true, args: { text: "x".repeat(600) } };
    assert.equal(whyRejectAlone(long), null);
    assert.equal(whyRejectAlone({ ...short, about: "intent" }), null);
    assert.match(whyRejectAlone({ ...short, about: "checkpoint" }) ?? "", /what a rejection does/);
    assert.match(whyRejectAlone({ ...short, about: "question" }) ?? "", /without an answer/);
    assert.match(whyRejectAlone({ ...short, hasComments: true }) ?? "", /comments to read/);
  });

  test("a row shows whole what is short and as it was proposed", () => {
    assert.equal(isWholeInRow(short), true);
    assert.equal(isWholeInRow({ ...short, rationale: "x".repeat(301) }), false);
    assert.equal(isWholeInRow({ ...short, isChanged: true }), false);
  });

  test("a row does not show whole what is long once its hidden characters are written out", () => {
    const hidden = "\u{e0041}".repeat(100);
    for (const fields of [{ args: { text: hidden } }, { args: { [hidden]: 1 } }, { rationale: hidden }]) {
      assert.equal(isWholeInRow({ ...short, ...fields }), false);
      assert.match(whyAlone({ ...short, ...fields }) ?? "", /too long/);
    }
    assert.equal(isWholeInRow({ ...short, args: { text: "a\u200bb" } }), true);
  });
});
