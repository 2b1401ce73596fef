/** How many tools one run may call, judged like a policy: over what its workflow has called so far. */
import type { PolicyInput, Verdict } from "../verdict.ts";
import { FINAL_TOOL } from "./turn.ts";

export type RunLimits = {
  /** Turns of the model. */
  readonly steps: number;
  readonly toolCalls: number;
  /** Spent in the model and in tools; waiting for people is not counted. */
  readonly seconds: number;
};

export const LIMITS: RunLimits = { steps: 8, toolCalls: 5, seconds: 30 };

/** What was refused was not called. What is under way or in doubt may have been: it counts. */
export function toolCallLimit(most: number): (input: PolicyInput) => Verdict {
  return (input) => {
    if (input.tool === FINAL_TOOL) return { verdict: "approve" };
    const counted = input.history.filter(
      ({ tool, status, generation }) =>
        tool !== FINAL_TOOL && status !== "refused" && generation === input.workflow?.generation,
    );
    return counted.length < most
      ? { verdict: "approve" }
      : { verdict: "block", rule: "limit:tool_calls", reason: `this run may call ${most} tools, and has` };
  };
}
