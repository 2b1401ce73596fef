import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { implies, weigh } from "./implies.ts";
import { parse } from "./parse.ts";

const weighed = (text: string) => {
  const parsed = parse(text);
  return parsed.ok ? weigh(parsed.node) : assert.fail(parsed.flaw.message);
};
const follows = (narrow: string, wide: string) => implies(weighed(narrow), weighed(wide));

describe("a condition", () => {
  const so: readonly (readonly [string, string])[] = [
    ["args.a > 1", "args.a>1"],
    ["args.a > 1", "1 < args.a"],
    ["args.a == args.b", "args.b == args.a"],
    ["args.a > 1 && agent == 'agent:x'", "args.a > 1"],
    ["agent == 'agent:x' && has(args.a) && args.a > 1", "args.a > 1 && agent == 'agent:x'"],
    ["args.a > 1", "args.a > 1 || has(args.b)"],
    ["(args.a > 1 || has(args.b)) && has(args.c)", "has(args.b) || args.a > 1"],
    ["args.a > 1 && has(args.x) || args.a > 1 && has(args.y)", "args.a > 1"],
    ["args.a > 200", "args.a > 100"],
    ["args.a > 100", "args.a >= 100"],
    ["args.a >= 200", "args.a > 100"],
    ["args.a < 5", "args.a <= 5"],
    ["args.a <= -7", "args.a < -6.5"],
    ["args.a > 5", "args.a != 5"],
    ["args.a == 7", "args.a > 5"],
    ["args.a == 7", "args.a in [6, 7]"],
    ["args.s in ['a', 'b']", "args.s in ['c', 'b', 'a']"],
    ["args.s == 'a'", "args.s != 'b'"],
    ["!has(args.a) && args.b", "!has(args.a)"],
    ["history.exists(h, h.tool == 'x') && args.b", "history.exists(h, h.tool == 'x')"],
  ];
  for (const [narrow, wide] of so) it(`${narrow}, and so ${wide}`, () => assert.ok(follows(narrow, wide)));

  const open: readonly (readonly [string, string])[] = [
    ["args.a > 1", "args.a > 1 && has(args.b)"],
    ["args.a > 1 || has(args.b)", "args.a > 1"],
    ["args.a > 100", "args.a > 200"],
    ["args.a >= 100", "args.a > 100"],
    ["args.a > 100", "args.b > 100"],
    ["args.a > 100", "args.a < 200"],
    ["args.a > 5", "args.a != 6"],
    ["args.a != 5", "args.a > 5"],
    ["args.a != 5", "args.a != 6"],
    ["args.a >= 5", "args.a != 5"],
    ["args.a < args.b", "args.b < args.a"],
    ["args.a - args.b > 1", "args.b - args.a > 1"],
    ["args.s == 'a'", "args.s == 'A'"],
    ["args.s == '1'", "args.s == 1"],
    ["args.s > 'b'", "args.s > 'a'"],
    ["args.s in ['a', 'b']", "args.s in ['a']"],
    ["args.s in [args.t]", "args.s == args.t"],
    ["has(args.a)", "args.a"],
    ["!(args.a > 1 && args.b > 1)", "!(args.a > 1)"],
    ["args.list.all(x, x > 1)", "args.list.exists(x, x > 1)"],
    ["args.list.exists(x, x > 2)", "args.list.exists(x, x > 1)"],
    ["args.a ? args.b : args.c", "args.a ? args.c : args.b"],
    ["size(args.a) > 1", "args.a.size() > 1"],
  ];
  for (const [narrow, wide] of open)
    it(`${narrow} says nothing of ${wide}`, () => assert.ok(!follows(narrow, wide)));
});

it("is weighed in room that does not explode with its depth", () => {
  const deep = `${"(".repeat(30)}args.a${" + 1)".repeat(30)} > "x".size()`;
  const { claim } = weighed(deep);
  assert.ok(claim.key.length < 50 * deep.length, String(claim.key.length));
  assert.ok(follows(`${deep} && has(args.b)`, deep));
});
