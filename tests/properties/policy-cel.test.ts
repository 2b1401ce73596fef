/** What expressions mean is our own; where the library that parses them has an opinion too, it is the same. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { Environment } from "@marcbachmann/cel-js";
import fc from "fast-check";
import type { Json } from "../../src/kernel/json.ts";
import { compileOverArguments } from "../../src/policy/expression/expression.ts";

const environment = new Environment({ unlistedVariablesAreDyn: true });

/** Doubles on both sides, and no division: we have no other numbers, and one that is infinite or none is an error here. */
const number = fc.oneof(
  fc.constantFrom("0.0", "1.0", "2.5", "-3.0", "1000.0"),
  fc.constantFrom("args.a", "args.b", "args.missing", "args.text"),
);
const text = fc.oneof(
  fc.constantFrom('""', '"a"', '"abc"', '"é🙂"', '"1"'),
  fc.constantFrom("args.text", "args.deep.text", "args.a"),
);
const list = fc.constantFrom("args.list", "[1.0, 2.0]", '["a", "b"]', "args.text");

const { condition } = fc.letrec<{ condition: string }>((tie) => ({
  condition: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    fc.constantFrom(
      "true",
      "false",
      "args.yes",
      "args.a",
      "has(args.a)",
      "has(args.missing)",
      "has(args.deep.text)",
    ),
    fc
      .tuple(number, fc.constantFrom("<", "<=", ">", ">=", "==", "!="), number)
      .map((parts) => parts.join(" ")),
    fc
      .tuple(number, fc.constantFrom("+", "-", "*"), number, number)
      .map(([a, operator, b, c]) => `${a} ${operator} ${b} > ${c}`),
    fc.tuple(text, fc.constantFrom("==", "!="), text).map((parts) => parts.join(" ")),
    fc
      .tuple(text, fc.constantFrom("startsWith", "endsWith", "contains"), text)
      .map(([a, name, b]) => `${a}.${name}(${b})`),
    fc.tuple(text, text, text).map(([a, b, c]) => `${a} + ${b} == ${c}`),
    fc.tuple(fc.oneof(number, text), list).map(([one, many]) => `${one} in ${many}`),
    fc
      .tuple(list, fc.constantFrom("exists", "all", "exists_one"), number)
      .map(([many, name, than]) => `${many}.${name}(x, x > ${than})`),
    tie("condition").map((one) => `!(${one})`),
    fc
      .tuple(tie("condition"), fc.constantFrom("&&", "||"), tie("condition"))
      .map(([a, operator, b]) => `(${a}) ${operator} (${b})`),
    fc
      .tuple(tie("condition"), tie("condition"), tie("condition"))
      .map(([a, b, c]) => `(${a}) ? (${b}) : (${c})`),
  ),
}));

const args = fc.record(
  {
    a: fc.constantFrom(-1, 0, 1, 2.5, 1000),
    b: fc.constantFrom(0, 7, 1e9),
    yes: fc.boolean(),
    text: fc.constantFrom("", "a", "abc", "é🙂"),
    deep: fc.record({ text: fc.constantFrom("abc", "x") }, { requiredKeys: [] }),
    list: fc.array(fc.constantFrom(1, 2, 3), { maxLength: 3 }),
  },
  { requiredKeys: ["a", "text", "list"] },
);

const FAILED = "an error";

function byLibrary(expression: string, given: Json): unknown {
  try {
    const value: unknown = environment.parse(expression)({ args: given });
    return typeof value === "boolean" ? value : FAILED;
  } catch {
    return FAILED;
  }
}

function byUs(expression: string, given: Json): unknown {
  const compiled = compileOverArguments(expression, "bool", null);
  if (!compiled.ok) return FAILED;
  try {
    return compiled.evaluate(given);
  } catch {
    return FAILED;
  }
}

describe("an expression", () => {
  test("is true, false or an error exactly where the CEL library says so", () => {
    const seen = new Map<unknown, number>();
    fc.assert(
      fc.property(condition, args, (expression, given) => {
        const expected = byLibrary(expression, given as Json);
        seen.set(expected, (seen.get(expected) ?? 0) + 1);
        assert.equal(byUs(expression, given as Json), expected, expression);
      }),
      { numRuns: Number(process.env["FC_RUNS"] ?? 5_000) },
    );
    for (const answer of [true, false, FAILED]) assert.ok((seen.get(answer) ?? 0) > 100, String(answer));
  });
});

const many = Array.from({ length: 1_200 }, (_, index) => index);

/** Why policies are not evaluated by the library: docs/decisions/0033-the-evaluator-stays.md. */
const APART: readonly {
  readonly what: string;
  readonly text: string;
  readonly given: string;
  readonly library: unknown;
  readonly ours: unknown;
}[] = [
  {
    what: "reads what an object inherits",
    ...{ text: 'args == {"x": 1.0}', given: '{"__proto__": {}}', library: true, ours: false },
  },
  {
    what: "cannot read an object with the key constructor",
    ...{ text: "args.a > 5.0", given: '{"a": 6, "constructor": 1}', library: FAILED, ours: true },
  },
  {
    what: "leaves keys out of an object",
    ...{ text: '{"constructor": 1.0} == {}', given: "{}", library: true, ours: false },
  },
  {
    what: "goes on after a division by zero",
    ...{ text: "args.a / args.b > 5.0", given: '{"a": 1, "b": 0}', library: true, ours: FAILED },
  },
  {
    what: "goes on with a number that is not finite",
    ...{ text: "args.a * args.a > 5.0", given: '{"a": 1e200}', library: true, ours: FAILED },
  },
  {
    what: "does not add a whole number to a number of JSON",
    ...{ text: "args.a + 1 > 5", given: '{"a": 5}', library: FAILED, ours: true },
  },
  {
    what: "divides counts without a remainder",
    ...{ text: "size(args.l) / size(args.k) > 1", given: '{"l": [1, 2, 3], "k": [1, 2]}' },
    ...{ library: false, ours: true },
  },
  {
    what: "follows a pattern by going back in the text",
    ...{ text: 'args.t.matches("(?=a)a")', given: '{"t": "a"}', library: true, ours: FAILED },
  },
  {
    what: "goes through a list for each item of a list, without a limit",
    ...{ text: "args.l.all(x, args.l.all(y, x >= 0.0))", given: JSON.stringify({ l: many }) },
    ...{ library: true, ours: FAILED },
  },
];

describe("the library's evaluator", () => {
  for (const { what, text: expression, given, library, ours } of APART)
    test(what, () => {
      const found = JSON.parse(given) as Json;
      assert.equal(byLibrary(expression, found), library, "the library");
      assert.equal(byUs(expression, found), ours, "ours");
    });
});
