/** A rule that is said to never match does not, whatever the action is: the lint gives no false alarm. */
import assert from "node:assert/strict";
import { it } from "node:test";
import fc from "fast-check";
import type { JsonObject } from "../../src/kernel/json.ts";
import { compilePolicy } from "../../src/policy/rules/compile.ts";
import type { KnownTool } from "../../src/policy/rules/tools.ts";
import { RISK_LEVELS } from "../../src/policy/rules/verdict.ts";
import { drawAction } from "./policy-draw.ts";
import { type Draw, drawFrom } from "./policy-draw-expression.ts";
import { runs } from "./runs.ts";

const POLICIES = 4_000;
const ACTIONS = 40;
const TOOLS = ["pay", "mail", "payout", "final"];
const CALLED = ["pay", "mail", "payout"];
const TOTALS = { n: { tool: "*", count: true } } as const;
const ORDER = ["<", "<=", ">", ">=", "==", "!="];

/** Few values, and bounds on both sides of them, so that conditions are often just possible or just not. */
function drawTest(draw: Draw): string {
  const number = () => draw.pick(["1", "2", "3", "-1", "2.5"]);
  const text = () => draw.pick(['"a"', '"b"', '"pay"']);
  const anything = () => draw.pick([number(), text(), "true", "null"]);
  return draw.pick([
    `args.a ${draw.pick(ORDER)} ${number()}`,
    `${number()} ${draw.pick(ORDER)} args.a`,
    `args.s ${draw.pick(ORDER)} ${text()}`,
    `args.x ${draw.pick(["==", "!="])} ${anything()}`,
    `args.x in [${anything()}, ${anything()}]`,
    `args.a in [${draw.pick(["", number(), `${number()}, ${number()}`])}]`,
    `tool.name ${draw.pick(["==", "!="])} "${draw.pick(TOOLS)}"`,
    `tool.name in ["${draw.pick(TOOLS)}", "${draw.pick(TOOLS)}"]`,
    `${number()} ${draw.pick(ORDER)} ${number()}`,
    "has(args.x)",
    '"x" in args',
    "args.x",
    `args.a ${draw.pick(ORDER)} args.a`,
    `args.x ${draw.pick(["==", "!="])} args.x`,
    `${number()} ${draw.pick(["+", "-", "*", "/", "%"])} ${number()} ${draw.pick(ORDER)} ${number()}`,
    `size(args.s) ${draw.pick(ORDER)} ${draw.pick(["0", "1", "-1"])}`,
    `totals.n ${draw.pick(ORDER)} ${draw.pick(["0", "1", "-1"])}`,
    `risk.score ${draw.pick(ORDER)} ${draw.pick(["0", "30", "60", "-10"])}`,
    `risk.level ${draw.pick(["==", "!="])} "${draw.pick(RISK_LEVELS)}"`,
    `tool.effect ${draw.pick(["==", "!="])} "${draw.pick(["once", "read"])}"`,
    draw.pick(["true", "false"]),
  ]);
}

function drawCondition(draw: Draw, depth: number): string {
  if (depth === 0 || draw.chance(0.2)) return drawTest(draw);
  if (draw.chance(0.25)) return `!(${drawCondition(draw, depth - 1)})`;
  if (draw.chance(0.1))
    return `(${[0, 1, 2]
      .map(() => drawCondition(draw, depth - 1))
      .join(" ? ")
      .replace(/ \? ([^?]*)$/, " : $1")})`;
  const sides = [drawCondition(draw, depth - 1), drawCondition(draw, depth - 1)];
  return `(${sides.join(draw.pick([" && ", " && ", " || "]))})`;
}

/** What the tools take, where that is known: inputs are drawn from just that. */
type Drawn = {
  readonly numbers: readonly number[];
  readonly texts: readonly string[];
  readonly effect: string;
};

function drawTool(draw: Draw): Drawn {
  const from = draw.upTo(3);
  return {
    numbers: NUMBERS.slice(from, from + 1 + draw.upTo(4)),
    texts: draw.chance(0.5) ? ["a", "b"] : ["b", "pay"],
    effect: draw.pick(["once", "read"]),
  };
}

const NUMBERS = [-1, 0, 1, 1.5, 2, 2.5, 3, 4];

function knownTool(name: string, { numbers, texts, effect }: Drawn): KnownTool {
  const properties = {
    a: { type: "number", minimum: Math.min(...numbers), maximum: Math.max(...numbers) },
    s: { type: "string", enum: texts },
    x: {},
  };
  const schema = { type: "object", properties, required: ["a", "s"] } as unknown as JsonObject;
  return { name, effectClass: effect, schema };
}

function drawInput(draw: Draw, drawn: ReadonlyMap<string, Drawn> | null) {
  const tool = draw.pick(TOOLS);
  const of = drawn?.get(tool);
  const a = of === undefined ? draw.pick([0, 1, 1.5, 2, 2.5, 3, 4, -1, "a"]) : draw.pick(of.numbers);
  const some = { a, s: draw.pick<string | number>(of?.texts ?? ["", "a", "aa", "b", "pay", 1]) };
  const x = draw.pick([1, 2, "a", true, false, null]);
  const args = draw.chance(0.2) ? some : { ...some, x };
  const effectClass = tool === "final" ? "read" : (of?.effect ?? "once");
  return { ...drawAction(draw), tool, effectClass, args };
}

/** Weights of which some come to a level and some do not. */
function drawRisk(draw: Draw) {
  if (draw.chance(0.4)) return {};
  const conditions = Array.from({ length: draw.upTo(2) }, (_, index) => ({
    id: `c${index}`,
    when: draw.pick(["args.a > 1", "has(args.x)", "true"]),
    weight: draw.pick([-10, 15, 30, 60]),
  }));
  return { risk: { conditions } };
}

function drawCase(draw: Draw) {
  const tool = draw.pick([undefined, "*", "pay", "pay*", "final", ["pay", "final"]]);
  const when = drawCondition(draw, 3);
  const rule = { id: "r", verdict: "approve", when, ...(tool === undefined ? {} : { tool }) } as const;
  const drawn = draw.chance(0.5) ? new Map(CALLED.map((name) => [name, drawTool(draw)])) : null;
  const tools = drawn === null ? null : [...drawn].map(([name, one]) => knownTool(name, one));
  const document = {
    policy: "p",
    default: "block",
    totals: TOTALS,
    ...drawRisk(draw),
    rules: [rule],
  } as const;
  return { document, drawn, tools };
}

it("what the lint says can never match does not", () => {
  let [told, matched] = [0, 0];
  const why = new Map<string, number>();
  const property = fc.property(fc.integer(), (seed) => {
    const draw = drawFrom(seed);
    const { document, drawn, tools } = drawCase(draw);
    const made = compilePolicy(document, tools);
    if (!made.ok) return;
    const [never] = made.warnings.filter(({ message }) => message.includes("r can never match"));
    if (never !== undefined) {
      told++;
      why.set(never.message, (why.get(never.message) ?? 0) + 1);
    }
    for (let index = 0; index < ACTIONS; index++) {
      const input = drawInput(draw, drawn);
      const said = made.policy.judge(input);
      if (said.verdict !== "approve" || said.rule !== "r") continue;
      matched++;
      assert.ok(never === undefined, `${never?.message} ${JSON.stringify([document, tools, input])}`);
    }
  });
  const wanted = runs(POLICIES);
  fc.assert(property, wanted);
  if (wanted.numRuns < POLICIES) return;
  assert.ok(told > POLICIES / 10, `${told} were found: too few to say anything`);
  assert.ok(matched > POLICIES, `${matched} matches were looked at`);
  assert.ok(why.size >= 6, `not everything that the lint says was said: ${[...why.keys()].join("; ")}`);
});
