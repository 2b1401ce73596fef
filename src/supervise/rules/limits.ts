/**
 * Limits of one supervised run, judged over the calls that its workflow has made so far.
 * - A policy that blocks takes precedence, and the limit behind it is noted. A repeated call is judged on its revised
 *   arguments.
 * - Every run limits the calls of each tool. If a policy document counts the calls of a tool, its numbers apply, and
 *   the program can only set lower ones.
 */

import { STEPS_PER_VERDICT } from "../../policy/expression/values.ts";
import { isVerdict, withNotesOf } from "../../policy/rules/combine-verdicts.ts";
import {
  blockIfOverCount,
  isRepeat,
  startedCalls,
  type ToolLimits,
  USUAL_CALLS,
} from "../../policy/rules/limits.ts";
import type { PolicyInput, RunLimitOf, Verdict } from "../../policy/rules/verdict.ts";
import { FINAL_TOOL } from "./turn.ts";

/** Limits of one tool in one run: total calls, and calls with the same arguments. */
type ToolLimit = { readonly calls?: number; readonly repeats?: number };

export type RunLimits = {
  /** Model turns. */
  readonly steps: number;
  readonly toolCalls: number;
  /** Time spent in the model and in tools. Waiting for people does not count. */
  readonly seconds: number;
  /** By tool name. Default: 2 calls; the same arguments once, or twice for a tool of class `read`. */
  readonly tools?: { readonly [name: string]: ToolLimit };
};

export const DEFAULT_RUN_LIMITS: Omit<RunLimits, "tools"> = { steps: 8, toolCalls: 5, seconds: 30 };

/** Applies the run's limits to a call that the policy has already judged. */
export type RunGuard = (input: PolicyInput, said: Verdict) => Verdict;

type CallCounts = NonNullable<ToolLimits["counts"]>;

/** `isUsual`: `toolCalls` is the default, set neither by the program nor by a document. */
type GuardLimits = Pick<RunLimits, "toolCalls" | "tools"> & { readonly isUsual?: boolean };

/** Whether the limit behind this rule is a default (`usual`) or was set for the run. */
function limitOf(
  { tools = {}, isUsual = false }: GuardLimits,
  tool: string,
  rule: string | undefined,
): RunLimitOf {
  const { calls, repeats } = Object.hasOwn(tools, tool) ? (tools[tool] ?? {}) : {};
  if (rule === "limit:calls") return calls === undefined ? "usual" : "run";
  if (rule === "limit:repeats") return repeats === undefined ? "usual" : "run";
  return rule === "limit:tool_calls" && isUsual ? "usual" : "run";
}

function countsFor(
  { toolCalls, tools = {} }: Pick<RunLimits, "toolCalls" | "tools">,
  tool: string,
  isCounted: boolean,
): CallCounts {
  const { calls, repeats } = Object.hasOwn(tools, tool) ? (tools[tool] ?? {}) : {};
  const none = Number.POSITIVE_INFINITY;
  return {
    toolCalls,
    calls: calls ?? (isCounted ? none : USUAL_CALLS),
    repeats: repeats ?? (isCounted ? none : null),
  };
}

/** `isCounted`: whether a document that applies to the run counts the calls of this tool. */
export function runGuard(limits: GuardLimits, isCounted: (tool: string) => boolean): RunGuard {
  return (input, said) => {
    if (input.tool === FINAL_TOOL || !isVerdict(said)) return said;
    const counts = countsFor(limits, input.tool, isCounted(input.tool));
    const started = startedCalls(input, input.history).filter(({ tool }) => tool !== FINAL_TOOL);
    const isFinished = said.verdict !== "revise";
    const over =
      blockIfOverCount(input, counts, started) ??
      (isFinished ? isRepeat(input, counts, started, { left: STEPS_PER_VERDICT }) : undefined);
    if (over === undefined) return said;
    const of = limitOf(limits, input.tool, over.rule);
    if (said.verdict === "block") return { ...said, limitBehind: { of, rule: over.rule ?? "" } };
    return withNotesOf({ ...over, limitOf: of }, said);
  };
}
