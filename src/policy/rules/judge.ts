/**
 * Judges one action by one compiled document, and turns the document's outcomes into verdicts.
 * - Every enforced rule for the tool is evaluated. The first that blocks wins; one that cannot be evaluated blocks.
 *   Then: tool not allowed or too many calls; first revise; repeated call; first escalate; first approve; default.
 * - Risk is scored first, for rules to read. A route by risk comes last. A revision without change does not count.
 * - For a compensation, a rule that was not written for it is skipped if it cannot be evaluated. A route by risk needs
 *   a condition that holds.
 * - Shadow rules are evaluated last. Their results and errors change nothing.
 */

import { durationMs } from "../../kernel/duration.ts";
import { isJsonObject, type Json, type JsonObject } from "../../kernel/json.ts";
import { errorText } from "../../kernel/text.ts";
import { equalValues, type Meter, type Value } from "../expression/values.ts";
import type { PolicyApprovers, PolicyOutcome, PolicyRule, PolicyTerms } from "./document.ts";
import {
  type CompiledTotal,
  createPolicyContext,
  type PolicyContext,
  pastCallsIn,
} from "./evaluation-context.ts";
import { blockIfNotAllowed, blockIfOverCount, isRepeat, startedCalls, type ToolLimits } from "./limits.ts";
import type { ApproverRule, PolicyInput, Risk, RiskLevel, ShadowVerdict, Verdict } from "./verdict.ts";

/** A document's verdict, before the review completes it. */
export type PolicyAnswer = Verdict;
type Asking = Extract<Verdict, { readonly verdict: "escalate" }>;

type Escalation = Omit<PolicyTerms, "verdict">;

export function approverRuleFrom(given: PolicyApprovers): Partial<ApproverRule> {
  const { from, quorum, veto, at_half_time, remind_every, separation_of_duties: separate } = given;
  return {
    ...(from === undefined ? {} : { from }),
    ...(quorum === undefined ? {} : { quorum }),
    ...(veto === undefined ? {} : { veto }),
    ...(at_half_time === undefined ? {} : { escalateAtHalf: at_half_time.also }),
    ...within("remindEveryMs", remind_every),
    ...(separate === undefined ? {} : { separate }),
  };
}

function within<Key extends string>(key: Key, text: string | undefined): { readonly [K in Key]?: number } {
  const ms = text === undefined ? undefined : durationMs(text);
  return ms === undefined ? {} : ({ [key]: ms } as { readonly [K in Key]?: number });
}

function escalation({
  approvers,
  stages,
  decide_by,
  execute_by,
  on_timeout,
}: Escalation): Omit<Asking, "verdict"> {
  return {
    ...(approvers === undefined ? {} : { approvers: approverRuleFrom(approvers) }),
    ...(stages === undefined
      ? {}
      : {
          stages: stages.map((one) => ({
            ...approverRuleFrom(one),
            ...within("decideWithinMs", one.decide_by),
          })),
        }),
    ...within("decideWithinMs", decide_by),
    ...within("executeWithinMs", execute_by),
    ...(on_timeout === undefined ? {} : { onTimeout: on_timeout }),
  };
}

/** The verdict of a rule that does not revise, of a route by risk, or of the default. */
export function answerFromTerms(terms: PolicyTerms, rule: string, spoken: string): PolicyAnswer {
  const { verdict, reason = spoken } = terms;
  if (verdict !== "escalate") return { verdict, rule, reason };
  return { verdict, rule, reason, ...escalation(terms) };
}

export const outcomeTerms = (outcome: PolicyOutcome | undefined): PolicyTerms =>
  typeof outcome === "object" ? outcome : { verdict: outcome ?? "block" };

/** The written reason. A reason that depends on the call replaces it during evaluation. */
export function reasonIn({ id, reason }: PolicyRule): string {
  return typeof reason === "string" ? reason : `rule ${id}`;
}

export function ruleAnswer(rule: PolicyRule): PolicyAnswer | null {
  const { verdict, id } = rule;
  const reason = reasonIn(rule);
  return verdict === "revise" ? null : answerFromTerms({ ...rule, verdict, reason }, id, reason);
}

export type CompiledCondition = (scene: PolicyContext) => boolean;
export type SetValue = Json | ((scene: PolicyContext) => Json);

export type CompiledRule = {
  readonly id: string;
  /** null: always true. */
  readonly when: CompiledCondition | null;
  /** A reason that depends on the call; null: as written. */
  readonly reason: ((scene: PolicyContext) => string) | null;
  /** If the rule cannot be evaluated, it does not apply. */
  readonly isLenient?: true;
} & (
  | { readonly answer: PolicyAnswer; readonly revise: null }
  | { readonly answer: null; readonly revise: Revise }
);

type Revise = { readonly set: readonly (readonly [string, SetValue])[]; readonly reason: string };

export type RiskCondition = {
  readonly id: string;
  readonly when: CompiledCondition;
  readonly weight: number;
  readonly isLenient?: true;
};

type RiskPlan = {
  readonly conditions: readonly RiskCondition[];
  readonly levelOf: (score: number) => RiskLevel;
  readonly routes: ReadonlyMap<RiskLevel, PolicyAnswer>;
  /** A route applies only if a condition holds. */
  readonly needsCause: boolean;
};

/** Everything in a document that applies to one tool, in file order. */
export type ToolPlan = {
  readonly rules: readonly CompiledRule[];
  readonly shadows: readonly CompiledRule[];
  readonly risk: RiskPlan | null;
  readonly limits: ToolLimits;
  readonly otherwise: PolicyAnswer;
  readonly totals: ReadonlyMap<string, CompiledTotal>;
};

function fails(rule: string, error: unknown): PolicyAnswer {
  return { verdict: "block", rule, reason: `rule ${rule} cannot be answered: ${errorText(error)}` };
}

export function resolveSetValue(value: SetValue, scene: PolicyContext): Json {
  return typeof value === "function" ? value(scene) : value;
}

function isChange(args: Json, set: JsonObject, meter: Meter): boolean {
  if (!isJsonObject(args)) return true;
  return Object.entries(set).some(
    ([key, value]) => !Object.hasOwn(args, key) || !equalValues(args[key] as Value, value as Value, meter),
  );
}

/** Undefined if the rule does not match or would change nothing. */
function evaluateRule(rule: CompiledRule, scene: PolicyContext): PolicyAnswer | undefined {
  if (rule.when !== null && !rule.when(scene)) return undefined;
  const answer = rule.revise === null ? rule.answer : revision(rule.id, rule.revise, scene);
  if (answer === undefined || rule.reason === null) return answer;
  return { ...answer, reason: rule.reason(scene) };
}

function revision(rule: string, { set, reason }: Revise, scene: PolicyContext): PolicyAnswer | undefined {
  const values = Object.fromEntries(set.map(([key, value]) => [key, resolveSetValue(value, scene)]));
  return isChange(scene.input.args, values, scene)
    ? { verdict: "revise", set: values, reason, rule }
    : undefined;
}

type FirstAnswers = { revise?: PolicyAnswer; escalate?: PolicyAnswer; approve?: PolicyAnswer };

/** The first answer of each kind. The first block ends the search. */
function collectAnswers(
  rules: readonly CompiledRule[],
  route: PolicyAnswer | undefined,
  scene: PolicyContext,
): PolicyAnswer | FirstAnswers {
  const found: FirstAnswers = {};
  const note = (answer: PolicyAnswer | undefined): boolean => {
    if (answer === undefined || answer.verdict === "block") return answer !== undefined;
    found[answer.verdict] ??= answer;
    return false;
  };
  for (const rule of rules) {
    const answer = attempt(rule, scene);
    if (note(answer)) return answer as PolicyAnswer;
  }
  return note(route) ? (route as PolicyAnswer) : found;
}

function attempt(rule: CompiledRule, scene: PolicyContext): PolicyAnswer | undefined {
  try {
    return evaluateRule(rule, scene);
  } catch (error) {
    return rule.isLenient === true ? undefined : fails(rule.id, error);
  }
}

const isAnswer = (found: PolicyAnswer | FirstAnswers): found is PolicyAnswer => "verdict" in found;

function enforce(plan: ToolPlan, route: PolicyAnswer | undefined, scene: PolicyContext): PolicyAnswer {
  const found = collectAnswers(plan.rules, route, scene);
  if (isAnswer(found)) return found;
  const { input } = scene;
  if (!plan.limits.allowed) return blockIfNotAllowed(input);
  const counts = input.workflow === null ? null : plan.limits.counts;
  const started = counts === null ? [] : startedCalls(input, pastCallsIn(scene));
  const over = counts === null ? undefined : blockIfOverCount(input, counts, started);
  if (over !== undefined || found.revise !== undefined) return over ?? (found.revise as PolicyAnswer);
  const repeat = counts === null ? undefined : isRepeat(input, counts, started, scene);
  return repeat ?? found.escalate ?? found.approve ?? plan.otherwise;
}

function score({ conditions, levelOf }: RiskPlan, scene: PolicyContext): Risk | PolicyAnswer {
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

function onTrial(shadows: readonly CompiledRule[], scene: PolicyContext): readonly ShadowVerdict[] {
  return shadows.flatMap((rule): readonly ShadowVerdict[] => {
    try {
      const answer = evaluateRule(rule, scene);
      return answer === undefined
        ? []
        : [{ rule: rule.id, verdict: answer.verdict, reason: answer.reason ?? "" }];
    } catch (error) {
      return rule.isLenient === true ? [] : [{ rule: rule.id, verdict: "error", reason: errorText(error) }];
    }
  });
}

export function judgeByPlan(plan: ToolPlan, input: PolicyInput): Verdict {
  const scene = createPolicyContext(input, plan.totals);
  const risk = plan.risk === null ? null : score(plan.risk, scene);
  if (risk !== null && "verdict" in risk) return withNotes(risk, null, onTrial(plan.shadows, scene));
  if (risk !== null) scene.risk = { score: risk.score, level: risk.level };
  const isRouted = risk !== null && (plan.risk?.needsCause !== true || risk.conditions.length > 0);
  const route = isRouted ? plan.risk?.routes.get(risk.level) : undefined;
  const answer = enforce(plan, route, scene);
  return withNotes(answer, risk, plan.shadows.length === 0 ? [] : onTrial(plan.shadows, scene));
}

function withNotes(answer: PolicyAnswer, risk: Risk | null, shadow: readonly ShadowVerdict[]): PolicyAnswer {
  if (risk === null && shadow.length === 0) return answer;
  return { ...answer, ...(risk === null ? {} : { risk }), ...(shadow.length === 0 ? {} : { shadow }) };
}
