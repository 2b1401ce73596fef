import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { canonicalJson } from "./canonical-json.ts";
import { HoldpointError, isHoldpointError } from "./errors.ts";
import { parseJson } from "./json.ts";

test("valid JSON is read as JSON.parse reads it", () => {
  const texts = [
    "null",
    " true ",
    "\t-12.5e-3\r\n",
    '""',
    '"\\u00e9\\n\\/\\"\\\\"',
    '"\\ud83d\\ude00"',
    "[]",
    "{ }",
    '[ 1 , [ ] , { "a" : { } } ]',
    '{"constructor":1,"toString":{"prototype":2},"":0}',
    "9007199254740991",
    "1E2",
    '"\u2028\u007f"',
  ];
  for (const text of texts) assert.deepEqual(parseJson(text), JSON.parse(text), text);
  assert.ok(Object.is(parseJson("-0"), 0));
});

test("everything two parsers could read differently is refused with its place", () => {
  const refusals: [string, RegExp, number][] = [
    ["", /an early end/, 0],
    ["\ufeff{}", /byte order mark/, 0],
    ['{"a":1,"b":2,"a":3}', /the key "a" for the second time/, 13],
    ['{"a":1,"\\u0061":3}', /the key "a" for the second time/, 7],
    ['{"__proto__":{}}', /reserved key "__proto__"/, 1],
    ['{"\\u005f_proto__":{}}', /reserved key/, 1],
    ['["\ud800"]', /half a surrogate pair/, 2],
    ['["\\ud800"]', /half a surrogate pair/, 1],
    ['["\\udc00\\ud800"]', /half a surrogate pair/, 1],
    ["[9007199254740993]", /integer beyond/, 1],
    ["[9007199254740992.0]", /integer beyond/, 1],
    ["1e20", /integer beyond/, 0],
    ["1e999", /too large/, 0],
    ["{} x", /after the end/, 3],
    ["1 2", /after the end/, 2],
    ["01", /after the end/, 1],
    ["[1,]", /not JSON/, 3],
    ["[1 2]", /neither a comma/, 3],
    ["[1", /neither a comma/, 2],
    ['{"a" 1}', /no colon/, 5],
    ['{"a":1,}', /no key/, 7],
    ["{a:1}", /no key/, 1],
    ['"a', /closing quote/, 0],
    ['"a\tb"', /control character/, 2],
    ['"\\x"', /escapes nothing/, 1],
    ['"\\u12"', /escapes nothing/, 1],
    ["nul", /not JSON/, 0],
    ["NaN", /not JSON/, 0],
    ["-", /not JSON/, 0],
    [".5", /not JSON/, 0],
    ["+1", /not JSON/, 0],
    ["'a'", /not JSON/, 0],
    ["\u00a01", /not JSON/, 0],
    ["[1] // no", /after the end/, 4],
  ];
  for (const [text, message, offset] of refusals) {
    const fits = (error: unknown) =>
      isHoldpointError(error, "invalid_json") &&
      message.test(error.message) &&
      error.details["offset"] === offset;
    assert.throws(() => parseJson(text), fits, text);
  }
});

test("an error names line and column", () => {
  assert.throws(
    () => parseJson('{\n  "a": 1,\n  "a": 2\n}'),
    (error) =>
      error instanceof HoldpointError && error.details["line"] === 3 && error.details["column"] === 3,
  );
});

test("64 levels are read, 65 and a million are refused", () => {
  const nested = (depth: number) => "[".repeat(depth) + "]".repeat(depth);
  assert.equal(canonicalJson(parseJson(nested(64))), nested(64));
  for (const depth of [65, 1_000_000]) assert.throws(() => parseJson(nested(depth)), /more than 64 levels/);
  assert.throws(() => parseJson('{"a":'.repeat(70)), /more than 64 levels/);
});

test("time grows with length alone", () => {
  const wide = `{${Array.from({ length: 100_000 }, (_, at) => `"k${at}":"\\n${"x".repeat(20)}"`).join()}}`;
  assert.equal(Object.keys(Object(parseJson(wide))).length, 100_000);
  assert.equal(parseJson(`"${"\\\\".repeat(500_000)}"`), "\\".repeat(500_000));
  assert.throws(() => parseJson(`"${"\\\\".repeat(500_000)}`), /closing quote/);
});

test("no payload reaches Object.prototype", () => {
  const names = ["__proto__", "constructor", "prototype", "toString", "a"];
  const before = JSON.stringify(Object.getOwnPropertyNames(Object.prototype));
  const path = fc.array(fc.constantFrom(...names), { minLength: 1, maxLength: 5 });
  fc.assert(
    fc.property(path, (keys) => {
      const text = keys.reduceRight((inner, key) => `{${JSON.stringify(key)}:${inner}}`, '"polluted"');
      try {
        parseJson(text);
      } catch (error) {
        assert.ok(keys.includes("__proto__") && error instanceof HoldpointError);
      }
      assert.equal(Object.hasOwn({}, "a") || Reflect.has({}, "a"), false);
    }),
    { numRuns: 10_000 },
  );
  assert.equal(JSON.stringify(Object.getOwnPropertyNames(Object.prototype)), before);
});

test("what it accepts, JSON.parse accepts with the same value, and the canonical form is stable", () => {
  const pieces = fc.constantFrom(
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    '"',
    "\\",
    "u00",
    "d83d",
    "1",
    "-",
    "0",
    ".",
    "e",
    "null",
    " ",
    '"a"',
    "\ud800",
    "é",
    "\n",
  );
  const damaged = fc.tuple(fc.json(), fc.nat(), fc.nat(3), fc.string()).map(([text, at, cut, put]) => {
    const start = at % (text.length + 1);
    return text.slice(0, start) + put + text.slice(start + cut);
  });
  const texts = fc.oneof(
    fc.json(),
    damaged,
    fc.array(pieces, { maxLength: 12 }).map((parts) => parts.join("")),
  );
  fc.assert(
    fc.property(texts, (text) => {
      let value: unknown;
      try {
        value = parseJson(text);
      } catch (error) {
        assert.ok(error instanceof HoldpointError);
        return;
      }
      assert.equal(canonicalJson(value), canonicalJson(JSON.parse(text)));
      assert.equal(canonicalJson(parseJson(canonicalJson(value))), canonicalJson(value));
    }),
    { numRuns: 10_000 },
  );
});
