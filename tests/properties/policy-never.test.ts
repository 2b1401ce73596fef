/** A rule that is said to never match does not, whatever the action is: the lint gives no false alarm. */
import assert from "node:assert/strict";
import { it } from "node:test";
import fc from "fast-check";
import { compilePolicy } from "../../src/core/policy/compile.ts";
import { drawAction } from "./policy-draw.ts";
import { type Draw, drawFrom } from "./policy-draw-expression.ts";
import { runs } from "./runs.ts";

const POLICIES = 4_000;
const ACTIONS = 40;
const TOOLS = ["pay", "mail", "payout", "final"];
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
    "args.x",
    draw.pick(["true", "false"]),
  ]);
}

function drawCondition(draw: Draw, depth: number): string {
  if (depth === 0 || draw.chance(0.2)) return drawTest(draw);
  if (draw.chance(0.2)) return `!(${drawCondition(draw, depth - 1)})`;
  const sides = [drawCondition(draw, depth - 1), drawCondition(draw, depth - 1)];
  return `(${sides.join(draw.pick([" && ", " && ", " || "]))})`;
}

function drawInput(draw: Draw) {
  const a = draw.pick([0, 1, 1.5, 2, 2.5, 3, 4, -1, "a"]);
  const some = { a, s: draw.pick(["", "a", "aa", "b", "pay", 1]) };
  const x = draw.pick([1, 2, "a", true, false, null]);
  const args = draw.chance(0.2) ? some : { ...some, x };
  const tool = draw.pick(TOOLS);
  const effectClass = tool === "final" ? ("read" as const) : ("once" as const);
  return { ...drawAction(draw), tool, effectClass, args };
}

it("what the lint says can never match does not", () => {
  let [told, matched] = [0, 0];
  const property = fc.property(fc.integer(), (seed) => {
    const draw = drawFrom(seed);
    const tool = draw.pick([undefined, "*", "pay", "pay*", "final", ["pay", "final"]]);
    const when = drawCondition(draw, 3);
    const rule = { id: "r", verdict: "approve", when, ...(tool === undefined ? {} : { tool }) } as const;
    const made = compilePolicy({ policy: "p", default: "block", rules: [rule] }, null);
    if (!made.ok) return;
    const isNever = made.warnings.some(({ message }) => message.includes("can never match"));
    if (isNever) told++;
    for (let index = 0; index < ACTIONS; index++) {
      const input = drawInput(draw);
      const said = made.policy.judge(input);
      if (said.verdict !== "approve" || said.rule !== "r") continue;
      matched++;
      assert.ok(!isNever, `${JSON.stringify(rule)} matches ${JSON.stringify([input.tool, input.args])}`);
    }
  });
  const wanted = runs(POLICIES);
  fc.assert(property, wanted);
  if (wanted.numRuns < POLICIES) return;
  assert.ok(told > POLICIES / 10, `${told} were found: too few to say anything`);
  assert.ok(matched > POLICIES, `${matched} matches were looked at`);
});
