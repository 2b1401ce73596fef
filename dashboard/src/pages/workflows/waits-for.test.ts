import assert from "node:assert/strict";
import { test } from "node:test";
import { waitsFor } from "./waits-for.ts";

const free = { checkpoint: null, held_by: [], stuck_on: null, waits: null };

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

test("of several waits, the one that a person can end is told", () => {
  const wait = (kind: string) => ({ kind, on: "", op: "" });
  assert.equal(
    waitsFor({ ...free, waits: [wait("sleep"), wait("doubt")] })?.words,
    "somebody to settle a doubt",
  );
  assert.equal(waitsFor({ ...free, waits: [wait("something new")] })?.words, "something new");
  assert.equal(waitsFor({ ...free, waits: [] }), null);
});
