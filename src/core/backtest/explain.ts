/**
 * Why a policy says what it says of one action: every rule in turn, what its condition looked at, and what came of it.
 *
 * Z1. The verdict is the policy's own; what is told beside it is found out by the same functions, rule by rule.
 * Z2. All rules of a round share their steps, as in a verdict, and so do the values that are shown. After each rule others may
 *     have their turn.
 */

import type { Json } from "../../kernel/json.ts";
import { errorText } from "../../kernel/text.ts";

import type { CompiledPolicy } from "../policy/compile.ts";
import { compileCondition, compileTotals, type Workshop } from "../policy/compile-expressions.ts";
import type { PolicyDocument, PolicyRule } from "../policy/document.ts";
import { type Meter, STEPS_PER_VERDICT } from "../policy/expression/meter.ts";
import { TooCostly } from "../policy/expression/values.ts";
import { noReport } from "../policy/fault.ts";
import { limitsFor, startedCalls } from "../policy/limits.ts";
import { type PolicyScene, sceneOf, totalIn } from "../policy/scene.ts";
import { type Asked, matchesTool, meansUndo } from "../policy/tool-pattern.ts";
import { type Review, reviewAction } from "../review.ts";
import type { Validation } from "../tool-rules.ts";
import type { PolicyInput, Risk, Verdict } from "../verdict.ts";
import { type SeenValue, valuesSeen } from "./values-seen.ts";

export type Outcome = "matches" | "does not match" | "speaks of other tools" | "cannot be answered";

export type ExplainedRule = {
  readonly id: string;
  readonly verdict: string;
  readonly shadow: boolean;
  readonly outcome: Outcome;
  /** Why it cannot be answered. */
  readonly error: string | null;
  /** The condition, and what the names in it stood for. */
  readonly when: string | null;
  readonly values: readonly SeenValue[];
};

export type ExplainedRound = {
  readonly args: Json;
  readonly verdict: Verdict;
  readonly rules: readonly ExplainedRule[];
  readonly totals: readonly SeenValue[];
  readonly risk: Risk | null;
  readonly riskConditions: readonly ExplainedRule[];
  readonly limits: {
    readonly allowed: boolean;
    readonly toolCalls: { readonly made: number; readonly most: number | null };
    readonly calls: { readonly made: number; readonly most: number };
  } | null;
};

export type Explanation = { readonly rounds: readonly ExplainedRound[]; readonly review: Review };

type Lens = {
  readonly shop: Workshop;
  readonly input: PolicyInput;
  readonly asked: Asked;
  readonly risk: Risk | null;
  /** The steps that are left: a verdict stops at the first rule that blocks, and here all of them are looked at. */
  readonly rules: Meter;
  readonly values: Meter;
};

const STEPS_FOR_RULES = 2 * STEPS_PER_VERDICT;
const STEPS_FOR_VALUES = STEPS_PER_VERDICT;
const ALL_TAKEN = "what was looked at before it took all the steps that an explanation has";

/** With what is left of the steps, and of a verdict's at most. */
function looking<Seen>({ shop, input, risk }: Lens, meter: Meter, look: (scene: PolicyScene) => Seen): Seen {
  if (meter.left <= 0) throw new TooCostly(ALL_TAKEN);
  const scene = sceneOf(input, shop.totals);
  if (risk !== null) scene.risk = { score: risk.score, level: risk.level };
  const given = Math.min(meter.left, STEPS_PER_VERDICT);
  scene.left = given;
  try {
    return look(scene);
  } catch (error) {
    throw error instanceof TooCostly && given < STEPS_PER_VERDICT ? new TooCostly(ALL_TAKEN) : error;
  } finally {
    meter.left -= given - scene.left;
  }
}

const textOf = (when: PolicyRule["when"]): string | null => {
  if (when === undefined || when === true) return null;
  return typeof when === "function" ? String(when) : String(when);
};

type Spoken = Pick<PolicyRule, "id" | "tool" | "when">;

const OF_OTHERS = { outcome: "speaks of other tools", error: null } as const;

function outcomeOf(lens: Lens, { tool, when = true }: Spoken): { outcome: Outcome; error: string | null } {
  if (!matchesTool(tool, lens.input.tool)) return OF_OTHERS;
  const isLenient = lens.asked === "undo" && !meansUndo(tool, lens.input.tool);
  try {
    const { part, readsCall } = compileCondition(lens.shop, when, { path: [], tool }, true);
    if (isLenient && readsCall) return OF_OTHERS;
    const holds = part === null || looking(lens, lens.rules, part);
    return { outcome: holds ? "matches" : "does not match", error: null };
  } catch (error) {
    return isLenient ? OF_OTHERS : { outcome: "cannot be answered", error: errorText(error) };
  }
}

function explained(lens: Lens, rule: Spoken, verdict: string, shadow: boolean): ExplainedRule {
  const found = outcomeOf(lens, rule);
  const when = textOf(rule.when);
  const isSpokenTo = found.outcome !== "speaks of other tools";
  const values =
    isSpokenTo && typeof rule.when === "string"
      ? valuesSeen(rule.when, lens.shop.totals, (look) => looking(lens, lens.values, look))
      : [];
  return { id: rule.id, verdict, shadow, ...found, when, values };
}

function totalsOf(lens: Lens): readonly SeenValue[] {
  return [...lens.shop.totals.values()].map((total) => {
    try {
      const value = looking(lens, lens.values, (scene) => totalIn(scene, total));
      return { name: `totals.${total.name}`, value, error: null };
    } catch (error) {
      return { name: `totals.${total.name}`, value: null, error: errorText(error) };
    }
  });
}

function limitsOf({ shop, input, asked }: Lens): ExplainedRound["limits"] {
  if (asked === "undo") return null;
  const { allowed, counts } = limitsFor(shop.document, input.tool);
  if (counts === null) return allowed ? null : { allowed, ...NO_COUNTS };
  const started = input.workflow === null ? [] : startedCalls(input, input.history);
  const same = started.filter(({ tool }) => tool === input.tool).length;
  const most = Number.isFinite(counts.toolCalls) ? counts.toolCalls : null;
  return { allowed, toolCalls: { made: started.length, most }, calls: { made: same, most: counts.calls } };
}

const NO_COUNTS = { toolCalls: { made: 0, most: null }, calls: { made: 0, most: 0 } };

type Judged = { readonly input: PolicyInput; readonly verdict: Verdict };

function* each<One, Told>(all: readonly One[], tell: (one: One) => Told): Generator<void, readonly Told[]> {
  const told: Told[] = [];
  for (const one of all) {
    told.push(tell(one));
    yield;
  }
  return told;
}

function* explainRound(
  document: PolicyDocument,
  { input, verdict }: Judged,
  asked: Asked,
): Generator<void, ExplainedRound> {
  const none = { totals: new Map(), used: new Set<string>(), cost: 0, report: noReport() };
  const shop: Workshop = { document, tools: null, ...none };
  compileTotals(shop);
  const steps = { rules: { left: STEPS_FOR_RULES }, values: { left: STEPS_FOR_VALUES } };
  const lens = { shop, input, asked, risk: verdict.risk ?? null, ...steps };
  return {
    args: input.args,
    verdict,
    riskConditions: yield* each(document.risk?.conditions ?? [], (one) =>
      explained({ ...lens, risk: null }, one, `${one.weight}`, false),
    ),
    rules: yield* each(document.rules ?? [], (rule) =>
      explained(lens, rule, rule.verdict, rule.shadow === true),
    ),
    totals: totalsOf(lens),
    risk: lens.risk,
    limits: limitsOf(lens),
  };
}

type Asking = Pick<Lens, "input" | "asked">;

/** In steps, between which others may have their turn. `policy` has been compiled from `document`. */
export function* explaining(
  document: PolicyDocument,
  policy: CompiledPolicy,
  { input, asked }: Asking,
  validate: (args: Json) => Validation,
): Generator<void, Explanation> {
  const judged: Judged[] = [];
  const judge = (one: PolicyInput) => {
    const verdict = policy.judge(one, asked);
    judged.push({ input: one, verdict });
    return verdict;
  };
  const review = reviewAction({ policy: judge, validate }, input);
  const rounds: ExplainedRound[] = [];
  for (const one of judged) rounds.push(yield* explainRound(document, one, asked));
  return { rounds, review };
}

/** At once, for whoever has nothing else to do. */
export function explain(...asked: Parameters<typeof explaining>): Explanation {
  const steps = explaining(...asked);
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}
