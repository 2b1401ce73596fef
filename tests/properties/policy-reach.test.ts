/** A rule that is said to be hidden never has its say, whatever the action is: the lint gives no false alarm. */
import assert from "node:assert/strict";
import { it } from "node:test";
import fc from "fast-check";
import { compilePolicy } from "../../src/policy/rules/compile.ts";
import { drawAction } from "./policy-draw.ts";
import { type Draw, drawFrom, drawTruth, OVER_RULES, textOf } from "./policy-draw-expression.ts";
import { runs } from "./runs.ts";

const POLICIES = 3_000;
const ACTIONS = 25;
const VERDICTS = ["approve", "escalate", "block", "revise"] as const;

/** Few parts, used over and over, so that conditions are often the same, and sometimes nearly. */
function drawConditions(draw: Draw): () => string {
  const bound = () => draw.pick(["2", "5", "-3"]);
  const plain = (): string =>
    draw.pick([
      `args.a ${draw.pick(["<", "<=", ">", ">=", "==", "!="])} ${bound()}`,
      `${bound()} ${draw.pick(["<", ">=", "=="])} args.a`,
      `args.a in [${bound()}, ${bound()}]`,
      `args.s ${draw.pick(["==", "!="])} "${draw.pick(["a", "pay"])}"`,
      "has(args.b)",
      "true",
    ]);
  const pool = [plain(), plain(), plain(), textOf(drawTruth(draw, OVER_RULES([]), 1))].map(
    (one) => `(${one})`,
  );
  const drawn = (depth: number): string => {
    if (depth === 0 || draw.chance(0.7)) return draw.pick(pool);
    return `(${drawn(depth - 1)} ${draw.pick(["&&", "||"])} ${drawn(depth - 1)})`;
  };
  return () => drawn(2);
}

/** Near the bounds, and sometimes far from everything. */
function drawInput(draw: Draw) {
  const input = drawAction(draw);
  if (draw.chance(0.2)) return input;
  return {
    ...input,
    args: { a: draw.pick([-4, -3, 0, 2, 3, 5, 6]), s: draw.pick(["a", "pay", "late", ""]), b: 1 },
  };
}

function drawRules(draw: Draw) {
  const condition = drawConditions(draw);
  return Array.from({ length: 2 + draw.upTo(4) }, (_, index) => {
    const verdict = draw.pick(VERDICTS);
    return {
      id: `r${index}`,
      verdict,
      when: condition(),
      ...(draw.chance(0.5) ? { tool: draw.pick(["*", "pay", "p*", "final"]) } : {}),
      ...(verdict === "revise" ? { set: { a: draw.pick([1, 5]) } } : {}),
      ...(draw.chance(0.1) ? { shadow: true } : {}),
    };
  });
}

it("what the lint calls hidden is never the answer", () => {
  let [hidden, answered] = [0, 0];
  const property = fc.property(fc.integer(), (seed) => {
    const draw = drawFrom(seed);
    const rules = drawRules(draw);
    const made = compilePolicy({ policy: "p", default: "block", rules }, null);
    assert.ok(made.ok, JSON.stringify([made, rules], null, 1));
    const found = new Map(
      made.warnings
        .filter(({ message }) => message.includes("comes first"))
        .map(({ path, message }) => [rules[Number(path[1])]?.id, message]),
    );
    hidden += found.size;
    for (let index = 0; index < ACTIONS; index++) {
      const { verdict, rule } = made.policy.judge(drawInput(draw));
      const written = rules.find(({ id }) => id === rule);
      if (written === undefined || written.verdict !== verdict) continue;
      answered++;
      assert.ok(!found.has(rule), `${found.get(rule)}\n${JSON.stringify(rules, null, 1)}`);
    }
  });
  const wanted = runs(POLICIES);
  fc.assert(property, wanted);
  if (wanted.numRuns < POLICIES) return;
  assert.ok(hidden > POLICIES / 4, `${hidden} were found: too few to say anything`);
  assert.ok(answered > POLICIES, `${answered} answers were looked at`);
});
