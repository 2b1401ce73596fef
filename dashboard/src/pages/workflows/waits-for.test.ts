import assert from "node:assert/strict";
import { test } from "node:test";
import { waitsFor } from "./waits-for.ts";

const free = { checkpoint: null, held_by: [], stuck_on: null };

test("one that waits for nobody says nothing", () => {
  assert.equal(waitsFor(free), null);
});

test("a checkpoint that waits is named, whatever else holds it", () => {
  const waiting = waitsFor({ ...free, checkpoint: "plan", held_by: ["budget/trip"] });
  assert.deepEqual(waiting, { words: "people, at", name: "plan" });
});

test("a budget is named, the kill switch says whose it is", () => {
  assert.deepEqual(waitsFor({ ...free, held_by: ["budget/a/b"] }), {
    words: "no room in the budget",
    name: "a/b",
  });
  assert.match(waitsFor({ ...free, held_by: ["switch/tenant"] })?.words ?? "", /everything/);
  assert.match(waitsFor({ ...free, held_by: ["switch/wf_1"] })?.words ?? "", /^stopped by/);
});
