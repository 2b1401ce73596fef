import assert from "node:assert/strict";
import { test } from "node:test";
import { parseTime } from "./parse.ts";

test("times are those of RFC 3339, in any zone, with or without fractions", () => {
  const noon = Date.UTC(2026, 4, 4, 12);
  for (const text of [
    "2026-05-04T12:00:00Z",
    "2026-05-04t12:00:00z",
    "2026-05-04 12:00Z",
    "2026-05-04T14:00:00+02:00",
    " 2026-05-04T12:00:00.0000Z ",
  ])
    assert.equal(parseTime(text), noon, text);
  assert.equal(parseTime("2026-05-04T12:00:00.1239Z"), noon + 123);
  assert.equal(parseTime("2024-02-29T00:00:00Z"), Date.UTC(2024, 1, 29));
});

test("what no calendar or clock has is no time", () => {
  for (const text of [
    "",
    "yesterday",
    "2026-05-04",
    "2026-05-04T12:00:00",
    "2026-02-30T00:00:00Z",
    "2026-13-01T00:00:00Z",
    "2026-05-04T24:00:00Z",
    "2026-05-04T12:60:00Z",
    "2026-05-04T12:00:00+99:00",
    "20260504T120000Z",
    "2026-05-04T12:00:00Z or so",
  ])
    assert.equal(parseTime(text), undefined, text);
});
