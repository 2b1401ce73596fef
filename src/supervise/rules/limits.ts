/**
 * Limits of one supervised run, judged over the calls that its workflow has made so far.
 * - A policy that blocks comes first, and the limit behind it is noted; a repeated call is judged on its revised
 *   arguments.
 * - Calls of one tool are limited in every run. Where a policy document counts the calls of a tool its numbers hold, and
 *   those of the program can only be lower.
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

/** Of one tool in one run: how often, and how often with the same arguments. */
type ToolLimit = { readonly calls?: number; readonly repeats?: number };

export type RunLimits = {
  /** Turns of the model. */
  readonly steps: number;
  readonly toolCalls: number;
  /** Spent in the model and in tools; waiting for people is not counted. */
  readonly seconds: number;
  /** By a tool's name. Unless set: 2 calls, once with the same arguments, twice of a tool of class `read`. */
  readonly tools?: { readonly [name: string]: ToolLimit };
};

export const DEFAULT_RUN_LIMITS: Omit<RunLimits, "tools"> = { steps: 8, toolCalls: 5, seconds: 30 };

/** What holds of a call of which policy has said something. */
export type RunGuard = (input: PolicyInput, said: Verdict) => Verdict;

type CallCounts = NonNullable<ToolLimits["counts"]>;

/** `isUsual`: nobody has said how many calls the run makes in all. */
type GuardLimits = Pick<RunLimits, "toolCalls" | "tools"> & { readonly isUsual?: boolean };

/** Whose a limit is, by the rule that it speaks as. */
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

/** `isCounted`: by a document that holds for the run. */
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
