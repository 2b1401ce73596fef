/**
 * One action, one document, one verdict.
 *
 * J1. Every enforced rule that speaks of the tool is evaluated. The first that blocks wins, and one that cannot be answered
 *     blocks. Then: not an allowed tool or too many calls; the first that revises; a repeated call; the first that escalates;
 *     the first that approves; the default.
 * J2. A revision that would change nothing does not count.
 * J3. Risk is scored before the rules, which may ask for it. A route by risk is a rule that stands last.
 * J4. Of a compensation, a rule that was not written for it and cannot be answered says nothing, and so does a route by risk
 *     where no condition holds of it.
 * J5. Rules on trial are evaluated last and change nothing, whatever they say or fail at.
 */

import { isJsonObject, type Json, type JsonObject } from "../../kernel/json.ts";
import { errorText } from "../../kernel/text.ts";

import type { PolicyInput, Risk, RiskLevel, ShadowVerdict, Verdict } from "../verdict.ts";
import { equal } from "./expression/equal.ts";
import type { Meter } from "./expression/meter.ts";
import type { Value } from "./expression/values.ts";
import { isRepeat, notAllowed, overCount, startedCalls, type ToolLimits } from "./limits.ts";
import { type PolicyScene, pastOf, sceneOf } from "./scene.ts";
import type { Answer } from "./terms.ts";
import type { Total } from "./totals.ts";

export type Condition = (scene: PolicyScene) => boolean;
export type SetValue = Json | ((scene: PolicyScene) => Json);

export type Rule = {
  readonly id: string;
  /** null: it always holds. */
  readonly when: Condition | null;
  /** What it says, where that depends on the call; null: as written. */
  readonly reason: ((scene: PolicyScene) => string) | null;
  /** Where it cannot be answered it does not apply. */
  readonly isLenient?: true;
} & ({ readonly answer: Answer; readonly revise: null } | { readonly answer: null; readonly revise: Revise });

export type Revise = { readonly set: readonly (readonly [string, SetValue])[]; readonly reason: string };

export type RiskCondition = {
  readonly id: string;
  readonly when: Condition;
  readonly weight: number;
  readonly isLenient?: true;
};

export type RiskPlan = {
  readonly conditions: readonly RiskCondition[];
  readonly levelOf: (score: number) => RiskLevel;
  readonly routes: ReadonlyMap<RiskLevel, Answer>;
  /** A route counts only where a condition holds. */
  readonly needsCause: boolean;
};

/** Everything in a document that speaks of one tool, in the order of the file. */
export type Plan = {
  readonly rules: readonly Rule[];
  readonly shadows: readonly Rule[];
  readonly risk: RiskPlan | null;
  readonly limits: ToolLimits;
  readonly otherwise: Answer;
  readonly totals: ReadonlyMap<string, Total>;
};

function fails(rule: string, error: unknown): Answer {
  return { verdict: "block", rule, reason: `rule ${rule} cannot be answered: ${errorText(error)}` };
}

export function settled(value: SetValue, scene: PolicyScene): Json {
  return typeof value === "function" ? value(scene) : value;
}

function isChange(args: Json, set: JsonObject, meter: Meter): boolean {
  if (!isJsonObject(args)) return true;
  return Object.entries(set).some(
    ([key, value]) => !Object.hasOwn(args, key) || !equal(args[key] as Value, value as Value, meter),
  );
}

/** Undefined where the rule does not hold, or has nothing to change. */
function answerOf(rule: Rule, scene: PolicyScene): Answer | undefined {
  if (rule.when !== null && !rule.when(scene)) return undefined;
  const answer = rule.revise === null ? rule.answer : revision(rule.id, rule.revise, scene);
  if (answer === undefined || rule.reason === null) return answer;
  return { ...answer, reason: rule.reason(scene) };
}

function revision(rule: string, { set, reason }: Revise, scene: PolicyScene): Answer | undefined {
  const values = Object.fromEntries(set.map(([key, value]) => [key, settled(value, scene)]));
  return isChange(scene.input.args, values, scene)
    ? { verdict: "revise", set: values, reason, rule }
    : undefined;
}

type Found = { revise?: Answer; escalate?: Answer; approve?: Answer };

/** The first of each kind; the first that blocks ends it. */
function collect(rules: readonly Rule[], route: Answer | undefined, scene: PolicyScene): Answer | Found {
  const found: Found = {};
  const note = (answer: Answer | undefined): boolean => {
    if (answer === undefined || answer.verdict === "block") return answer !== undefined;
    found[answer.verdict] ??= answer;
    return false;
  };
  for (const rule of rules) {
    const answer = attempt(rule, scene);
    if (note(answer)) return answer as Answer;
  }
  return note(route) ? (route as Answer) : found;
}

function attempt(rule: Rule, scene: PolicyScene): Answer | undefined {
  try {
    return answerOf(rule, scene);
  } catch (error) {
    return rule.isLenient === true ? undefined : fails(rule.id, error);
  }
}

const isAnswer = (found: Answer | Found): found is Answer => "verdict" in found;

function enforce(plan: Plan, route: Answer | undefined, scene: PolicyScene): Answer {
  const found = collect(plan.rules, route, scene);
  if (isAnswer(found)) return found;
  const { input } = scene;
  if (!plan.limits.allowed) return notAllowed(input);
  const counts = input.workflow === null ? null : plan.limits.counts;
  const started = counts === null ? [] : startedCalls(input, pastOf(scene));
  const over = counts === null ? undefined : overCount(input, counts, started);
  if (over !== undefined || found.revise !== undefined) return over ?? (found.revise as Answer);
  const repeat = counts === null ? undefined : isRepeat(input, counts, started, scene);
  return repeat ?? found.escalate ?? found.approve ?? plan.otherwise;
}

function score({ conditions, levelOf }: RiskPlan, scene: PolicyScene): Risk | Answer {
  const held: string[] = [];
  let sum = 0;
  for (const { id, when, weight, isLenient } of conditions) {
    try {
      if (!when(scene)) continue;
    } catch (error) {
      if (isLenient === true) continue;
      return fails(`risk:${id}`, error);
    }
    held.push(id);
    sum += weight;
  }
  return { score: sum, level: levelOf(sum), conditions: held };
}

function onTrial(shadows: readonly Rule[], scene: PolicyScene): readonly ShadowVerdict[] {
  return shadows.flatMap((rule): readonly ShadowVerdict[] => {
    try {
      const answer = answerOf(rule, scene);
      return answer === undefined
        ? []
        : [{ rule: rule.id, verdict: answer.verdict, reason: answer.reason ?? "" }];
    } catch (error) {
      return rule.isLenient === true ? [] : [{ rule: rule.id, verdict: "error", reason: errorText(error) }];
    }
  });
}

export function judge(plan: Plan, input: PolicyInput): Verdict {
  const scene = sceneOf(input, plan.totals);
  const risk = plan.risk === null ? null : score(plan.risk, scene);
  if (risk !== null && "verdict" in risk) return withRemarks(risk, null, onTrial(plan.shadows, scene));
  if (risk !== null) scene.risk = { score: risk.score, level: risk.level };
  const isRouted = risk !== null && (plan.risk?.needsCause !== true || risk.conditions.length > 0);
  const route = isRouted ? plan.risk?.routes.get(risk.level) : undefined;
  const answer = enforce(plan, route, scene);
  return withRemarks(answer, risk, plan.shadows.length === 0 ? [] : onTrial(plan.shadows, scene));
}

function withRemarks(answer: Answer, risk: Risk | null, shadow: readonly ShadowVerdict[]): Answer {
  if (risk === null && shadow.length === 0) return answer;
  return { ...answer, ...(risk === null ? {} : { risk }), ...(shadow.length === 0 ? {} : { shadow }) };
}
