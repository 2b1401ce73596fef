import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { compilePolicy } from "../../src/core/policy/compile.ts";
import type { Verdict } from "../../src/core/verdict.ts";
import { documentOf, drawAction, drawPolicy } from "./policy-draw.ts";
import { drawFrom } from "./policy-draw-expression.ts";
import { type Reference, referenceVerdict } from "./policy-reference.ts";
import { runs } from "./runs.ts";

const POLICIES = 2_500;
const ACTIONS = 20;

function heard(verdict: Verdict): Reference {
  return {
    verdict: verdict.verdict,
    rule: verdict.rule ?? "",
    set: verdict.verdict === "revise" ? verdict.set : null,
    risk: verdict.risk ?? null,
    shadow: (verdict.shadow ?? []).map(({ rule, verdict: said }) => ({ rule, verdict: said })),
  };
}

describe("policies", () => {
  it("say what a slow and obvious evaluator says, over 50,000 actions", () => {
    const seen = new Map<string, number>();
    const property = fc.property(fc.integer(), (seed) => {
      const draw = drawFrom(seed);
      const policy = drawPolicy(draw);
      const document = documentOf(policy);
      const made = compilePolicy(document, null);
      assert.ok(made.ok, JSON.stringify([made, document], null, 1));
      for (let index = 0; index < ACTIONS; index++) {
        const input = drawAction(draw);
        const ours = heard(made.policy.judge(input));
        assert.deepEqual(ours, referenceVerdict(policy, input), JSON.stringify({ document, input }, null, 1));
        const kind = `${ours.verdict} ${ours.rule.replace(/\d+$/, "")}`;
        seen.set(kind, (seen.get(kind) ?? 0) + 1);
      }
    });
    const wanted = runs(POLICIES);
    fc.assert(property, wanted);
    if (wanted.numRuns < POLICIES) return;
    // What was never drawn was not compared.
    for (const kind of [
      "approve r",
      "revise r",
      "block r",
      "escalate r",
      "block default",
      "block limit:calls",
      "block limit:repeats",
      "block limit:tool_calls",
      "block tools:not_allowed",
      "block risk:c",
      "escalate risk:high",
      "approve final:not_named",
    ])
      assert.ok((seen.get(kind) ?? 0) > 0, `${kind} was seen ${seen.get(kind) ?? 0} times`);
  });
});
