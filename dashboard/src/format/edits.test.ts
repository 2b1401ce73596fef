import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { canLeaveOut, changesBetween, editOf, staysIn, withAt, withoutAt } from "./edits.ts";

const before = { to: "bob", amount: 40, lines: [{ sku: "a", count: 1 }], note: { text: "hi", loud: false } };

describe("an edit before approving", () => {
  test("sends only the fields that differ, each whole", () => {
    const after = withAt(withAt(before, ["amount"], 30), ["note", "loud"], true);
    assert.deepEqual(editOf(before, after), { amount: 30, note: { text: "hi", loud: true } });
  });

  test("is nothing where the same was written again, in whatever order", () => {
    assert.equal(editOf(before, withAt(before, ["amount"], 40)), undefined);
    assert.equal(editOf({ a: 1, b: 2 }, { b: 2, a: 1 }), undefined);
  });

  test("replaces whole what is no object", () => {
    assert.deepEqual(editOf([1], [1, 2]), [1, 2]);
  });

  test("reaches into lists and takes items out of them", () => {
    assert.deepEqual(editOf(before, withAt(before, ["lines", 0, "count"], 2)), {
      lines: [{ sku: "a", count: 2 }],
    });
    assert.deepEqual(editOf(before, withoutAt(before, ["lines", 0])), { lines: [] });
  });

  test("cannot leave out what was proposed, only what stands below it or was added", () => {
    assert.equal(canLeaveOut(before, ["to"]), false);
    assert.equal(canLeaveOut(before, ["extra"]), true);
    assert.equal(canLeaveOut(before, ["note", "loud"]), true);
  });

  test("a name that every object has counts as a field of its own", () => {
    assert.deepEqual(editOf({}, { constructor: 1 } as never), { constructor: 1 });
    assert.deepEqual(withAt({}, ["constructor", "name"], "x"), { constructor: { name: "x" } });
    assert.deepEqual(withoutAt({ a: 1 }, ["toString", "name"]), { a: 1 });
    assert.deepEqual(changesBetween({}, JSON.parse('{"toString":"a"}')), [
      { path: ["toString"], before: undefined, after: "a" },
    ]);
  });

  test("tells what was left out and would run all the same, at whatever depth", () => {
    const written = { to: "bob", lines: [], note: { text: "hi" } };
    assert.deepEqual(staysIn(before, written, { ...before, ...written }), [["amount"]]);
    assert.deepEqual(staysIn(before, written, before), [["amount"], ["note", "loud"]]);
  });

  test("holds nothing back that is changed, added or dropped on the way", () => {
    assert.deepEqual(staysIn(before, { ...before, amount: 30 }, { ...before, amount: 31, more: 1 }), []);
    assert.deepEqual(staysIn(before, { to: "bob" }, { to: "Bob" }), []);
    assert.deepEqual(staysIn("a", "b", "c"), []);
  });

  test("tells the places that differ", () => {
    assert.deepEqual(changesBetween(before, { ...before, amount: 30, note: { text: "hi" } }), [
      { path: ["amount"], before: 40, after: 30 },
      { path: ["note", "loud"], before: false, after: undefined },
    ]);
  });
});
