import assert from "node:assert/strict";
import { describe, test } from "node:test";
import * as fc from "fast-check";
import { canonicalJson } from "../../kernel/canonical-json.ts";
import type { Json, JsonObject } from "../../kernel/json.ts";
import { STEPS_PER_VERDICT } from "../expression/values.ts";
import { isRepeat, isSameIgnoringSpace } from "./limits.ts";
import type { PastCall, PolicyInput } from "./verdict.ts";

/** Word for word: every text with its white space evened out, and both as canonical JSON. */
function evened(value: Json): Json {
  if (typeof value === "string") return value.trim().replace(/\s+/g, " ");
  if (Array.isArray(value)) return value.map(evened);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value as JsonObject).map(([name, part]) => [name, evened(part)]));
}

const text = fc
  .array(fc.constantFrom("a", "b", " ", "\n", "\u00a0", "\u2003", "\u0085", "\ufeff", "é"), { maxLength: 6 })
  .map((parts) => parts.join(""));
const { tree } = fc.letrec<{ tree: Json }>((tie) => ({
  tree: fc.oneof(
    { depthSize: "small" },
    text,
    fc.constantFrom(null, true, 0, -0, 1),
    fc.array(tie("tree"), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom("a", "b", " a"), tie("tree"), { maxKeys: 3, noNullPrototype: true }),
  ),
}));

describe("two calls are the same", () => {
  test("if their arguments are, white space aside: as their texts say", () => {
    const property = fc.property(tree, tree, (one, other) => {
      const wanted = canonicalJson(evened(one)) === canonicalJson(evened(other));
      assert.equal(isSameIgnoringSpace(one, other, { left: STEPS_PER_VERDICT }), wanted);
    });
    void fc.assert(property, { numRuns: 3_000 });
  });
});

const CALLS = 1_000;
const counts = { toolCalls: 9_999, calls: 9_999, repeats: 1 };

function looked(textOf: (n: number) => string) {
  const meter = { left: STEPS_PER_VERDICT };
  const calls = Array.from({ length: CALLS }, (_, n) => ({ tool: "save", args: { text: textOf(n) } }));
  const input = { tool: "save", args: { text: textOf(CALLS) }, effectClass: "once" };
  const blocked = isRepeat(
    input as unknown as PolicyInput,
    counts,
    calls as unknown as readonly PastCall[],
    meter,
  );
  return { blocked, taken: STEPS_PER_VERDICT - meter.left };
}

const LARGE = "word ".repeat(12_000);

describe("to look for the same call among a thousand of large arguments", () => {
  test("takes few steps where they differ early", () => {
    const { blocked, taken } = looked((n) => `${n}: ${LARGE}`);
    assert.equal(blocked, undefined);
    assert.ok(taken < 50_000, `${taken} steps`);
  });

  test("ends with the steps of a verdict where they differ late, and what is not found out is blocked", () => {
    for (const end of [(n: number) => `${n}`, (n: number) => " ".repeat(n)]) {
      const { blocked } = looked((n) => `${LARGE}${end(n)}x`);
      assert.equal(blocked?.rule, "limit:repeats");
      assert.match(blocked?.reason ?? "", /cannot be found out: the policy takes more than \d+ steps/);
    }
  });
});
