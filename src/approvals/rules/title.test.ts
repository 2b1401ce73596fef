import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { Json } from "../../kernel/json.ts";
import { actionTitle, titleFault, titleInRow } from "./title.ts";

const REFUND = "Refund {amount_usd} to {customer}";

test("a template is filled with the arguments as they are", () => {
  assert.equal(actionTitle("refund", REFUND, { amount_usd: 900, customer: "Ann" }), "Refund 900 to Ann");
  assert.equal(actionTitle("refund", REFUND, { amount_usd: 40, customer: "Bob" }), "Refund 40 to Bob");
  const nested = { to: { name: "Ann" }, lines: [{ sku: "a-1" }, { sku: "b-2" }] };
  assert.equal(actionTitle("t", "{to.name}: {lines.1.sku}, {lines}", nested), "Ann: b-2, [2 items]");
  assert.equal(actionTitle("t", "{{a}} {{{a}}}", { a: 1 }), "{a} {1}");
  assert.equal(actionTitle("t", "{a} {b} {c}", { a: true, b: null, c: "" }), 'true null ""');
});

test("a field that is missing or has no short form is shown by its name", () => {
  const args = { whole: { a: 1 }, one: [1] };
  assert.equal(actionTitle("t", "{gone} {whole} {whole.b} {one}", args), "{gone} {whole} {whole.b} [1 item]");
  for (const path of ["constructor", "__proto__", "toString", "one.length", "one.at", "whole.a.b"])
    assert.equal(actionTitle("t", `{${path}}`, args), `{${path}}`);
  assert.equal(actionTitle("t", "{a}", { $artifact: "sha256:0", bytes: 90_000 }), "{a}");
});

test("a secret is named, never shown", () => {
  const args = { token: { $secret: "env:STRIPE_KEY" }, id: 7 };
  assert.equal(actionTitle("t", "Use {token}", args), "Use secret env:STRIPE_KEY");
  assert.equal(actionTitle("t", undefined, args), "t: id 7");
});

test("without a template: the name, an amount, and who or where", () => {
  const titles: readonly (readonly [Json, string])[] = [
    [{ customer: "Ann", amount_usd: 900, note: "late" }, "refund: amount_usd 900, customer Ann"],
    [{ unitPrice: 3, amount: 900, userId: 7, zone: "x" }, "refund: amount 900, userId 7"],
    [{ body: "hello", subject: "Hi", to: "ann@example.com" }, "refund: to ann@example.com, subject Hi"],
    [{ total: 5, cost: 2, a: true }, "refund: total 5, cost 2"],
    [{ z: 1, b: "x", a: [1], c: null, d: "" }, "refund: b x, z 1"],
    [{ tomorrow: 1, identity: 2 }, "refund: identity 2, tomorrow 1"],
    [{ only: { deep: 1 } }, "refund"],
    [{}, "refund"],
    [null, "refund"],
    [[1, 2], "refund: [2 items]"],
    ["text", "refund: text"],
    [{ $artifact: "sha256:00", bytes: 90_000 }, "refund"],
  ];
  for (const [args, title] of titles) assert.equal(actionTitle("refund", undefined, args), title);
  assert.equal(
    actionTitle("refund", undefined, { customer: 'Ann, amount_usd "5"', amount_usd: 900 }),
    'refund: amount_usd 900, customer "Ann, amount_usd \\"5\\""',
  );
});

test("values are visible and cut, between characters and never within an escape", () => {
  const shown = (customer: string) => actionTitle("refund", "To {customer}.", { customer });
  assert.equal(shown("a\u001b[31mb"), "To a\\u001b[31mb.");
  assert.equal(shown("a\r\nBcc: x\u202eb\u200b"), "To a\\r\\nBcc: x\\u202eb\\u200b.");
  assert.equal(shown("a\\nb"), "To a\\\\nb.");
  assert.equal(shown("x".repeat(1_000_000)), `To ${"x".repeat(39)}….`);
  assert.equal(shown(`${"x".repeat(37)}\u202e\u202e`), `To ${"x".repeat(37)}….`);
  assert.equal(shown("😀".repeat(30)), `To ${"😀".repeat(19)}….`);
  const long = actionTitle(
    "t",
    "{a} {b} {c} {d}",
    Object.fromEntries("abcd".split("").map((n) => [n, "y".repeat(50)])),
  );
  assert.equal(long.length, 120);
  assert.ok(long.endsWith("y…"));
});

const anyText = fc.oneof(
  fc.string({ unit: "binary", maxLength: 300 }),
  fc.constantFrom(
    "\u001b]8;;x\u0007",
    "\u202e",
    "a\nb",
    "\ud800",
    "{",
    "}}",
    "\u0301\u0301\u0301\u0301",
    "…",
    "\\",
  ),
);
const anyArgs = fc.oneof(fc.jsonValue(), fc.dictionary(anyText, fc.oneof(anyText, fc.jsonValue())));
const HIDDEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u;

test("no arguments, template or name make a title that is long, hides anything or throws", () => {
  const isSafe = (title: string): boolean => title !== "" && title.length <= 120 && !HIDDEN.test(title);
  fc.assert(
    fc.property(
      fc.string({ minLength: 1 }),
      fc.option(anyText, { nil: undefined }),
      anyArgs,
      (tool, template, args) => isSafe(actionTitle(tool, template, args as Json)),
    ),
    { numRuns: 2_000 },
  );
  fc.assert(fc.property(anyText, (args) => isSafe(titleInRow({ tool: "t", args }))));
  const fill = fc.property(anyText, (text) => isSafe(actionTitle("t", "{a}, {a.b}, {a.0}", { a: text })));
  fc.assert(fill);
});

test("a row without a title gets it from the beginning of its arguments", () => {
  const row = (args: string, more = {}) => titleInRow({ tool: "refund", args, ...more });
  assert.equal(row('{"amount_usd":900,"customer":"Ann"}'), "refund: amount_usd 900, customer Ann");
  assert.equal(
    row('{"amount_usd":900,"customer":"Ann","note":"a, b… (400 characters)'),
    "refund: amount_usd 900, customer Ann",
  );
  assert.equal(
    row('{"amount_usd":900,"in":{"a":1,"customer":"Ann","note":"x… (400 characters)'),
    "refund: amount_usd 900",
  );
  assert.equal(row('{"amount_usd":9… (400 characters)'), "refund");
  assert.equal(row("[1,2,3… (400 characters)"), "refund");
  assert.equal(row("{}", { title: "Refund 900" }), "Refund 900");
  assert.equal(row('{"a":1}', { about: "checkpoint" }), "refund");
});

const CLOSED = {
  type: "object",
  properties: {
    amount_usd: { type: "number" },
    to: { type: "object", properties: { name: { type: "string" } }, additionalProperties: false },
    any: {},
  },
  additionalProperties: false,
};

test("a template is refused if it cannot be filled", () => {
  const faults: readonly (readonly [unknown, RegExp])[] = [
    ["", /empty/],
    ["  ", /empty/],
    [5, /not a text/],
    ["\ud800", /not a text/],
    ["x".repeat(201), /201 characters: it has at most 200/],
    ["Refund {amount", /single \{: write \{\{/],
    ["Refund amount}", /single \}: write \}\}/],
    ["{a{b}}", /single \{/],
    ["{}", /names no field/],
    ["{a..b}", /names no field/],
    ["{amount}", /\{amount\}, a field that its input does not have/],
    ["{to.mail}", /\{to\.mail\}, a field/],
  ];
  for (const [template, fault] of faults) assert.match(titleFault(template, CLOSED) ?? "", fault);
  for (const template of ["{amount_usd} to {to.name}", "{{}} {any.thing}", "plain", "x".repeat(200)])
    assert.equal(titleFault(template, CLOSED), undefined);
});

test("only a schema that is closed says that a field is not there", () => {
  const open = { type: "object", properties: { a: {} } };
  for (const schema of [null, true, {}, open, { ...CLOSED, anyOf: [] }, { ...CLOSED, patternProperties: {} }])
    assert.equal(titleFault("{other}", schema), undefined);
});
