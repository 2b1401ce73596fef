/** Verdicts of a policy: `judge` alone, or the whole review with its copies and checks, as each action goes through it. */

import type { Json } from "../../src/kernel/json.ts";
import { compilePolicy } from "../../src/policy/rules/compile.ts";
import { reviewAction } from "../../src/policy/rules/review.ts";
import type { ToolRules } from "../../src/policy/rules/tool-rules.ts";
import type { PolicyInput } from "../../src/policy/rules/verdict.ts";
import { checkSame, SAME_ACTIONS, sameRules } from "../same-rules.ts";
import { type Load, now, type OpenSystem } from "../system.ts";

const inputOf = (args: Json): PolicyInput => ({
  tool: "refund",
  effectClass: "once",
  args,
  agent: "agent:bench",
  requester: ["agent:bench"],
  requestId: null,
  workflow: null,
  history: [],
  now: 1_767_225_600_000,
});

function rulesOf(policy: ToolRules["policy"]): ToolRules {
  return {
    name: "refund",
    effectClass: "once",
    schemaDigest: "",
    schemaText: null,
    policyDigest: "",
    keyRetentionMs: 0,
    finalityMs: 0,
    validate: (value) => ({ ok: true, value }),
    policy,
    costs: () => [],
    dedupe: () => undefined,
  };
}

export const open: OpenSystem = async () => {
  const rules = sameRules().map(({ id, cel }) => ({ id, when: cel, verdict: "block" as const }));
  const document = {
    policy: "bench",
    default: "block" as const,
    rules: [...rules, { id: "rest", verdict: "approve" as const }],
  };
  const made = compilePolicy(document, null);
  if (!made.ok) throw new Error(JSON.stringify(made.faults));
  const tool = rulesOf((input) => made.policy.judge(input));
  const judged = (input: PolicyInput) => made.policy.judge(input).verdict;
  const reviewed = (input: PolicyInput) => reviewAction(tool, input).verdict;
  for (const verdict of [judged, reviewed]) checkSame((args) => verdict(inputOf(args)) === "approve");
  const inputs = SAME_ACTIONS.map(inputOf);
  return {
    servers: [],
    durability: "nothing is written",
    run: async (load: Load) => {
      const verdict = load.variant === "whole-review" ? reviewed : judged;
      for (let n = 0; !load.isOver(); n++) {
        const began = now();
        verdict(inputs[n % inputs.length] as PolicyInput);
        load.done(began);
      }
    },
    close: async () => undefined,
  };
};
