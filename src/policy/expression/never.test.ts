import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { isNever } from "./never.ts";
import { parse } from "./parse.ts";

const never = (text: string): boolean => {
  const parsed = parse(text);
  return parsed.ok ? isNever(parsed.node) : assert.fail(parsed.flaw.message);
};

describe("a condition that can never be true", () => {
  for (const text of [
    "1 > 2",
    "!true",
    "!(1 < 2)",
    "args.x in []",
    "!(args.a == 1) && args.a == 1",
    "args.a > 10 && args.a < 5",
    "10 < args.a && 5 > args.a",
    "args.a > 10 && args.b && args.a < 5",
    "args.a >= 5 && args.a < 5",
    "args.a >= 5 && args.a <= 5 && args.a != 5",
    "args.a > -1 && args.a < -2",
    "args.a == 1 && args.a == 2",
    "args.a == 1 && args.a > 3",
    "args.a == 'x' && args.a > 3",
    "args.a in [1, 2] && args.a in [3]",
    "args.a in [1, 2] && args.a > 2",
    "args.a in ['a'] && !(args.a in ['a', 'b'])",
    "args.s > 'b' && args.s < 'a'",
    "args.s == 'b' && args.s < 'a'",
    "args.a > 5 && args.a < 'x'",
    "has(args.a) && !has(args.a)",
    "args.flag && !args.flag",
    "args.a > 10 && (args.a < 5 || args.a == 7)",
    "(args.a > 10 || args.a > 20) && (args.a < 5 || args.a < 3)",
    "args.a > 10 && args.a < 5 || 1 > 2",
    "!(args.a > 5) && args.a > 6",
    "size(args.l) == 1 && size(args.l) > 4",
    "!(args.a > 5 || args.b > 5) && args.a > 7",
    "!(args.a == 1 || args.a != 1)",
    "!(args.a > 5 && args.b > 5) && args.a > 6 && args.b > 6",
    "!!(args.a > 5) && args.a < 3",
    "args.x > args.x",
    "args.x != args.x",
    "args.o.a < args.o.a && args.b",
    "!(args.x >= args.x)",
    "1 + 1 == 3",
    "2 * 3 - 1 > 5",
    "1 > 2 ? args.a : false",
    "args.a ? false : false",
    "args.a > 1 ? args.a < 0 : args.a > 5",
    "!(args.a ? true : true)",
    "has(args.a) && !('a' in args)",
    "has(args.o.a) && args.b && !('a' in args.o)",
  ])
    it(text, () => assert.equal(never(text), true));
});

describe("a condition that may be true", () => {
  for (const text of [
    "true",
    "2 > 1",
    "!false",
    "args.x in [1]",
    "args.a > 5 && args.a < 10",
    "args.a >= 5 && args.a <= 5",
    "args.a > 10 || args.a < 5",
    "args.a > 10 && args.b < 5",
    "args.a == 1 && args.b == 2",
    "args.a == 'b' && args.a < 'c'",
    "args.a in [1, 2] && args.a in [2, 3]",
    "args.a != 1 && args.a != 2",
    "args.s > 'a' && args.s < 'b'",
    "!(args.a == 1) || args.a == 1",
    "args.l.exists(x, x > 10) && args.l.exists(x, x < 5)",
    "args.l.exists(x, x > 10 && x < 5) || true",
    "args.a > 10 && (args.a < 5 || args.a == 17)",
    "1 > 2 ? args.a : args.b",
    "args['a'] > 10 && args.a < 5",
    "!(args.a > 5 || args.b > 5) && args.a < 7",
    "!(args.a > 5 && args.b > 5) && args.a > 6",
    "args.x > args.y",
    "args.x == args.x",
    "!(args.x > args.x)",
    "1 + 1 == 2",
    "1 / 0 == 1 || args.a",
    "args.a ? false : true",
    "args.a > 1 ? args.a < 2 : args.a > 5",
    "'a' in args.l && !has(args.l.a)",
    "has(args.a) && !('b' in args)",
  ])
    it(text, () => assert.equal(never(text), false));
});

it("many alternatives are given up, and not counted out", () => {
  const many = Array.from({ length: 40 }, (_, n) => `(args.a${n} == 1 || args.b${n} == 1)`).join(" && ");
  assert.equal(never(many), false);
  assert.equal(
    never(`args.x > 2 && ${many} && args.x < 1`),
    true,
    "what contradicts itself without them is found",
  );
});
