import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Json, JsonObject } from "../../kernel/json.ts";
import { compileOverArguments } from "./expression.ts";
import { PARSE_LIMITS } from "./syntax.ts";

function value(text: string, args: Json = {}): Json {
  const made = compileOverArguments(text, "json", null);
  assert.ok(made.ok, `${text}: ${JSON.stringify(made)}`);
  return made.evaluate(args);
}

function fails(text: string, args: Json = {}): string {
  const made = compileOverArguments(text, "json", null);
  assert.ok(made.ok, `${text}: ${JSON.stringify(made)}`);
  try {
    return `answered ${JSON.stringify(made.evaluate(args))}`;
  } catch (error) {
    return (error as Error).message;
  }
}

function flaws(text: string, schema: JsonObject | null = null): readonly string[] {
  const made = compileOverArguments(text, "bool", schema);
  return made.ok ? [] : made.flaws.map(({ message, at }) => `${at}: ${message}`);
}

function warnings(text: string, schema: JsonObject): readonly string[] {
  const made = compileOverArguments(text, "bool", schema);
  assert.ok(made.ok, JSON.stringify(made));
  return made.warnings.map(({ message, at }) => `${at}: ${message}`);
}

const REFUND: JsonObject = {
  type: "object",
  properties: {
    user_id: { type: "integer" },
    amount_usd: { type: "number" },
    reason: { type: "string" },
    tags: { type: "array", items: { type: "string" } },
    to: { anyOf: [{ type: "string" }, { type: "null" }] },
    card: { type: "object", properties: { country: { type: "string" } }, required: ["country"] },
    meta: { type: "object", additionalProperties: { type: "number" } },
  },
  required: ["user_id", "amount_usd", "tags", "card", "to", "meta"],
  additionalProperties: false,
};

describe("what expressions compute", () => {
  const table: readonly (readonly [string, Json, Json])[] = [
    ["args.n > 1000", { n: 1000.5 }, true],
    ["args.n == 5", { n: 5 }, true],
    ["args.n + 1 == 6.0", { n: 5 }, true],
    ["7 / 2", {}, 3.5],
    ["7 % 4", {}, 3],
    ["-7 % 7", {}, 0],
    ["2 + 3 * 4 - 1", {}, 13],
    ["-args.n", { n: 0 }, 0],
    ["1e3 + 0x10", {}, 1016],
    ["'a' + \"b\" == 'ab'", {}, true],
    ["[1, 2] + [3]", {}, [1, 2, 3]],
    ["{'a': 1, 'b': [true, null]}", {}, { a: 1, b: [true, null] }],
    ["args.list[1]", { list: [4, 5] }, 5],
    ["args['strange key']", { "strange key": 1 }, 1],
    ["args.a.b.c", { a: { b: { c: "x" } } }, "x"],
    ["has(args.a.b)", { a: { b: null } }, true],
    ["has(args.a.b)", { a: {} }, false],
    ["has(args.a.b)", { a: null }, false],
    ["'x' in args", { x: 1 }, true],
    ["'toString' in args", {}, false],
    ["2 in [1, 2]", {}, true],
    ["'2' in [1, 2, 'x']", {}, false],
    ["args == {'b': [1], 'a': 2}", { a: 2, b: [1] }, true],
    ["args.a != args.b", { a: [1, { x: 1 }], b: [1, { x: 2 }] }, true],
    ["null == null", {}, true],
    ["args.n == null", { n: 0 }, false],
    ["true ? 1 : 2", {}, 1],
    ["'b' > 'a' && 'B' < 'a'", {}, true],
    ["size('héé') + size([1, 2]) + size({'a': 1})", {}, 6],
    ["'💶'.size()", {}, 1],
    ["'Holdpoint'.startsWith('Hold') && 'Holdpoint'.endsWith('point')", {}, true],
    ["'Holdpoint'.contains('dpo')", {}, true],
    ["'abcb'.indexOf('b')", {}, 1],
    ["'A-É'.lowerAscii()", {}, "a-É"],
    ["'a-é'.upperAscii()", {}, "A-é"],
    ["' x '.trim()", {}, "x"],
    ["'holdpoint'.substring(4)", {}, "point"],
    ["'holdpoint'.substring(0, 4)", {}, "hold"],
    ["'a,b,c'.split(',')", {}, ["a", "b", "c"]],
    ["['a', 'b'].join('-')", {}, "a-b"],
    ["string(1.5) + string(true)", {}, "1.5true"],
    ["double('1.5') + int('2') + int(2.9) + int(-2.9)", {}, 3.5],
    ["abs(-2) + min(1, 2) + max([1, 5, 3]) + sum([1, 2])", {}, 11],
    ["round(1.005, 2)", {}, 1.01],
    ["round(-2.5)", {}, -3],
    ["round(1e21, 2)", {}, 1e21],
    ["round(1e-7, 2)", {}, 0],
    ["'ab12'.matches('[a-z]+[0-9]+')", {}, true],
    ["'xab'.matches('^a')", {}, false],
    ["matches(args.t, '^a+$')", { t: "aaa" }, true],
    ["[1, 2, 3].all(x, x > 0)", {}, true],
    ["[1, 2, 3].exists(x, x > 2)", {}, true],
    ["[1, 2, 3].exists_one(x, x > 1)", {}, false],
    ["[1, 2, 3].filter(x, x > 1)", {}, [2, 3]],
    ["[1, 2, 3].map(x, x * 2)", {}, [2, 4, 6]],
    ["[1, 2, 3].map(x, x > 1, x * 2)", {}, [4, 6]],
    ["args.all(key, args[key] > 0)", { a: 1, b: 2 }, true],
    ["[[1, 2], [3]].map(x, x.map(y, y + size(x)))", {}, [[3, 4], [4]]],
    ["[].all(x, x)", {}, true],
    ["timestamp('2026-03-01T00:00:00Z') < timestamp('2026-03-01T01:00:00+00:30')", {}, true],
    ["string(timestamp('2026-03-01T00:00:00Z') + duration('1h30m'))", {}, "2026-03-01T01:30:00.000Z"],
    ["(timestamp(60) - timestamp(0)).getSeconds()", {}, 60],
    ["duration('90m') == duration('1.5h') && duration('1h') > duration('59m')", {}, true],
    ["timestamp('2026-03-01T23:30:00Z').getDayOfWeek()", {}, 0],
    ["timestamp('2026-03-01T23:30:00Z').getDayOfWeek('Europe/Berlin')", {}, 1],
    ["timestamp('2026-03-01T23:30:00Z').getHours('Europe/Berlin')", {}, 0],
    ["timestamp('2026-03-01T23:30:00Z').getMonth() + timestamp('2026-03-01T23:30:00Z').getDate()", {}, 3],
  ];
  for (const [text, args, expected] of table) {
    it(`${text} is ${JSON.stringify(expected)}`, () => assert.deepEqual(value(text, args), expected));
  }
});

describe("what cannot be answered", () => {
  const table: readonly (readonly [string, Json, string])[] = [
    ["args.n > 1", {}, 'there is no field "n"'],
    ["args.n > 1", { n: "2" }, "text and a number is nothing"],
    ["args.n > 1", { n: null }, "null and a number is nothing"],
    ["args.n.m", { n: 1 }, 'a number has no field "m"'],
    ["args.list[3]", { list: [1] }, "the list has no item 3"],
    ["args.list[-1]", { list: [1] }, "the list has no item -1"],
    ["args.list[0.5]", { list: [1] }, "the list has no item 0.5"],
    ["args.list.length", { list: [1] }, 'a list has no field "length"'],
    ["args.a / args.b", { a: 1, b: 0 }, "division by zero"],
    ["args.a * args.a", { a: 1e200 }, "the result is not a finite number"],
    ["args.t.contains(args.n)", { t: "a", n: 1 }, "contains does not take text and a number"],
    ["args.x ? 1 : 2", { x: 1 }, "true or false is needed, and this is a number"],
    ["'a'.substring(args.n)", { n: 2 }, "substring is asked for a place outside of the text"],
    ["string(timestamp(args.t))", { t: "yesterday" }, 'the text is not a time like "2026-03-01T09:00:00Z"'],
    ["double(args.t)", { t: "1,5" }, "the text is not a number"],
    ["min(args.l)", { l: [] }, "the list is empty"],
  ];
  for (const [text, args, expected] of table) {
    it(`${text} over ${JSON.stringify(args)}: ${expected}`, () => assert.equal(fails(text, args), expected));
  }

  it("one side that settles it makes up for an error of the other", () => {
    assert.equal(value("args.x > 1 || true"), true);
    assert.equal(value("args.x > 1 && false"), false);
    assert.equal(value("[args, {'x': 1}].exists(a, a.x == 1)"), true);
    assert.equal(fails("args.x > 1 || false"), 'there is no field "x"');
    assert.equal(fails("true && args.x"), 'there is no field "x"');
    assert.equal(fails("[args].all(a, a.x == 1)"), 'there is no field "x"');
  });
});

describe("what is wrong before anything runs", () => {
  const table: readonly (readonly [string, string])[] = [
    ["args.amont_usd > 1", "5: args has no field amont_usd (did you mean amount_usd?)"],
    ["args.card.contry == 'DE'", "10: args.card has no field contry (did you mean country?)"],
    ["args.amount_usd > '1'", "0: a number > text compares what cannot be compared"],
    ["args.amount_usd == true", "0: a number == true or false compares what cannot be compared"],
    ["args.amount_usd", "0: true or false is needed, and this is a number"],
    ["args.tags > 1", "0: a list > a number compares what cannot be compared"],
    ["args.reason && true", "5: true or false is needed here, and this is text"],
    ["!args.user_id", "6: true or false is needed here, and this is a number"],
    ["has(args.resaon)", "9: args has no field resaon (did you mean reason?)"],
    ["arg.x == 1", "0: there is no arg here (did you mean args?)"],
    ["args.tags.exist(t, t == 'x')", "10: there is no method exist (did you mean exists?)"],
    ["args.reason.startWith('x')", "12: there is no method startWith (did you mean startsWith?)"],
    ["sizes(args.tags) > 1", "0: there is no function sizes (did you mean size?)"],
    ["1 in args.tags", "0: a number is never in a list of text"],
    ["args.tags.all(t, t > 1)", "17: text > a number compares what cannot be compared"],
    ["args.reason.matches('(')", "20: the pattern is not one: missing closing ): `(`"],
    ["'a'.matches(args.reason)", "17: the pattern has to be written here, as text"],
    ["'a'.matches('a{1000}' + 'b')", "12: the pattern has to be written here, as text"],
    [
      "'a'.matches('(a{30}){30}(a{30}){30}(a{30}){30}(a{30}){30}(a{30}){30}(a{30}){30}')",
      "12: the pattern repeats too much",
    ],
    ["args.amount_usd > ", "18: the expression ends where more is needed"],
    ["args.amount_usd + 'x' == 'x'", "0: a number + text is nothing"],
    ["cel.bind(x, 1, x == 1)", "4: there is no method bind"],
    ["b'x' == b'x'", "0: bytes are not used here; write text without the b"],
    ["args.user_id == 1u", "16: write the number without the u"],
    ["args.user_id == 9007199254740993", "16: the number is too large to be exact"],
    ["args.all(args, true)", "5: args already means something; take another name"],
    ["args.tags.map(t)", "10: map is written as list.map(name, …)"],
    ["has(args)", "0: has is written with one field, as in has(args.reason)"],
    ["type(args) == type(1)", "0: there is no function type"],
  ];
  for (const [text, expected] of table) {
    it(`${text} → ${expected}`, () =>
      assert.ok(flaws(text, REFUND).includes(expected), `${flaws(text, REFUND)}`));
  }

  it("what the schema says is right is right", () => {
    for (const text of [
      "args.amount_usd > 1000 && args.user_id == 42",
      "args.to == null || args.to.endsWith('@example.com')",
      "args.meta.anything > 1",
      "args.tags.exists(t, t.startsWith('vip'))",
      "args['amount_usd'] >= 1",
      "args.card.country in ['DE', 'FR']",
    ])
      assert.deepEqual(flaws(text, REFUND), [], text);
  });

  it("a schema that contains itself several times is read once", () => {
    const tree: JsonObject = {
      type: "object",
      properties: {
        value: { type: "number" },
        left: { $ref: "#" },
        right: { $ref: "#" },
        more: { type: "array", items: { $ref: "#" } },
        note: { type: "string", default: "" },
      },
      required: ["value", "left", "right"],
    };
    assert.deepEqual(flaws("args.left.right.left.value > 1 && args.right.left.vale > 1", tree), []);
    assert.deepEqual(flaws("args.vale > 1", tree), ["5: args has no field vale (did you mean value?)"]);
    assert.deepEqual(warnings("args.note == ''", tree), [], "a default is always there");
  });

  it("a field that may be missing is a warning until has asks for it", () => {
    const said = "args.reason may be missing, and the rule then blocks; ask has(args.reason) first";
    assert.deepEqual(warnings("args.reason == ''", REFUND), [`5: ${said}`]);
    for (const text of [
      "has(args.reason) && args.reason == ''",
      "!has(args.reason) || args.reason == ''",
      "has(args.reason) ? args.reason == '' : false",
      "'reason' in args && args.reason == ''",
      "!(!has(args.reason) || args.reason == '')",
    ])
      assert.deepEqual(warnings(text, REFUND), [], text);
    assert.equal(warnings("has(args.reason) || args.reason == ''", REFUND).length, 1);
  });

  it("size, depth and nested lists are limited", () => {
    const deep = (count: number) => `${"(".repeat(count)}true${")".repeat(count)}`;
    assert.deepEqual(flaws(deep(20)), []);
    assert.match(flaws(deep(60)).join(), /maxDepth/);
    assert.match(flaws(`true${" || true".repeat(PARSE_LIMITS.nodes)}`).join(), /maxAstNodes/);
    assert.match(flaws(" ".repeat(5_000)).join(), /over 4096 characters/);
    assert.match(flaws(`${"!".repeat(4_000)}true`).join(), /maxAstNodes|nested too deeply/);
    const nested = "args.a.all(x, args.b.all(y, args.c.all(z, x == y && y == z)))";
    assert.match(flaws(nested).join(), /the expression costs \d+, and 100000 is the limit/);
  });
});

describe("no way to the host", () => {
  it("a key that JavaScript gives a meaning is data", () => {
    const args = JSON.parse(
      '{"constructor": {"name": "x"}, "toString": 1, "hasOwnProperty": 2, "kind": "moment", "then": 3}',
    );
    assert.equal(value("args.constructor.name", args), "x");
    assert.equal(value("args.toString + args.hasOwnProperty + args.then", args), 6);
    assert.equal(value("size(args)", args), 5);
    assert.equal(value("args == args", args), true);
  });

  it("nothing inherited is a field", () => {
    for (const key of [
      "constructor",
      "__proto__",
      "toString",
      "valueOf",
      "hasOwnProperty",
      "__defineGetter__",
    ]) {
      assert.equal(value(`"${key}" in args`), false);
      assert.equal(fails(`args["${key}"]`), `there is no field "${key}"`);
      assert.match(fails(`args.s["${key}"]`, { s: "text" }), /text has no field/);
      assert.match(fails(`args.l["${key}"]`, { l: [1] }), /a list has no field/);
    }
  });

  it("an object with the key __proto__ cannot be made", () => {
    assert.equal(fails("{'__proto__': 1}"), "an object's keys are text");
  });
});

describe("what an expression may take", () => {
  const long = "a".repeat(200_000);

  it("a verdict's steps end, whatever the arguments are", () => {
    const list = Array.from({ length: 9_000 }, (_, index) => index);
    assert.match(
      fails("args.l.all(x, args.l.all(y, x != y + 20000))", { l: list }),
      /more than 2500000 steps/,
    );
    assert.match(
      fails("args.l.all(x, !args.t.contains('b'))", { l: list, t: long }),
      /more than 2500000 steps/,
    );
    assert.match(fails("args.l.all(x, args.t == args.u)", { l: list, t: long, u: `${long}` }), /steps/);
    assert.match(fails("args.l.all(x, args.t.matches('(a|aa)+$'))", { l: list, t: long }), /steps/);
  });

  it("that they ended is not made up for by another side", () => {
    const list = Array.from({ length: 9_000 }, (_, index) => index);
    assert.match(fails("args.l.all(x, args.l.all(y, x != y + 20000)) || true", { l: list }), /steps/);
  });

  it("text and lists that it makes are limited", () => {
    assert.equal(fails("args.t + args.t", { t: long }), "the text is over 262144 characters");
    const list = Array.from({ length: 9_000 }, () => 1);
    assert.equal(fails("args.l + args.l", { l: list }), "the list has over 10000 items");
    assert.equal(fails("[args.t, args.t].join(',')", { t: long }), "the text is over 262144 characters");
    assert.equal(fails("args.t.split('')", { t: long }), "the list has over 10000 items");
  });

  it("a pattern that would take others for ever is answered", () => {
    assert.equal(value("args.t.matches('(a+)+$')", { t: `${"a".repeat(5_000)}b` }), false);
  });
});
