import assert from "node:assert/strict";
import { test } from "node:test";
import { aheadAfter } from "./server-time.ts";

const NOON = Date.parse("2026-05-04T12:00:00Z");
const HOUR_MS = 3_600_000;

test("a clock that is right stays as it is, whatever part of a second an answer was given in", () => {
  for (const part of [0, 250, 999])
    assert.equal(aheadAfter(0, { date: NOON, sent: NOON + part, received: NOON + part + 40 }), 0);
  assert.equal(aheadAfter(0, { date: NOON, sent: NOON - 900, received: NOON + 29_000 }), 0);
});

test("a clock that is hours off is known to the second after one answer, and nearer after the next ones", () => {
  const isAhead = { date: NOON, sent: NOON + 2 * HOUR_MS + 400, received: NOON + 2 * HOUR_MS + 450 };
  const once = aheadAfter(0, isAhead);
  assert.ok(Math.abs(once + 2 * HOUR_MS) < 1_000);
  assert.equal(aheadAfter(once, isAhead), once, "the same answer moves nothing");
  const isBehind = { date: NOON, sent: NOON - HOUR_MS, received: NOON - HOUR_MS + 20 };
  assert.ok(Math.abs(aheadAfter(once, isBehind) - HOUR_MS) < 1_000);
});
