import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type Item, missingFrom, mixed } from "./leaving.ts";

type Row = { readonly request_id: string };
const rows = (...ids: readonly string[]): readonly Row[] => ids.map((request_id) => ({ request_id }));
const shown = (...ids: readonly string[]): readonly Item<Row>[] => mixed(rows(...ids), [], new Set());
const ids = (items: readonly Item<Row>[]): string =>
  items.map(({ id, isGone }) => (isGone ? `(${id})` : id)).join(" ");

describe("a list under somebody's eyes", () => {
  test("what was decided stays where it was, marked, until it goes", () => {
    const before = shown("a", "b", "c", "d");
    const now = rows("a", "d");
    assert.deepEqual(missingFrom(now, before), ["b", "c"]);
    const items = mixed(now, before, new Set(["b", "c"]));
    assert.equal(ids(items), "a (b) (c) d");
    assert.equal(ids(mixed(now, items, new Set(["c"]))), "a (c) d");
  });

  test("the first one stays first, and new ones come where they belong", () => {
    const before = shown("a", "b");
    assert.equal(ids(mixed(rows("b", "n"), before, new Set(["a"]))), "(a) b n");
  });

  test("one that comes back is there once", () => {
    const before = mixed(rows("b"), shown("a", "b"), new Set(["a"]));
    assert.equal(ids(mixed(rows("a", "b"), before, new Set(["a"]))), "a b");
  });
});
