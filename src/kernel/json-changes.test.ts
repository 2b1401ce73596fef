import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { diffJson, type Json, type JsonChange } from "./json.ts";

type Holder = { [key: string | number]: unknown };

/** The changes, put in at their places; what is taken away goes last, from the end of its list. */
function applied(value: Json, changes: readonly JsonChange[]): unknown {
  let whole: unknown = structuredClone(value);
  const removals: (() => void)[] = [];
  for (const { path, ...change } of changes) {
    const last = path.at(-1);
    if (last === undefined) {
      whole = change.after;
      continue;
    }
    const holder = path.slice(0, -1).reduce<unknown>((at, part) => (at as Holder)[part], whole) as Holder;
    if ("after" in change) Object.defineProperty(holder, last, { ...OPEN, value: change.after });
    else removals.unshift(() => (Array.isArray(holder) ? void holder.pop() : delete holder[last]));
  }
  for (const remove of removals) remove();
  return whole;
}
const OPEN = { enumerable: true, configurable: true, writable: true };

describe("changes", () => {
  test("are none between equal values", () => {
    const value = { amount: 1, to: { name: "Ann" }, lines: [1, [2]] };
    assert.deepEqual(diffJson(value, structuredClone(value)), []);
    assert.deepEqual(diffJson(null, null), []);
  });

  test("name the innermost place, in objects and in lists", () => {
    const before = { amount: 400, to: { name: "Ann", city: "Ulm" }, lines: [{ n: 1 }, { n: 2 }] };
    const after = { amount: 300, to: { name: "Bob", city: "Ulm" }, lines: [{ n: 1 }, { n: 3 }] };
    assert.deepEqual(diffJson(before, after), [
      { path: ["amount"], before: 400, after: 300 },
      { path: ["to", "name"], before: "Ann", after: "Bob" },
      { path: ["lines", 1, "n"], before: 2, after: 3 },
    ]);
  });

  test("tell what was added or taken away from what is null", () => {
    assert.deepEqual(diffJson({ a: null, b: 1 }, { a: 1, c: null }), [
      { path: ["a"], before: null, after: 1 },
      { path: ["b"], before: 1 },
      { path: ["c"], after: null },
    ]);
    assert.deepEqual(diffJson({ list: [1, 2, 3] }, { list: [1] }), [
      { path: ["list", 1], before: 2 },
      { path: ["list", 2], before: 3 },
    ]);
    assert.deepEqual(diffJson([], ["x"]), [{ path: [0], after: "x" }]);
  });

  test("show a value of another kind whole, also the outermost", () => {
    assert.deepEqual(diffJson({ to: ["ann"] }, { to: { 0: "ann" } }), [
      { path: ["to"], before: ["ann"], after: { 0: "ann" } },
    ]);
    assert.deepEqual(diffJson("yes", { answer: "yes" }), [
      { path: [], before: "yes", after: { answer: "yes" } },
    ]);
  });

  test("do not take what every object has for a field of it", () => {
    const own = JSON.parse('{"__proto__": 1, "constructor": 2}') as Json;
    assert.deepEqual(diffJson({}, own), [
      { path: ["__proto__"], after: 1 },
      { path: ["constructor"], after: 2 },
    ]);
  });

  test("make the one value out of the other, whatever they are", () => {
    const json = fc.jsonValue({ maxDepth: 4 }).map((value) => JSON.parse(JSON.stringify(value)) as Json);
    fc.assert(
      fc.property(json, json, (before, after) => {
        assert.deepEqual(applied(before, diffJson(before, after)), after);
      }),
    );
  });
});
