/** Compiles a document into a policy, or reports all its faults. */

import { digestOf, frozenJson } from "../../kernel/canonical-json.ts";
import type { Json, JsonObject } from "../../kernel/json.ts";
import type { RosterState } from "../../people/stream.ts";
import {
  type CompileContext,
  checkCost,
  compileCondition,
  compileReason,
  compileTotals,
  compileValue,
  isCallField,
} from "./compile-expressions.ts";
import {
  emptyFaultReport,
  type PolicyDocument,
  type PolicyFault,
  type PolicyRule,
  type PolicyText,
  parseDocument,
  storedDocument,
  type ToolPattern,
} from "./document.ts";
import {
  answerFromTerms,
  type CompiledRule,
  judgeByPlan,
  outcomeTerms,
  type PolicyAnswer,
  type RiskCondition,
  reasonIn,
  ruleAnswer,
  type ToolPlan,
} from "./judge.ts";
import { limitsFor, UNLIMITED } from "./limits.ts";
import { lintDocument } from "./lint.ts";
import { type CallKind, FINAL, type KnownTool, matchesTool, meansUndo, UNDO_NOT_NAMED } from "./tools.ts";
import { type PolicyInput, RISK_LEVELS, type RiskLevel, type Verdict } from "./verdict.ts";

export type CompiledPolicy = {
  readonly name: string;
  /** SHA-256 over the canonical JSON of the document. */
  readonly digest: string;
  readonly document: JsonObject;
  readonly limits: { readonly steps?: number; readonly toolCalls?: number; readonly seconds?: number };
  /** `asked`: a call or a compensation. Default: a call. */
  judge(input: PolicyInput, asked?: CallKind): Verdict;
  /** Whether the rules for this tool read the workflow's earlier calls. */
  usesHistory(tool: string): boolean;
  /** Whether the policy limits the number of calls of this tool. */
  countsCalls(tool: string): boolean;
};

type Compilation =
  | { readonly ok: true; readonly policy: CompiledPolicy; readonly warnings: readonly PolicyFault[] }
  | {
      readonly ok: false;
      readonly faults: readonly PolicyFault[];
      readonly warnings: readonly PolicyFault[];
      /** Rules and expressions are checked only once the shape is valid. */
      readonly looked: "shape" | "whole";
    };

type Scoped<Part> = {
  readonly tool: ToolPattern | undefined;
  readonly part: Part;
  readonly looksBack: boolean;
  readonly readsCall: boolean;
};
type Parts = {
  readonly rules: readonly Scoped<CompiledRule>[];
  readonly shadows: readonly Scoped<CompiledRule>[];
  readonly conditions: readonly Scoped<RiskCondition>[];
};

function compileRule(shop: CompileContext, rule: PolicyRule, index: number): Scoped<CompiledRule> {
  const { id, tool, when = true, set = {} } = rule;
  const path = ["rules", index];
  const condition = compileCondition(shop, when, { path: [...path, "when"], tool }, true);
  const values = Object.entries(set).map(
    ([key, value]) => [key, compileValue(shop, value, { path: [...path, "set", key], tool })] as const,
  );
  const said =
    typeof rule.reason === "object"
      ? compileReason(shop, rule.reason.expr, { path: [...path, "reason"], tool })
      : null;
  const answer = ruleAnswer(rule);
  const common = { id, when: condition.part, reason: said?.part ?? null };
  const revise = { set: values.map(([key, { part }]) => [key, part] as const), reason: reasonIn(rule) };
  const part: CompiledRule =
    answer === null ? { ...common, answer, revise } : { ...common, answer, revise: null };
  const looks = [condition, ...values.map(([, value]) => value), ...(said === null ? [] : [said])];
  const readsCall = looks.some((one) => one.readsCall) || Object.keys(set).some(isCallField);
  return { tool, part, looksBack: looks.some((one) => one.looksBack), readsCall };
}

function compileRisk(shop: CompileContext): readonly Scoped<RiskCondition>[] {
  return (shop.document.risk?.conditions ?? []).map(({ id, tool, when, weight }, index) => {
    const path = ["risk", "conditions", index, "when"];
    const { part, ...reads } = compileCondition(shop, when, { path, tool }, false);
    return { tool, part: { id, when: part ?? (() => true), weight }, ...reads };
  });
}

const LEVELS = { medium: 30, high: 60, critical: 90 } as const;

function levels({ risk }: PolicyDocument): (score: number) => RiskLevel {
  const { medium = LEVELS.medium, high = LEVELS.high, critical = LEVELS.critical } = risk?.levels ?? {};
  return (score) => {
    if (score >= critical) return "critical";
    if (score >= high) return "high";
    return score >= medium ? "medium" : "low";
  };
}

function routes({ risk }: PolicyDocument): ReadonlyMap<RiskLevel, PolicyAnswer> {
  const written = RISK_LEVELS.flatMap((level): readonly (readonly [RiskLevel, PolicyAnswer])[] => {
    const outcome = risk?.routes?.[level];
    return outcome === undefined
      ? []
      : [[level, answerFromTerms(outcomeTerms(outcome), `risk:${level}`, `the risk is ${level}`)]];
  });
  return new Map(written);
}

const UNREVIEWED: PolicyAnswer = {
  verdict: "approve",
  rule: "final:not_named",
  reason: "no rule names final",
};

/** A call with an effect is not a final answer and must not pass as one. */
const isFalseAnswer = ({ tool, effectClass }: PolicyInput): boolean =>
  tool === FINAL && effectClass !== "read";
const FALSE_ANSWER: PolicyAnswer = {
  verdict: "block",
  rule: "final:not_an_answer",
  reason: "a tool is named final, which is what a worker's answer is called, and it has an effect",
};

/** A final answer is not a tool call: a policy that does not name it does not decide on it. */
function otherwise(
  { default: outcome, policy }: PolicyDocument,
  tool: string,
  isNamed: boolean,
): PolicyAnswer {
  if (tool === FINAL && !isNamed) return UNREVIEWED;
  return answerFromTerms(
    outcomeTerms(outcome),
    "default",
    `no rule of ${policy} speaks of this call of ${tool}`,
  );
}

const NOT_NAMED: PolicyAnswer = {
  verdict: "approve",
  rule: UNDO_NOT_NAMED,
  reason: "no rule speaks of taking it back",
};

/** A rule that was not written for compensations does not apply to one whose arguments do not fit it. */
function ofUndo<Part extends object>(all: readonly Scoped<Part>[], tool: string): readonly Scoped<Part>[] {
  return all.flatMap((one) => {
    if (!matchesTool(one.tool, tool)) return [];
    if (meansUndo(one.tool, tool)) return [one];
    return one.readsCall ? [] : [{ ...one, part: { ...one.part, isLenient: true } }];
  });
}

/** A compensation that no rule matches is allowed: the default and the limits do not apply to it. */
function planner(
  document: PolicyDocument,
  { rules, shadows, conditions }: Parts,
  totals: ToolPlan["totals"],
  asked: CallKind,
) {
  const isUndo = asked === "undo";
  const risk = { levelOf: levels(document), routes: routes(document), needsCause: isUndo };
  return (tool: string): ToolPlan & { readonly looksBack: boolean } => {
    const ofTool = <Part extends object>(all: readonly Scoped<Part>[]) =>
      isUndo ? ofUndo(all, tool) : all.filter((one) => matchesTool(one.tool, tool));
    const own = { rules: ofTool(rules), shadows: ofTool(shadows), conditions: ofTool(conditions) };
    const limits = isUndo ? UNLIMITED : limitsFor(document, tool);
    const isRisky = document.risk !== undefined && (isUndo || tool !== FINAL || own.rules.length > 0);
    return {
      rules: own.rules.map(({ part }) => part),
      shadows: own.shadows.map(({ part }) => part),
      risk: isRisky ? { ...risk, conditions: own.conditions.map(({ part }) => part) } : null,
      limits,
      otherwise: isUndo ? NOT_NAMED : otherwise(document, tool, own.rules.length > 0),
      totals,
      looksBack: limits.counts !== null || Object.values(own).some((all) => all.some((one) => one.looksBack)),
    };
  };
}

/** Bounds the cache: there are few tools, but names come from outside. */
const MOST_PLANS = 1_000;

function memoize<Value>(make: (key: string) => Value): (key: string) => Value {
  const known = new Map<string, Value>();
  return (key) => {
    const value = known.get(key) ?? make(key);
    if (known.size < MOST_PLANS) known.set(key, value);
    return value;
  };
}

function policyOf(document: PolicyDocument, parts: Parts, totals: ToolPlan["totals"]): CompiledPolicy {
  const stored = frozenJson(storedDocument(document)) as Json & JsonObject;
  const { steps, tool_calls: toolCalls, seconds } = document.limits ?? {};
  const planFor = memoize(planner(document, parts, totals, "call"));
  const plans = { call: planFor, undo: memoize(planner(document, parts, totals, "undo")) } as const;
  return {
    name: document.policy,
    digest: digestOf(stored),
    document: stored,
    limits: {
      ...(steps === undefined ? {} : { steps }),
      ...(toolCalls === undefined ? {} : { toolCalls }),
      ...(seconds === undefined ? {} : { seconds }),
    },
    judge: (input, asked = "call") =>
      isFalseAnswer(input) ? FALSE_ANSWER : judgeByPlan(plans[asked](input.tool), input),
    usesHistory: (tool) => planFor(tool).looksBack,
    countsCalls: (tool) => planFor(tool).limits.counts !== null,
  };
}

/** Known in addition to the tools. `roster` resolves who is in a role or group. */
export type CompileOptions = { readonly roster?: RosterState };

export function compilePolicy(
  given: PolicyText | PolicyDocument,
  tools: readonly KnownTool[] | null,
  { roster }: CompileOptions = {},
): Compilation {
  const shaped = parseDocument(given);
  if (!shaped.ok) return { ok: false, faults: shaped.faults, warnings: [], looked: "shape" };
  const { document } = shaped;
  const none = { report: emptyFaultReport(), totals: new Map(), used: new Set<string>(), cost: 0 };
  const shop: CompileContext = { document, tools, ...(roster === undefined ? {} : { roster }), ...none };
  compileTotals(shop);
  const all = (document.rules ?? []).map((rule, index) => ({
    shadow: rule.shadow === true,
    ...compileRule(shop, rule, index),
  }));
  const conditions = compileRisk(shop);
  checkCost(shop);
  lintDocument(shop);
  const { faults, warnings } = shop.report;
  if (faults.length > 0) return { ok: false, faults, warnings, looked: "whole" };
  const parts = {
    rules: all.filter((one) => !one.shadow),
    shadows: all.filter((one) => one.shadow),
    conditions,
  };
  return { ok: true, policy: policyOf(document, parts, shop.totals), warnings };
}
