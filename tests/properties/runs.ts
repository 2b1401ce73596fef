/** What the properties share: how often they are tried, and any value that JSON can hold. */
import * as fc from "fast-check";
import type { Json, JsonObject } from "../../src/kernel/json.ts";

/** `FC_RUNS` if set (the long run), otherwise what fits the gate. */
export function runs(usual: number): { readonly numRuns: number } {
  const asked = Number(process.env["FC_RUNS"]);
  return { numRuns: Number.isInteger(asked) && asked > 0 ? asked : usual };
}

const text = fc.string({ unit: "grapheme", maxLength: 12 });
const key = text.filter((name) => !/^(__proto__$|\$artifact|\$secret)/.test(name));
const number = fc
  .oneof(fc.maxSafeInteger(), fc.double({ noNaN: true, min: -1e9, max: 1e9 }))
  .map((value) => (value === 0 ? 0 : value));

const { tree } = fc.letrec<{ tree: Json }>((tie) => ({
  tree: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    fc.constant(null),
    fc.boolean(),
    number,
    text,
    fc.array(tie("tree"), { maxLength: 4 }),
    fc.dictionary(key, tie("tree"), { maxKeys: 4, noNullPrototype: true }),
  ),
}));

export const anyJson: fc.Arbitrary<Json> = tree;
export const anyObject: fc.Arbitrary<JsonObject> = fc.dictionary(key, tree, {
  maxKeys: 5,
  noNullPrototype: true,
});
