import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import fc from "fast-check";
import { stringify } from "yaml";
import { canonicalJson } from "../../src/kernel/canonical-json.ts";
import type { Json } from "../../src/kernel/json.ts";
import { checkExpression, compileChecked } from "../../src/policy/expression/expression.ts";
import { COST_PER_EXPRESSION } from "../../src/policy/expression/syntax.ts";
import {
  ExpressionError,
  STEPS_PER_VERDICT,
  TooCostly,
  toJson,
  type Value,
} from "../../src/policy/expression/values.ts";
import { readPolicy } from "../../src/policy/read.ts";
import { compilePolicy } from "../../src/policy/rules/compile.ts";
import type { PolicyText } from "../../src/policy/rules/document.ts";
import { documentOf, drawAction, drawPolicy } from "./policy-draw.ts";
import { type Draw, drawFrom, drawTruth, OVER_RULES, textOf } from "./policy-draw-expression.ts";
import { runs } from "./runs.ts";

/** Whoever reads an inherited property reads one of these. */
const PROTOTYPES = [
  Object.prototype,
  Array.prototype,
  String.prototype,
  Number.prototype,
  Boolean.prototype,
  Function.prototype,
];
let touched = 0;

before(() => {
  for (const prototype of PROTOTYPES)
    Object.defineProperty(prototype, "canary", {
      configurable: true,
      get: () => {
        touched += 1;
        return () => touched;
      },
      // Keys of this name may be data.
      set(value: unknown) {
        Object.defineProperty(this, "canary", {
          value,
          writable: true,
          enumerable: true,
          configurable: true,
        });
      },
    });
});
after(() => {
  for (const prototype of PROTOTYPES) Reflect.deleteProperty(prototype, "canary");
});

const HOSTILE = [
  "canary",
  "constructor",
  "__proto__",
  "prototype",
  "toString",
  "valueOf",
  "call",
  "apply",
  "then",
  "length",
  "hasOwnProperty",
  "globalThis",
  "process",
  "Function",
  "eval",
];
const WORDS = [
  ...HOSTILE,
  ...[
    "args",
    "a",
    "b",
    "list",
    "x",
    "result",
    "has",
    "size",
    "matches",
    "map",
    "filter",
    "all",
    "exists",
    "string",
    "duration",
    "timestamp",
    "sum",
    "min",
    "round",
    "split",
    "join",
    "contains",
    "substring",
  ],
  ...[
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    ".",
    ",",
    ":",
    "?",
    "!",
    "-",
    "+",
    "*",
    "/",
    "%",
    "<",
    ">",
    "==",
    "!=",
    "<=",
    ">=",
    "&&",
    "||",
    "in",
  ],
  ...[
    "1",
    "0",
    "2.5",
    "1e308",
    "-1",
    "99999999999",
    "true",
    "false",
    "null",
    "'a'",
    '"constructor"',
    "'(a+)+$'",
    "'1h'",
    "[]",
    "{}",
  ],
];

/** Shapes that make whole expressions likely, with hostile names in their places. */
const FRAMES = [
  (a: string, b: string) => `${a}.${b}`,
  (a: string, b: string) => `${a}["${b}"]`,
  (a: string, b: string) => `${a}.${b}()`,
  (a: string, b: string) => `${a}.${b}(${a})`,
  (a: string, b: string) => `${b}(${a})`,
  (a: string, b: string) => `has(${a}.${b}) || ${a}.${b} == ${a}`,
  (a: string, b: string) => `[${a}, ${b}].map(x, x.${b})`,
  (a: string, b: string) => `{"${b}": ${a}}.${b}`,
  (a: string, b: string) => `{"${b}": ${a}}["${b}"] + ${a}`,
  (a: string, b: string) => `"${b}" in ${a}`,
  (a: string, b: string) => `${a}.all(${b}, ${b} == ${a})`,
  (a: string, b: string) => `string(${a}) + "${b}"`,
  (a: string, b: string) => `${a} ? ${b} : ${a}`,
];

function drawExpression(draw: Draw): string {
  const kind = draw.upTo(3);
  if (kind === 0)
    return Array.from({ length: 1 + draw.upTo(20) }, () => draw.pick(WORDS)).join(
      draw.chance(0.5) ? " " : "",
    );
  if (kind === 1) return broken(textOf(drawTruth(draw, OVER_RULES([]))), draw);
  let text = draw.pick(["args", "args.a", "args.list", "1", "'a'", "[1, 2]", ...HOSTILE]);
  for (let rounds = draw.upTo(4); rounds >= 0; rounds--)
    text = draw.pick(FRAMES)(text, draw.pick(WORDS.slice(0, 38)));
  return text;
}

/** Cut, doubled, or with something put in. */
function broken(text: string, draw: Draw): string {
  const at = draw.upTo(text.length);
  const to = Math.min(text.length, at + draw.upTo(6));
  const inserted = draw.pick(["", ...WORDS, "\u0000", "\ud800", "💥", "\n"]);
  return (
    text.slice(0, at) + inserted + (draw.chance(0.2) ? text.slice(at, to).repeat(3) : "") + text.slice(to)
  );
}

const ARGUMENTS: readonly Json[] = [
  {},
  null,
  [],
  "text",
  JSON.parse(
    '{"a": 1, "b": "b", "list": [1, 2, 3], "constructor": {"prototype": 1}, "toString": "x", "then": true, "length": 5}',
  ),
  { a: "a".repeat(5_000), b: "(a|a)*$", list: Array.from({ length: 2_000 }, (_, index) => index) },
];

const NAMES = new Map([["result", { kind: "any" } as const]]);
const READERS = new Map([
  ["args", ({ args }: Scene) => args],
  ["result", ({ args }: Scene) => args],
]);
type Scene = { left: number; locals: Value[]; readonly args: Value };

function tryExpression(text: string): "refused" | "answered" | "failed" {
  const { node, flaws, cost } = checkExpression(text, { names: NAMES, wants: "json", tools: [] });
  for (const flaw of flaws)
    assert.ok(flaw.at >= 0 && flaw.at <= text.length && flaw.message !== "", JSON.stringify([text, flaw]));
  if (node === null || flaws.length > 0) return "refused";
  assert.ok(cost <= COST_PER_EXPRESSION);
  const run = compileChecked(node, READERS);
  let end: "answered" | "failed" = "failed";
  for (const args of ARGUMENTS) {
    const scene: Scene = { left: STEPS_PER_VERDICT, locals: [], args: args as Value };
    try {
      canonicalJson(toJson(run(scene), scene));
      assert.ok(scene.left >= 0, text);
      end = "answered";
    } catch (error) {
      // What is not JSON can only be a number that JSON does not hold exactly.
      if (!(error instanceof ExpressionError)) assert.match(String(error), /beyond the integers/, text);
      if (scene.left < 0) assert.ok(error instanceof TooCostly, text);
    }
  }
  return end;
}

function drawHostile(draw: Draw): unknown {
  return draw.pick<() => unknown>([
    () => null,
    () => draw.pick([0, -1, 1.5, 1e300, Number.NaN]),
    () => draw.pick(HOSTILE),
    () => drawExpression(draw),
    () => [],
    () => ({ [draw.pick(HOSTILE)]: draw.pick(HOSTILE) }),
    () => ({ expr: drawExpression(draw) }),
    () => JSON.parse('{"__proto__": {"verdict": "approve"}}') as unknown,
    () => draw.chance(0.5),
    () => "x".repeat(5_000),
  ])();
}

/** One thing in it replaced, added or gone. */
function changed(value: unknown, draw: Draw): unknown {
  if (typeof value !== "object" || value === null || draw.chance(0.15)) return drawHostile(draw);
  const entries = Object.entries(value);
  const [key = "0"] = draw.pick(entries) ?? [];
  if (Array.isArray(value))
    return value.map((part, index) => (String(index) === key ? changed(part, draw) : part));
  const kept = draw.chance(0.1) ? entries.filter(([name]) => name !== key) : entries;
  const added: readonly (readonly [string, unknown])[] = draw.chance(0.15)
    ? [[draw.pick([...HOSTILE, "when", "set"]), drawHostile(draw)]]
    : [];
  const parts = kept.map(([name, part]) => [name, name === key ? changed(part, draw) : part] as const);
  return Object.fromEntries([...parts, ...added]);
}

const VERDICTS = new Set(["approve", "revise", "block", "escalate"]);

function tryDocument(document: unknown, draw: Draw): boolean {
  const made = compilePolicy(document as PolicyText, null);
  if (!made.ok) {
    assert.ok(made.faults.length > 0);
    return false;
  }
  for (let index = 0; index < 3; index++) {
    const verdict = made.policy.judge(drawAction(draw));
    assert.ok(VERDICTS.has(verdict.verdict), JSON.stringify(document));
    canonicalJson(verdict);
  }
  return true;
}

function tally<Kind extends string | boolean>(seen: Map<Kind, number>, kind: Kind): void {
  seen.set(kind, (seen.get(kind) ?? 0) + 1);
}

describe("whatever is written as a policy", () => {
  it("6,000 expressions: refused, answered or failed, within their steps, and nothing of the host is reached", () => {
    const seen = new Map<"refused" | "answered" | "failed", number>();
    const property = fc.property(fc.integer(), (seed) =>
      tally(seen, tryExpression(drawExpression(drawFrom(seed)))),
    );
    const wanted = runs(6_000);
    fc.assert(property, wanted);
    assert.equal(touched, 0, "an inherited property was read");
    if (wanted.numRuns < 6_000) return;
    for (const kind of ["refused", "answered", "failed"] as const)
      assert.ok((seen.get(kind) ?? 0) > 40, `${kind} is rare: ${seen.get(kind)}`);
  });

  it("2,500 documents: refused with a reason, or judging", () => {
    const seen = new Map<boolean, number>();
    const property = fc.property(fc.integer(), (seed) => {
      const draw = drawFrom(seed);
      let document: unknown = documentOf(drawPolicy(draw));
      for (let times = draw.upTo(2); times >= 0; times--) document = changed(document, draw);
      tally(seen, tryDocument(document, draw));
    });
    const wanted = runs(2_500);
    fc.assert(property, wanted);
    assert.equal(touched, 0, "an inherited property was read");
    if (wanted.numRuns < 2_500) return;
    for (const ended of [true, false])
      assert.ok((seen.get(ended) ?? 0) > 100, `${ended} is rare: ${seen.get(ended)}`);
  });

  it("1,500 files: read, or found wrong at a place in them", () => {
    const property = fc.property(fc.integer(), (seed) => {
      const draw = drawFrom(seed);
      const whole = draw.chance(0.7)
        ? stringify(documentOf(drawPolicy(draw)))
        : JSON.stringify(documentOf(drawPolicy(draw)), null, 2);
      let text = whole;
      for (let times = draw.upTo(3); times > 0; times--) text = broken(text, draw);
      const read = readPolicy(text, null);
      const lines = text.split("\n");
      for (const { line, column, message } of read.findings) {
        assert.ok(message !== "" && line >= 1 && line <= lines.length, JSON.stringify([text, line, message]));
        assert.ok(
          column >= 1 && column <= (lines[line - 1] ?? "").length + 1,
          JSON.stringify([text, line, column, message]),
        );
      }
      if (text === whole) assert.ok(read.ok, JSON.stringify(read));
    });
    fc.assert(property, runs(1_500));
  });
});
