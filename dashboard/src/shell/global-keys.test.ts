import assert from "node:assert/strict";
import { test } from "node:test";
import { deedOf, GOING_MS } from "./global-keys.ts";
import { PLACES } from "./places.ts";

test("g and the letter of a page go there, for every page", () => {
  assert.deepEqual(deedOf({ key: "g", wentAt: null, at: 0 }, PLACES), { kind: "wait" });
  for (const { key, to } of PLACES)
    assert.deepEqual(deedOf({ key, wentAt: 0, at: 10 }, PLACES), { kind: "go", to });
});

test("every page has a letter of its own", () => {
  assert.equal(new Set(PLACES.map(({ key }) => key)).size, PLACES.length);
});

test("a letter alone, or too late, does nothing", () => {
  assert.deepEqual(deedOf({ key: "a", wentAt: null, at: 0 }, PLACES), { kind: "nothing" });
  assert.deepEqual(deedOf({ key: "a", wentAt: 0, at: GOING_MS }, PLACES), { kind: "nothing" });
});

test("a page that one may not see is not gone to", () => {
  assert.deepEqual(deedOf({ key: "k", wentAt: 0, at: 1 }, PLACES.slice(0, 1)), { kind: "nothing" });
});

test("a question mark shows the keys", () => {
  assert.deepEqual(deedOf({ key: "?", wentAt: null, at: 0 }, PLACES), { kind: "help" });
});
