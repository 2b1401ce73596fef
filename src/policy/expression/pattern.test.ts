/** What is used of re2js beside what it promises: another version of it may have it otherwise, and nothing else would say so. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { RE2JS } from "re2js";
import { meterPattern } from "./pattern.ts";

const LEFT = 1_000_000_000;

function taken(pattern: RE2JS, size: number, text: string): number {
  const meter = { left: LEFT };
  meterPattern(pattern, size)(text, meter);
  return LEFT - meter.left;
}

const PATTERNS = [
  "^[a-z]+@example\\.com$",
  "(?i)(password|secret|token)\\s*[:=]",
  "DE[0-9]{20}",
  "[0-9]{13,16}",
  "ä|ö|ü",
];

describe("the automaton of re2js", () => {
  it("is where it is looked for, and paid for by what a text makes of it", () => {
    const text = "x".repeat(10_000);
    for (const source of PATTERNS) {
      const pattern = RE2JS.compile(source);
      const steps = taken(pattern, pattern.programSize(), text);
      assert.ok(steps < 3 * text.length, `${source}: ${steps} steps, as if there were none`);
    }
  });

  it("is what answers: each set of places that a text leads to is counted", () => {
    const pattern = RE2JS.compile("[ab]*a[ab]{50}c$");
    let seed = 1;
    const letter = () => {
      seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
      return seed % 65_536 < 32_768 ? "a" : "b";
    };
    // Without the last letters the library sees at once that it cannot be there.
    const mixed = `${Array.from({ length: 2_000 }, letter).join("")}cd`;
    const steps = taken(pattern, pattern.programSize(), mixed);
    assert.ok(steps > 50 * mixed.length, `${steps} steps`);
  });

  it("is not needed: without it each character pays for the whole pattern", () => {
    const bare = { test: () => true } as unknown as RE2JS;
    assert.equal(taken(bare, 50, "x".repeat(1_000)), 1_000 * 50 * 20);
  });
});
