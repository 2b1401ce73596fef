/**
 * Explains a policy's verdict on one action: every rule in turn, the values its condition read, its result, and notes
 * on the limits of the explanation. The verdict is the policy's own. The rest is computed by the same functions, rule
 * by rule. All rules of a round share their steps, as in a verdict, and so do the shown values. The generator yields
 * after each rule.
 */

import { canonicalJson } from "../../../kernel/canonical-json.ts";
import type { Json } from "../../../kernel/json.ts";
import { errorText } from "../../../kernel/text.ts";
import { compileChecked } from "../../expression/expression.ts";
import { type Node, parse, partsOf, pathText } from "../../expression/syntax.ts";
import {
  isMoment,
  isSpan,
  type Meter,
  STEPS_PER_VERDICT,
  spend,
  spendText,
  TooCostly,
  toJson,
  type Value,
} from "../../expression/values.ts";
import type { CompiledPolicy } from "../../rules/compile.ts";
import { type CompileContext, compileCondition, compileTotals } from "../../rules/compile-expressions.ts";
import { emptyFaultReport, type PolicyDocument, type PolicyRule } from "../../rules/document.ts";
import {
  type CompiledTotal,
  createPolicyContext,
  evaluateTotal,
  type PolicyContext,
  policyReaders,
} from "../../rules/evaluation-context.ts";
import { limitsFor, startedCalls } from "../../rules/limits.ts";
import { type Review, reviewAction } from "../../rules/review.ts";
import type { Validation } from "../../rules/tool-rules.ts";
import { type CallKind, matchesTool, meansUndo } from "../../rules/tools.ts";
import type { PolicyInput, Risk, Verdict } from "../../rules/verdict.ts";
import type { RuleState, StatedRule } from "./answers.ts";
import type { RecordedReview } from "./replay.ts";

export type SeenValue = { readonly name: string; readonly value: Json; readonly error: string | null };

/** Names with all their fields. Variables bound by a macro are left out: they have another value for each item. */
function pathsIn(node: Node, bound: ReadonlySet<string>): readonly (readonly [string, Node])[] {
  const path = node.kind === "has" ? undefined : pathText(node);
  if (path !== undefined) return bound.has(path.split(".")[0] ?? "") ? [] : [[path, node]];
  if (node.kind !== "each") return partsOf(node).flatMap((part) => pathsIn(part, bound));
  const inner = new Set([...bound, node.variable]);
  const [over, ...rest] = partsOf(node);
  return [
    ...(over === undefined ? [] : pathsIn(over, bound)),
    ...rest.flatMap((part) => pathsIn(part, inner)),
  ];
}

/** Each part of a value is also written out. */
const STEPS_PER_PART_WRITTEN = 10;

function jsonValue(value: Value, scene: PolicyContext): Json {
  if (isMoment(value)) return new Date(value.ms).toISOString();
  if (isSpan(value)) return `${value.ms} ms`;
  if (typeof value === "string") spendText(scene, value.length);
  const before = scene.left;
  const json = toJson(value, scene);
  spend(scene, STEPS_PER_PART_WRITTEN * (before - scene.left));
  return json;
}

/** Shows only the length of a history. */
function shown(name: string, value: Value, scene: PolicyContext): Json {
  if (name !== "history") return jsonValue(value, scene);
  return Array.isArray(value) ? `${value.length} calls` : null;
}

function valuesSeen(
  text: string,
  totals: ReadonlyMap<string, CompiledTotal>,
  looking: (look: (scene: PolicyContext) => Json) => Json,
): readonly SeenValue[] {
  const parsed = parse(text);
  if (!parsed.ok) return [];
  const paths = new Map(pathsIn(parsed.node, new Set()));
  return [...paths].map(([name, node]) => {
    const read = compileChecked(node, policyReaders(totals));
    try {
      return { name, value: looking((scene) => shown(name, read(scene), scene)), error: null };
    } catch (error) {
      return { name, value: null, error: errorText(error) };
    }
  });
}

type RuleOutcome = "matches" | "does not match" | "speaks of other tools" | "cannot be answered";

export type ExplainedRule = {
  readonly id: string;
  readonly verdict: string;
  readonly shadow: boolean;
  readonly outcome: RuleOutcome;
  /** Why it cannot be evaluated. */
  readonly error: string | null;
  /** The condition, and the values of its names. */
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

type ExplainContext = {
  readonly shop: CompileContext;
  readonly input: PolicyInput;
  readonly asked: CallKind;
  readonly risk: Risk | null;
  /** The steps left. A verdict stops at the first rule that blocks; an explanation evaluates all rules. */
  readonly rules: Meter;
  readonly values: Meter;
};

const STEPS_FOR_RULES = 2 * STEPS_PER_VERDICT;
const STEPS_FOR_VALUES = STEPS_PER_VERDICT;
const ALL_TAKEN = "what was looked at before it took all the steps that an explanation has";

/** Uses the steps left, but at most those of one verdict. */
function withinSteps<Seen>(
  { shop, input, risk }: ExplainContext,
  meter: Meter,
  look: (scene: PolicyContext) => Seen,
): Seen {
  if (meter.left <= 0) throw new TooCostly(ALL_TAKEN);
  const scene = createPolicyContext(input, shop.totals);
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

type RuleHead = Pick<PolicyRule, "id" | "tool" | "when">;

const OF_OTHERS = { outcome: "speaks of other tools", error: null } as const;

function outcomeOf(
  lens: ExplainContext,
  { tool, when = true }: RuleHead,
): { outcome: RuleOutcome; error: string | null } {
  if (!matchesTool(tool, lens.input.tool)) return OF_OTHERS;
  const isLenient = lens.asked === "undo" && !meansUndo(tool, lens.input.tool);
  try {
    const { part, readsCall } = compileCondition(lens.shop, when, { path: [], tool }, true);
    if (isLenient && readsCall) return OF_OTHERS;
    const holds = part === null || withinSteps(lens, lens.rules, part);
    return { outcome: holds ? "matches" : "does not match", error: null };
  } catch (error) {
    return isLenient ? OF_OTHERS : { outcome: "cannot be answered", error: errorText(error) };
  }
}

function explained(lens: ExplainContext, rule: RuleHead, verdict: string, shadow: boolean): ExplainedRule {
  const found = outcomeOf(lens, rule);
  const when = textOf(rule.when);
  const isSpokenTo = found.outcome !== "speaks of other tools";
  const values =
    isSpokenTo && typeof rule.when === "string"
      ? valuesSeen(rule.when, lens.shop.totals, (look) => withinSteps(lens, lens.values, look))
      : [];
  return { id: rule.id, verdict, shadow, ...found, when, values };
}

function totalsOf(lens: ExplainContext): readonly SeenValue[] {
  return [...lens.shop.totals.values()].map((total) => {
    try {
      const value = withinSteps(lens, lens.values, (scene) => evaluateTotal(scene, total));
      return { name: `totals.${total.name}`, value, error: null };
    } catch (error) {
      return { name: `totals.${total.name}`, value: null, error: errorText(error) };
    }
  });
}

function limitsOf({ shop, input, asked }: ExplainContext): ExplainedRound["limits"] {
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
  asked: CallKind,
): Generator<void, ExplainedRound> {
  const none = { totals: new Map(), used: new Set<string>(), cost: 0, report: emptyFaultReport() };
  const shop: CompileContext = { document, tools: null, ...none };
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

type Asking = Pick<ExplainContext, "input" | "asked">;

/** Yields between steps for other work. `policy` must be compiled from `document`. */
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

/** Runs without yielding. */
export function explain(...asked: Parameters<typeof explaining>): Explanation {
  const steps = explaining(...asked);
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

export type ExplanationContext = {
  readonly recorded: RecordedReview | null;
  /** False if part of the workflow's history was erased. */
  readonly isWhole: boolean;
  /** False: the arguments after revisions were not validated. */
  readonly hasSchema: boolean;
  /** Digests of documents that judged the action at that time and are no longer stored. */
  readonly gone: readonly string[];
  /** Number of documents that judge together. */
  readonly count: number;
};

const SHORT = 12;

export function explainNotes({ review }: Explanation, beside: ExplanationContext): readonly string[] {
  const { recorded, isWhole, hasSchema, gone, count } = beside;
  const limit =
    recorded?.limitOf === "run"
      ? "a limit that was set for the supervised run refused it then; no policy can change it"
      : "a usual limit of supervised runs refused it then; it holds unless a policy counts the calls of the tool itself";
  return [
    ...(recorded?.limitOf === undefined ? [] : [limit]),
    ...(count > 1 ? ["several documents are asked, and the strictest answer holds"] : []),
    ...(gone.length === 0
      ? []
      : [
          `${gone.map((digest) => digest.slice(0, SHORT)).join(", ")} was asked too and is no longer kept: what it said is not explained here`,
        ]),
    ...(isWhole ? [] : ["part of the workflow's history was erased: it may have said something else"]),
    ...(hasSchema || review.revisions.length === 0
      ? []
      : ["no schema of the tool is known: what the policy makes of the arguments was not checked"]),
  ];
}

const MOST_VALUE = 200;

function valueText({ name, value, error }: SeenValue): string {
  if (error !== null) return `${name}: ${error}`;
  const isLong = typeof value === "string" && value.length > MOST_VALUE;
  const text = canonicalJson(isLong ? value.slice(0, MOST_VALUE + 1).toWellFormed() : value);
  return `${name} = ${text.length > MOST_VALUE ? `${text.slice(0, MOST_VALUE).toWellFormed()}…` : text}`;
}

function noteOf({ outcome, when, values, error }: ExplainedRule): string {
  if (outcome === "speaks of other tools") return "";
  return [
    ...(when === null ? [] : [when]),
    ...values.map(valueText),
    ...(error === null ? [] : [`${error}; it blocks`]),
  ].join("; ");
}

/** The round's verdict names the rule that decided. */
const hasDecided = ({ id, shadow }: ExplainedRule, { verdict }: ExplainedRound): boolean =>
  !shadow && verdict.rule === id;

function stateOf(rule: ExplainedRule, round: ExplainedRound): RuleState {
  switch (rule.outcome) {
    case "speaks of other tools":
      return "other_tool";
    case "cannot be answered":
      return "failed";
    case "does not match":
      return "did_not_match";
    default:
      if (rule.shadow) return "shadow";
      return hasDecided(rule, round) ? "decided" : "matched";
  }
}

/** States of the last round. A rule that revised the arguments in an earlier round also counts as decided. */
export function ruleStates({ rounds }: Explanation): readonly StatedRule[] {
  const last = rounds.at(-1);
  if (last === undefined) return [];
  return last.rules.map((rule, index) => {
    const { id, verdict } = rule;
    const earlier = rounds.slice(0, -1).flatMap((round) => {
      const then = round.rules[index];
      return then !== undefined && stateOf(then, round) === "decided" ? [then] : [];
    });
    const [first] = earlier;
    if (first === undefined) return { id, verdict, state: stateOf(rule, last), note: noteOf(rule) };
    return { id, verdict, state: "decided", note: noteOf(first) };
  });
}
