import assert from "node:assert/strict";
import { test } from "node:test";
import { belowBy, mergedPages } from "./merged-pages.ts";

const idOf = ({ id }: { readonly id: string }) => id;

test("what is on the live page counts as it stands there, and nothing is listed twice", () => {
  const head = [
    { id: "c", status: "new" },
    { id: "b", status: "ended" },
  ];
  const below = [
    { id: "b", status: "open" },
    { id: "a", status: "open" },
    { id: "a", status: "open" },
  ];
  assert.deepEqual(mergedPages(head, below, { idOf }), [...head, { id: "a", status: "open" }]);
});

test("without pages below, the live page is the list itself", () => {
  const head = [{ id: "a" }];
  assert.equal(mergedPages(head, [], { idOf }), head);
});

test("what belongs above the live page's last row, and is not in it, has left the list", () => {
  const head = [{ id: "b" }, { id: "d" }];
  const below = [{ id: "a" }, { id: "b" }, { id: "c" }, { id: "d" }, { id: "e" }];
  const isBelow = (item: { readonly id: string }, last: { readonly id: string }) => item.id > last.id;
  assert.deepEqual(mergedPages(head, below, { idOf, isBelow }), [...head, { id: "e" }]);
});

test("in a list by time, whichever way, what another person has ended below the live page's first rows is gone at once", () => {
  const isBelow = belowBy(({ at }: { readonly at: string }) => at);
  const rows = ["1", "2", "3", "4"].map((at) => ({ id: at, at }));
  const [first, , third] = rows;
  if (first === undefined || third === undefined) return assert.fail();
  const ids = (list: readonly { readonly id: string }[]) => list.map(({ id }) => id).join("");
  assert.equal(ids(mergedPages([first, third], rows, { idOf, isBelow: isBelow.oldest })), "134");
  const last = rows.toReversed();
  assert.equal(ids(mergedPages(last.slice(0, 1), last.slice(1), { idOf, isBelow: isBelow.newest })), "4321");
  assert.equal(ids(mergedPages([third, first], last, { idOf, isBelow: isBelow.newest })), "31");
});
