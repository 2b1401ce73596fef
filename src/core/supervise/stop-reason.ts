/** Why a supervised run ended: a closed list (`docs/reference/stop-reasons.md` is tested against it). */

/** What stands in angle brackets is filled in: a tool, an argument, a reason. */
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
type Filled<Text extends string> = Text extends `${infer Head}<${string}>${infer Tail}`
  ? `${Head}${string}${Filled<Tail>}`
  : Text;

export type StopReason = Filled<Pattern>;
export type InvalidAction = Extract<StopReason, `invalid_action:${string}`>;

/** Where in a turn the run ended. */
export type Phase = "worker" | "supervisor" | "human_approval" | "execution" | "finalize";

export type Stop = { readonly stop_reason: StopReason; readonly phase: Phase };

const matcher = (pattern: string): RegExp => new RegExp(`^${pattern.replaceAll(/<\w+>/g, "(.+)")}$`, "s");

const MATCHERS = STOP_REASONS.map((pattern) => ({ pattern, matches: matcher(pattern) }));

/** Which of the list a text is, and what it was filled in with; undefined when it is none of them. */
export function parseStopReason(
  text: string,
): { readonly pattern: Pattern; readonly details: readonly string[] } | undefined {
  for (const { pattern, matches } of MATCHERS) {
    const found = matches.exec(text);
    if (found !== null) return { pattern, details: found.slice(1) };
  }
  return undefined;
}

export const isStopReason = (text: string): text is StopReason => parseStopReason(text) !== undefined;
