/**
 * Stop reasons of a supervised run: a closed list (docs/reference/stop-reasons.md is tested against it), and the
 * mapping from a refused call to its stop reason.
 */
import type { Refusal, RefusalCode } from "../../kernel/refusals.ts";

/** Names in angle brackets are placeholders for a tool, an argument or a reason. */
export const STOP_REASONS = [
  "success",
  "max_steps",
  "max_tool_calls",
  "max_seconds",
  "invalid_action:too_large",
  "invalid_action:non_json",
  "invalid_action:not_object",
  "invalid_action:bad_kind",
  "invalid_action:extra_keys_final",
  "invalid_action:bad_final_answer",
  "invalid_action:extra_keys_tool",
  "invalid_action:bad_tool_name",
  "invalid_action:bad_tool_args",
  "invalid_action:unknown_tool:<name>",
  "invalid_action:extra_tool_args:<tool>",
  "invalid_action:missing_required_arg:<tool>:<argument>",
  "invalid_action:bad_arg_type:<tool>:<argument>",
  "supervisor_block:<reason>",
  "human_rejected",
  "human_expired",
  "approval_cancelled",
  "approval_lapsed",
  "approval_revoked",
  "tool_denied:<tool>",
  "tool_missing:<tool>",
  "tool_changed:<tool>",
  "tool_bad_args:<tool>",
  "tool_bad_result:<tool>",
  "tool_error:<tool>",
  "duplicate:<tool>",
  "in_doubt:<tool>",
  "loop_detected:per_tool_limit",
  "loop_detected:signature_repeat",
  "over_budget",
  "stopped",
  "cancelled",
  "rolled_back",
  "llm_timeout",
  "llm_overloaded",
  "llm_empty",
  "llm_error",
  "error",
] as const;

type Pattern = (typeof STOP_REASONS)[number];
type FilledPattern<Text extends string> = Text extends `${infer Head}<${string}>${infer Tail}`
  ? `${Head}${string}${FilledPattern<Tail>}`
  : Text;

export type StopReason = FilledPattern<Pattern>;
export type InvalidAction = Extract<StopReason, `invalid_action:${string}`>;

/** Where in a turn the run ended. */
export type SupervisePhase = "worker" | "supervisor" | "human_approval" | "execution" | "finalize";

export type RunStop = { readonly stop_reason: StopReason; readonly phase: SupervisePhase };

/** A refusal by policy names its rule: `policy (limit:calls)`. */
function ruleInRefusal(by: string): string | undefined {
  return /^policy \((.*)\)$/s.exec(by)?.[1];
}

/** Rules that a policy generates from its limits and its list of tools. */
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

function blockedStop({ by, reason }: Refusal, tool: string): RunStop {
  const limit = limitReason(ruleInRefusal(by), tool);
  if (limit !== undefined) return { stop_reason: limit, phase: "execution" };
  return { stop_reason: `supervisor_block:${reason === "" ? "no_reason" : reason}`, phase: "supervisor" };
}

/** For every code that can end a call. A pending call has not ended: the run waits for it without a time limit. */
const STOPS: {
  readonly [Code in Exclude<RefusalCode, "blocked" | "pending">]: (tool: string) => RunStop;
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

export function stopOfRefusal(refusal: Refusal, tool: string): RunStop {
  const { code } = refusal;
  if (code === "pending") throw new TypeError("a run was stopped at a call that still waits for a decision");
  return code === "blocked" ? blockedStop(refusal, tool) : STOPS[code](tool);
}
