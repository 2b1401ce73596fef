import assert from "node:assert/strict";
import { test } from "node:test";
import type { Day } from "../../api/activity.ts";
import { DECIDED, figuresText, labelledDays, REVIEWED, totalOf, VERDICTS } from "./series.ts";

const day = (given: Partial<Day>): Day => ({
  ...{ day: "2026-05-04", asked: 0, approved: 0, modified: 0, rejected: 0, expired: 0, cancelled: 0 },
  ...{ waited_p50_seconds: null, waited_p90_seconds: null, actions: 0, by_policy: 0 },
  ...{ applied: 0, not_applied: 0, in_doubt: 0, refused: 0 },
  verdicts: { approve: 0, revise: 0, block: 0, escalate: 0 },
  ...given,
});

test("a day is told by the figures that are there, and an empty one as nothing", () => {
  assert.equal(figuresText(DECIDED, [day({ approved: 2, rejected: 1 })]), "2 approved, 1 rejected");
  assert.equal(figuresText(DECIDED, [day({})]), "nothing");
});

test("what policy decided alone and what people were asked about make up what was proposed", () => {
  const days = [day({ actions: 5, by_policy: 3 }), day({ actions: 2, by_policy: 2 })];
  const totals = REVIEWED.map((series) => totalOf(series, days));
  assert.deepEqual(totals, [5, 2]);
});

test("the four verdicts are told apart by their names, and by a texture each", () => {
  const one = day({ verdicts: { approve: 4, revise: 3, escalate: 2, block: 1 } });
  const text = "4 approve, 3 revise, 2 escalate to people, 1 block";
  assert.equal(figuresText(VERDICTS, [one]), text);
  assert.equal(new Set(VERDICTS.map(({ texture }) => texture)).size, 4);
});

test("the last day is always labelled, the others evenly before it", () => {
  const days = ["a", "b", "c", "d", "e", "f", "g"];
  assert.deepEqual(labelledDays(days, 4), ["a", "c", "e", "g"]);
  assert.deepEqual(labelledDays(days, 100), days);
  assert.equal(labelledDays(days, 1).at(-1), "g");
});
