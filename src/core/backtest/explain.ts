/**
 * Why a policy says what it says of one action: every rule in turn, what its condition looked at, and what came of it.
 *
 * Z1. The verdict is the policy's own; what is told beside it is found out by the same functions, rule by rule.
 */
import { errorText } from "../error-text.ts";
import type { Json } from "../json.ts";
import type { CompiledPolicy } from "../policy/compile.ts";
import { compileCondition, compileTotals, type Workshop } from "../policy/compile-expressions.ts";
import type { PolicyDocument, PolicyRule } from "../policy/document.ts";
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
};

/** Each looks for itself: the steps that one takes are not missing to the next. */
function scene({ shop, input, risk }: Lens): PolicyScene {
  const made = sceneOf(input, shop.totals);
  if (risk !== null) made.risk = { score: risk.score, level: risk.level };
  return made;
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
    const holds = part === null || part(scene(lens));
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
      ? valuesSeen(rule.when, lens.shop.totals, () => scene(lens))
      : [];
  return { id: rule.id, verdict, shadow, ...found, when, values };
}

function totalsOf(lens: Lens): readonly SeenValue[] {
  return [...lens.shop.totals.values()].map((total) => {
    try {
      return { name: `totals.${total.name}`, value: totalIn(scene(lens), total), error: null };
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

function explainRound(
  document: PolicyDocument,
  policy: CompiledPolicy,
  { input, asked }: Pick<Lens, "input" | "asked">,
): ExplainedRound {
  const none = { totals: new Map(), used: new Set<string>(), cost: 0, report: noReport() };
  const shop: Workshop = { document, tools: null, ...none };
  compileTotals(shop);
  const verdict = policy.judge(input, asked);
  const lens = { shop, input, asked, risk: verdict.risk ?? null };
  return {
    args: input.args,
    verdict,
    rules: (document.rules ?? []).map((rule) => explained(lens, rule, rule.verdict, rule.shadow === true)),
    totals: totalsOf(lens),
    risk: lens.risk,
    riskConditions: (document.risk?.conditions ?? []).map((one) =>
      explained({ ...lens, risk: null }, one, `${one.weight}`, false),
    ),
    limits: limitsOf(lens),
  };
}

/** `policy` has been compiled from `document`. */
export function explain(
  document: PolicyDocument,
  policy: CompiledPolicy,
  { input, asked }: Pick<Lens, "input" | "asked">,
  validate: (args: Json) => Validation,
): Explanation {
  const rounds: ExplainedRound[] = [];
  const review = reviewAction(
    {
      policy: (one) => {
        const round = explainRound(document, policy, { input: one, asked });
        rounds.push(round);
        return round.verdict;
      },
      validate,
    },
    input,
  );
  return { rounds, review };
}
