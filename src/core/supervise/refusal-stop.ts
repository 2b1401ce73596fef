/** What a refusal of a call means for a run that stops at it. */
import type { Refusal, RefusalCode } from "../../kernel/refusals.ts";
import type { Stop, StopReason } from "./stop-reason.ts";

/** A refusal by policy names its rule: `policy (limit:calls)`. */
export function ruleOf(by: string): string | undefined {
  return /^policy \((.*)\)$/s.exec(by)?.[1];
}

/** Rules that the policy makes of its limits and of its list of tools. */
function limitReason(rule: string | undefined, tool: string): StopReason | undefined {
  switch (rule) {
    case "limit:tool_calls":
      return "max_tool_calls";
    case "limit:calls":
      return "loop_detected:per_tool_limit";
    case "limit:repeats":
      return "loop_detected:signature_repeat";
    case "tools:not_allowed":
      return `tool_denied:${tool}`;
    default:
      return undefined;
  }
}

function blocked({ by, reason }: Refusal, tool: string): Stop {
  const limit = limitReason(ruleOf(by), tool);
  if (limit !== undefined) return { stop_reason: limit, phase: "execution" };
  return { stop_reason: `supervisor_block:${reason === "" ? "no_reason" : reason}`, phase: "supervisor" };
}

/** Of every code that can end a call. A call that is pending has not ended: a run waits for it, however long that takes. */
const STOPS: {
  readonly [Code in Exclude<RefusalCode, "blocked" | "pending">]: (tool: string) => Stop;
} = {
  invalid_revision: (tool) => ({ stop_reason: `tool_bad_args:${tool}`, phase: "supervisor" }),
  rejected: () => ({ stop_reason: "human_rejected", phase: "human_approval" }),
  expired: () => ({ stop_reason: "human_expired", phase: "human_approval" }),
  cancelled: () => ({ stop_reason: "approval_cancelled", phase: "human_approval" }),
  lapsed: () => ({ stop_reason: "approval_lapsed", phase: "human_approval" }),
  revoked: () => ({ stop_reason: "approval_revoked", phase: "human_approval" }),
  tool_changed: (tool) => ({ stop_reason: `tool_changed:${tool}`, phase: "execution" }),
  binding_broken: (tool) => ({ stop_reason: `tool_changed:${tool}`, phase: "execution" }),
  duplicate: (tool) => ({ stop_reason: `duplicate:${tool}`, phase: "execution" }),
  not_applied: (tool) => ({ stop_reason: `tool_error:${tool}`, phase: "execution" }),
  stopped: () => ({ stop_reason: "stopped", phase: "execution" }),
  over_budget: () => ({ stop_reason: "over_budget", phase: "execution" }),
};

export function stopOf(refusal: Refusal, tool: string): Stop {
  const { code } = refusal;
  if (code === "pending") throw new TypeError("a run was stopped at a call that still waits for a decision");
  return code === "blocked" ? blocked(refusal, tool) : STOPS[code](tool);
}
