/**
 * Sums and counts over what the workflow has called.
 *
 * T1. All attempts of the workflow count, minus what was undone. What is under way or in doubt counts as done.
 * T2. Unknown is never nothing: a condition that needs the result of something under way holds, and a sum that needs it
 *     is an error, so that the rule blocks.
 */
import type { PastCall } from "../verdict.ts";
import type { ToolPattern } from "./document.ts";
import type { Meter } from "./expression/meter.ts";
import { spend } from "./expression/meter.ts";
import type { Evaluate, Readers, Scene } from "./expression/scene.ts";
import { isTrue } from "./expression/truth.ts";
import { ExpressionError, finite, type Value } from "./expression/values.ts";
import { isPattern, matchesTool, patternsOf } from "./tool-pattern.ts";

export type TotalScene = Scene & { readonly call: PastCall };
type Part = { readonly evaluate: Evaluate<TotalScene>; readonly needsResult: boolean };

export type Total = {
  readonly name: string;
  readonly tool: ToolPattern;
  readonly when: Part | null;
  /** null: each counts as one. */
  readonly sum: Part | null;
};

export const TOTAL_READERS: Readers<TotalScene> = new Map<string, Evaluate<TotalScene>>([
  ["args", ({ call }) => call.args as Value],
  ["result", ({ call }) => call.result as Value],
]);

const MAY_HAVE_HAPPENED: ReadonlySet<PastCall["status"]> = new Set(["running", "in_doubt", "applied"]);

function amountOf({ name, when, sum }: Total, scene: TotalScene): number {
  const { call } = scene;
  const isUnknown = call.status !== "applied";
  const counts = when === null || (isUnknown && when.needsResult) || isTrue(when.evaluate(scene));
  if (!counts) return 0;
  if (sum === null) return 1;
  if (isUnknown && sum.needsResult)
    throw new ExpressionError(`totals.${name} cannot be known while ${call.action} is ${call.status}`);
  const amount = sum.evaluate(scene);
  if (typeof amount !== "number")
    throw new ExpressionError(`totals.${name} of ${call.action} is not a number`);
  return amount;
}

/** Of a name against a pattern; one with stars may be looked at over and over. */
const costOf = (pattern: string): number => (isPattern(pattern) ? 10 + 3 * pattern.length : 3);

export function totalOf(total: Total, past: readonly PastCall[], meter: Meter): number {
  let whole = 0;
  const steps = 5 + patternsOf(total.tool).reduce((sum, one) => sum + costOf(one), 0);
  for (const call of past) {
    spend(meter, steps);
    if (call.undone || !MAY_HAVE_HAPPENED.has(call.status) || !matchesTool(total.tool, call.tool)) continue;
    // Variables of its own: it may be asked for in the middle of another expression.
    const scene: TotalScene = { left: meter.left, locals: [], call };
    try {
      whole = finite(whole + amountOf(total, scene));
    } finally {
      meter.left = scene.left;
    }
  }
  return whole;
}
