import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { canonicalJson } from "./canonical-json.ts";
import { HoldpointError, isHoldpointError } from "./errors.ts";
import { parseJson } from "./json.ts";

const double = (hex: string): number => Buffer.from(hex, "hex").readDoubleBE();

test("numbers are written as in the table of RFC 8785, appendix B", () => {
  const table: [string, string][] = [
    ["0000000000000000", "0"],
    ["8000000000000000", "0"],
    ["0000000000000001", "5e-324"],
    ["8000000000000001", "-5e-324"],
    ["4340000000000001", "9007199254740994"],
    ["4430000000000000", "295147905179352830000"],
    ["44b52d02c7e14af5", "9.999999999999997e+22"],
    ["44b52d02c7e14af6", "1e+23"],
    ["44b52d02c7e14af7", "1.0000000000000001e+23"],
    ["444b1ae4d6e2ef4e", "999999999999999700000"],
    ["444b1ae4d6e2ef4f", "999999999999999900000"],
    ["444b1ae4d6e2ef50", "1e+21"],
    ["3eb0c6f7a0b5ed8c", "9.999999999999997e-7"],
    ["3eb0c6f7a0b5ed8d", "0.000001"],
    ["41b3de4355555553", "333333333.3333332"],
    ["41b3de4355555554", "333333333.33333325"],
    ["41b3de4355555555", "333333333.3333333"],
    ["41b3de4355555556", "333333333.3333334"],
    ["41b3de4355555557", "333333333.33333343"],
    ["becbf647612f3696", "-0.0000033333333333333333"],
    ["43143ff3c1cb0959", "1424953923781206.2"],
    ["7fefffffffffffff", "1.7976931348623157e+308"],
  ];
  for (const [hex, text] of table) {
    const value = double(hex);
    if (Number.isInteger(value) && !Number.isSafeInteger(value)) {
      assert.equal(String(value), text);
      assert.throws(() => canonicalJson(value), /beyond the integers/);
    } else assert.equal(canonicalJson(value), text);
  }
});

test("the examples of RFC 8785, sections 3.2.2 and 3.2.3", () => {
  const first = {
    numbers: [333333333.3333333, 4.5, 2e-3, 0.000000000000000000000000001],
    string: "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"/",
    literals: [null, true, false],
  };
  assert.equal(
    canonicalJson(first),
    '{"literals":[null,true,false],"numbers":[333333333.3333333,4.5,0.002,1e-27],"string":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}',
  );
  const keys = {
    "\u20ac": "Euro Sign",
    "\r": "Carriage Return",
    "\ufb33": "Hebrew Letter Dalet With Dagesh",
    "1": "One",
    "\u{1f600}": "Emoji: Grinning Face",
    "\u0080": "Control",
    "\u00f6": "Latin Small Letter O With Diaeresis",
  };
  const values = [...canonicalJson(keys).matchAll(/:"([^"]*)"/g)].map((match) => match[1]);
  assert.deepEqual(values, [
    "Carriage Return",
    "One",
    "Control",
    "Latin Small Letter O With Diaeresis",
    "Euro Sign",
    "Emoji: Grinning Face",
    "Hebrew Letter Dalet With Dagesh",
  ]);
});

test("what JSON cannot hold exactly is refused, and the place is named", () => {
  const loop: Record<string, unknown> = { name: "loop" };
  loop["again"] = [loop];
  const refusals: [unknown, RegExp][] = [
    [Number.NaN, /at \$ is NaN/],
    [{ a: [1, 2, 3, { b: Number.POSITIVE_INFINITY }] }, /at \$\.a\[3\]\.b is Infinity/],
    [{ n: 2 ** 53 }, /at \$\.n is 9007199254740992, beyond .* send a string/],
    ["\ud800", /at \$ is text with half a surrogate pair/],
    [{ "\udc00": 1 }, /half a surrogate pair/],
    [undefined, /at \$ is undefined/],
    [[1, undefined], /at \$\[1\] is undefined/],
    [Object.assign(new Array(3), [1]), /at \$\[1\] is a hole/],
    [{ big: 10n }, /at \$\.big is a bigint; send a string/],
    [{ run: () => 1 }, /at \$\.run is a function/],
    [{ id: Symbol("a") }, /at \$\.id is a symbol/],
    [{ at: new Date(0) }, /at \$\.at is a Date; send a string/],
    [new Map(), /is a Map; send an object/],
    [new Set(), /is a Set; send an array/],
    [{ "two words": Buffer.from("a") }, /at \$\["two words"\] is binary data; send base64/],
    [Promise.resolve(1), /is a Promise; await it/],
    [/a/, /is an instance of RegExp; send plain data/],
    [Object("boxed"), /is an instance of String/],
    [JSON.parse('{"a":{"__proto__":1}}'), /at \$\.a has the reserved key "__proto__"/],
    [
      {
        list: [
          {
            get secret() {
              return 1;
            },
          },
        ],
      },
      /at \$\.list\[0\]\.secret is computed by a getter/,
    ],
    [{ a: loop }, /at \$\.a(\.again)? contains itself/],
  ];
  for (const [value, message] of refusals) {
    assert.throws(
      () => canonicalJson(value),
      (error) => isHoldpointError(error, "invalid_json") && message.test(error.message),
      String(message),
    );
  }
});

test("undefined properties are left out, plain objects without a prototype and of another realm are taken", async () => {
  const { runInNewContext } = await import("node:vm");
  assert.equal(canonicalJson({ b: undefined, a: -0 }), '{"a":0}');
  assert.equal(canonicalJson(Object.assign(Object.create(null), { a: 1 })), '{"a":1}');
  assert.equal(canonicalJson(runInNewContext("({ b: [1], a: {} })")), '{"a":{},"b":[1]}');
});

const nested = (depth: number): unknown =>
  Array.from({ length: depth }).reduce<unknown>((inner) => [inner], 1);

test("64 levels are written, 65 and 100,000 are refused; so is text without end", () => {
  assert.equal(canonicalJson(nested(64)), `${"[".repeat(64)}1${"]".repeat(64)}`);
  for (const depth of [65, 100_000])
    assert.throws(() => canonicalJson(nested(depth)), /deeper than 64 levels/);
  const doubled = Array.from({ length: 40 }).reduce<unknown>(
    (inner) => [inner, inner],
    "0123456789".repeat(1000),
  );
  assert.throws(
    () => canonicalJson(doubled),
    (error) => isHoldpointError(error, "payload_too_large"),
  );
  assert.equal(canonicalJson(Array.from({ length: 200_000 }, () => 1)).length, 400_001);
});

test("whatever is handed in, only a HoldpointError is thrown", () => {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  assert.throws(() => canonicalJson(proxy), HoldpointError);
  fc.assert(
    fc.property(
      fc.anything({
        withBigInt: true,
        withDate: true,
        withMap: true,
        withSparseArray: true,
        withNullPrototype: true,
      }),
      (value) => {
        try {
          assert.equal(typeof canonicalJson(value), "string");
        } catch (error) {
          assert.ok(error instanceof HoldpointError);
        }
      },
    ),
    { numRuns: 2000 },
  );
});

/** Numbers and strings written a second time, from the RFC's words and without the engine's own serialiser. */
function secondNumber(value: number): string {
  if (value === 0) return "0";
  const sign = value < 0 ? "-" : "";
  const [mantissa = "", exponent = ""] = Math.abs(value).toExponential().split("e");
  const digits = mantissa.replace(".", "");
  const point = Number(exponent) + 1;
  if (point > 0 && point <= 21) {
    const padded = digits.padEnd(point, "0");
    return sign + padded.slice(0, point) + (padded.length > point ? `.${padded.slice(point)}` : "");
  }
  if (point <= 0 && point > -6) return `${sign}0.${"0".repeat(-point)}${digits}`;
  const rest = digits.length > 1 ? `.${digits.slice(1)}` : "";
  return `${sign}${digits[0]}${rest}e${point > 0 ? "+" : "-"}${Math.abs(point - 1)}`;
}

const SHORT: Readonly<Record<string, string>> = {
  "\b": "\\b",
  "\t": "\\t",
  "\n": "\\n",
  "\f": "\\f",
  "\r": "\\r",
  '"': '\\"',
  "\\": "\\\\",
};

function secondString(value: string): string {
  const written = Array.from({ length: value.length }, (_, at) => {
    const unit = value.charAt(at);
    const code = value.charCodeAt(at);
    return SHORT[unit] ?? (code < 0x20 ? `\\u${code.toString(16).padStart(4, "0")}` : unit);
  });
  return `"${written.join("")}"`;
}

function second(value: unknown): string {
  if (typeof value === "number") return secondNumber(value);
  if (typeof value === "string") return secondString(value);
  if (Array.isArray(value)) return `[${value.map(second).join(",")}]`;
  if (typeof value !== "object" || value === null) return `${value}`;
  const members = Object.entries(value).sort(([a], [b]) => Buffer.compare(utf16(a), utf16(b)));
  return `{${members.map(([key, item]) => `${secondString(key)}:${second(item)}`).join(",")}}`;
}

const utf16 = (text: string): Buffer => Buffer.from(text, "utf16le").swap16();

const exact = (value: number): boolean =>
  Number.isFinite(value) && (!Number.isInteger(value) || Number.isSafeInteger(value));
const numbers = fc.oneof(fc.double().filter(exact), fc.maxSafeInteger(), fc.float().filter(exact));
const texts = fc.oneof(fc.string({ unit: "binary" }), fc.string({ unit: "grapheme" }), fc.string());
const keys = texts.filter((key) => key !== "__proto__");
const { tree: values } = fc.letrec((tie) => ({
  tree: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    fc.constantFrom(null, true, false),
    numbers,
    texts,
    tie("list"),
    tie("object"),
  ),
  list: fc.array(tie("tree"), { maxLength: 6 }),
  object: fc.dictionary(keys, tie("tree"), { maxKeys: 24 }),
}));

test("a second implementation agrees, and what was written reads back as it was", () => {
  fc.assert(
    fc.property(values, (value) => {
      const text = canonicalJson(value);
      assert.equal(text, second(value));
      const read = parseJson(text);
      assert.deepEqual(read, JSON.parse(text));
      assert.equal(canonicalJson(read), text);
    }),
    { numRuns: 3000 },
  );
  fc.assert(
    fc.property(fc.double().filter(exact), (value) => canonicalJson(value) === secondNumber(value)),
    { numRuns: 20_000 },
  );
});

test("the order in which keys were written does not matter", () => {
  const shuffled = fc
    .dictionary(keys, numbers, { maxKeys: 40 })
    .chain((object) =>
      fc.tuple(
        fc.constant(object),
        fc.shuffledSubarray(Object.entries(object), { minLength: Object.keys(object).length }),
      ),
    );
  fc.assert(
    fc.property(
      shuffled,
      ([object, entries]) => canonicalJson(Object.fromEntries(entries)) === canonicalJson(object),
    ),
    { numRuns: 1000 },
  );
});
