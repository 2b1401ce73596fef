import assert from "node:assert/strict";
import { test } from "node:test";
import type { Projection } from "./store.ts";
import { newerView, type StoredViews, viewsToBuild, viewsToMarkStale } from "./views.ts";

const view = (version: number, oldest?: number): Projection => ({
  view: "runs",
  kind: "workflow",
  version,
  ...(oldest === undefined ? {} : { oldest }),
  row: () => undefined,
});
const found = (version: number, oldest: number | null = null, isStale = false): StoredViews =>
  new Map([["runs", { version, oldest, isStale }]]);

test("a newer view stops an older program, unless it says that its rows may stand beside", () => {
  assert.equal(newerView(found(3), [view(2)]), "runs");
  assert.equal(newerView(found(3, 3), [view(2)]), "runs");
  assert.equal(newerView(found(3, 2), [view(2)]), undefined);
  assert.equal(newerView(found(3, 2), [view(1)]), "runs");
  assert.equal(newerView(found(2), [view(3)]), undefined);
});

test("a program builds what is missing, older, or stale in its own version, and nothing newer", () => {
  const built = (there: StoredViews) => viewsToBuild(there, [view(2)]).length === 1;
  assert.ok(built(new Map()));
  assert.ok(built(found(1)));
  assert.ok(built(found(2, null, true)));
  assert.ok(!built(found(2)));
  assert.ok(!built(found(3, 2, true)));
});

test("a program says once of newer views and of those that it does not know that they go stale", () => {
  assert.deepEqual(viewsToMarkStale(found(3, 2), [view(2)]), ["runs"]);
  assert.deepEqual(viewsToMarkStale(found(3, 2, true), [view(2)]), []);
  assert.deepEqual(viewsToMarkStale(found(1), []), ["runs"]);
  assert.deepEqual(viewsToMarkStale(found(2), [view(2)]), []);
});
