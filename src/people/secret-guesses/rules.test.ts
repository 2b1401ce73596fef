import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  ALLOWED_CHARACTERS,
  ALLOWED_WITHIN_MS,
  type Allowance,
  charge,
  giveBackWrongGuess,
  isAllowanceWhole,
  NOTHING_SPENT,
  newCharacters,
  RIGHT_GUESS_COST,
} from "./rules.ts";

const NOW = 1_800_000_000_000;

function charged(allowance: Allowance, characters: number, now = NOW): Allowance {
  const answer = charge(allowance, characters, now);
  assert.ok(answer.kind === "charged", answer.kind);
  return answer.allowance;
}

describe("what somebody may write about actions with secrets", () => {
  test("is used up by ten right guesses, wherever they were written", () => {
    let allowance = NOTHING_SPENT;
    for (let guess = 0; guess < 10; guess++) allowance = charged(allowance, 0);
    assert.deepEqual(charge(allowance, 0, NOW), { kind: "too_soon", waitMs: ALLOWED_WITHIN_MS / 10 });
  });

  test("is used up by wrong guesses too, as many as were written", () => {
    let allowance = NOTHING_SPENT;
    for (let text = 0; text < 5; text++) allowance = giveBackWrongGuess(charged(allowance, 10_000));
    assert.equal(charge(allowance, 10_000, NOW).kind, "too_soon");
    charged(allowance, ALLOWED_CHARACTERS - 50_000 - RIGHT_GUESS_COST);
  });

  test("comes back within an hour, and never more than that", () => {
    const allowance = charged(NOTHING_SPENT, 54_000);
    const answer = charge(allowance, 10_000, NOW);
    assert.ok(answer.kind === "too_soon");
    charged(allowance, 10_000, NOW + answer.waitMs);
    assert.equal(charge(allowance, 10_000, NOW + answer.waitMs - 100).kind, "too_soon");
    assert.equal(isAllowanceWhole(allowance, NOW + ALLOWED_WITHIN_MS), true);
    assert.equal(charged(allowance, 1, NOW + 9 * ALLOWED_WITHIN_MS).spent, 1 + RIGHT_GUESS_COST);
  });

  test("has no room for a text of which nobody could wait for the rest", () => {
    assert.deepEqual(charge(NOTHING_SPENT, 400_000, NOW), { kind: "too_long", most: 54_000 });
  });
});

describe("what is new in a value", () => {
  const args = { to: "Ann", body: "x".repeat(5_000), lines: ["one thing", "another thing"], n: 1 };

  test("is what was not there before, and what was typed since", () => {
    assert.equal(newCharacters(args, [args]), 0);
    const typed = { ...args, body: `${args.body} and a word` };
    assert.equal(newCharacters(typed, [args]), " and a word".length + 16);
    const more = { ...typed, body: `${typed.body}s` };
    assert.equal(newCharacters(more, [args, typed]), 1 + 16);
  });

  test("does not count what only moved, and counts names of fields and numbers", () => {
    assert.equal(newCharacters({ ...args, lines: ["another thing"] }, [args]), 0);
    assert.equal(newCharacters({ ...args, n: 123_456 }, [args]), 6);
    assert.equal(newCharacters({ ...args, "739154": null }, [args]), 6);
    assert.equal(newCharacters({ ...args, lines: [{ deep: "739154" }] }, [args]), 10);
    assert.equal(newCharacters("739154", [args]), 6);
  });
});
