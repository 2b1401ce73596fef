import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { parseDuration } from "./parse.ts";

describe("a length of time", () => {
  for (const [typed, ms] of [
    ["45s", 45_000],
    ["30min", 1_800_000],
    ["2h", 7_200_000],
    ["3d", 259_200_000],
    ["1h30min", 5_400_000],
    [" 1 h 5 s ", 3_605_000],
  ] as const)
    test(`"${typed}" is ${ms} ms`, () => {
      assert.equal(parseDuration(typed), ms);
    });

  for (const typed of ["", "2", "h", "-2h", "2 hours", "2h or so", "1.5h", "9999999999d"])
    test(`"${typed}" is none`, () => {
      assert.equal(parseDuration(typed), undefined);
    });
});
