import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { visible } from "../../../src/core/visible.ts";
import { hiddenRuns } from "./hidden-runs.ts";

const told = (text: string) => hiddenRuns(visible(text)).map(({ kind, text: shown }) => [kind, shown]);
const MILLION = 1_000_000;

describe("characters that cannot be seen", () => {
  test("are told from a text that only looks like them", () => {
    assert.deepEqual(told("a\u200bb \\u200b"), [
      ["plain", "a"],
      ["hidden", "\\u200b"],
      ["plain", "b \\\\u200b"],
    ]);
    assert.deepEqual(told(""), []);
  });

  test("are one piece where they stand side by side, and each is written", () => {
    assert.deepEqual(told("\u202e\u200b\u200b!"), [
      ["hidden", "\\u202e\\u200b\\u200b"],
      ["plain", "!"],
    ]);
  });

  test("are counted where a million of them are alike: nothing is lost", () => {
    assert.deepEqual(told(`a${"\u200b".repeat(MILLION)}\u202e`), [
      ["plain", "a"],
      ["hidden", "\\u200b × 1,000,000 \\u202e"],
    ]);
  });

  test("are told as far as anybody reads where a million of them differ, and the others are counted", () => {
    const [[kind, shown] = [], ...others] = told("\u200b\u200c".repeat(MILLION / 2));
    assert.deepEqual([kind, others], ["hidden", []]);
    assert.match(String(shown), /^(\\u200b \\u200c ){49}\\u200b \\u200c … and 999,900 more, left out here$/);
  });

  test("are written out and counted, and no longer marked, where a million of them stand between letters", () => {
    const pieces = hiddenRuns(visible("a\u200b".repeat(MILLION)));
    assert.equal(pieces.length, 2_001);
    const rest = pieces.at(-1);
    assert.ok(rest?.kind === "rest");
    assert.equal(rest.hidden, MILLION - 1_000);
    assert.equal(rest.text, "a\\u200b".repeat(MILLION - 1_000));
  });
});
