/**
 * What policy expressions see of one action: names, facts, history and totals.
 * - History is read once, and only if an expression needs it. Totals are sums and counts over the workflow's calls.
 * - All attempts of the workflow count, except undone calls. A running call or one in doubt counts as done.
 * - Unknown never counts as nothing: a condition that needs the result of a running call is true, and a sum that needs
 *   it is an error, so that the rule blocks.
 */
import type { Evaluate, EvaluationContext, Readers } from "../expression/evaluate.ts";
import {
  ANY,
  BOOL,
  listOf,
  MOMENT,
  NUMBER,
  objectOf,
  oneOf,
  STRING,
  type Type,
} from "../expression/types.ts";
import {
  ExpressionError,
  isTrue,
  type Meter,
  makeMoment,
  requireFinite,
  STEPS_PER_VERDICT,
  spend,
  type Value,
} from "../expression/values.ts";
import { type Facts, NO_WORKFLOW, type ToolPattern } from "./document.ts";
import { EFFECT_CLASSES } from "./tool-rules.ts";
import { isPattern, matchesTool, patternsOf } from "./tools.ts";
import { PAST_STATUSES, type PastCall, type PolicyInput, RISK_LEVELS, type RiskLevel } from "./verdict.ts";

type TotalContext = EvaluationContext & { readonly call: PastCall };
type Part = { readonly evaluate: Evaluate<TotalContext>; readonly needsResult: boolean };

export type CompiledTotal = {
  readonly name: string;
  readonly tool: ToolPattern;
  readonly when: Part | null;
  /** null: each call counts as one. */
  readonly sum: Part | null;
};

export const TOTAL_READERS: Readers<TotalContext> = new Map<string, Evaluate<TotalContext>>([
  ["args", ({ call }) => call.args as Value],
  ["result", ({ call }) => call.result as Value],
]);

const MAY_HAVE_HAPPENED: ReadonlySet<PastCall["status"]> = new Set(["running", "in_doubt", "applied"]);

function amountOf({ name, when, sum }: CompiledTotal, scene: TotalContext): number {
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

/** Cost of matching a name. A pattern with stars may need backtracking. */
const stepsToMatch = (pattern: string): number => (isPattern(pattern) ? 10 + 3 * pattern.length : 3);

function computeTotal(total: CompiledTotal, past: readonly PastCall[], meter: Meter): number {
  let whole = 0;
  const steps = 5 + patternsOf(total.tool).reduce((sum, one) => sum + stepsToMatch(one), 0);
  for (const call of past) {
    spend(meter, steps);
    if (call.undone || !MAY_HAVE_HAPPENED.has(call.status) || !matchesTool(total.tool, call.tool)) continue;
    // Own local variables: a total may be evaluated in the middle of another expression.
    const scene: TotalContext = { left: meter.left, locals: [], call };
    try {
      whole = requireFinite(whole + amountOf(total, scene));
    } finally {
      meter.left = scene.left;
    }
  }
  return whole;
}

export type PolicyContext = EvaluationContext & {
  readonly input: PolicyInput;
  readonly totals: ReadonlyMap<string, CompiledTotal>;
  risk: { readonly score: number; readonly level: RiskLevel };
  past: readonly PastCall[] | null;
  history: Value | null;
  known: Map<string, number> | null;
  facts: Facts | null;
};

export function createPolicyContext(
  input: PolicyInput,
  totals: ReadonlyMap<string, CompiledTotal>,
): PolicyContext {
  return {
    left: STEPS_PER_VERDICT,
    locals: [],
    input,
    totals,
    risk: { score: 0, level: "low" },
    past: null,
    history: null,
    known: null,
    facts: null,
  };
}

export function pastCallsIn(scene: PolicyContext): readonly PastCall[] {
  scene.past ??= scene.input.history;
  return scene.past;
}

/** Cost of converting one call into a value. */
const STEPS_PER_CALL = 60;

const pastValue = ({ at, ...call }: PastCall): Value => ({
  ...(call as unknown as Record<string, Value>),
  at: makeMoment(at),
});

function historyOf(scene: PolicyContext): Value {
  if (scene.history !== null) return scene.history;
  const past = pastCallsIn(scene);
  spend(scene, STEPS_PER_CALL * past.length);
  scene.history = past.map(pastValue);
  return scene.history;
}

/** Computed once per action and shared by its expressions. */
export function evaluateTotal(scene: PolicyContext, total: CompiledTotal): number {
  const known = scene.known?.get(total.name);
  if (known !== undefined) return known;
  const value = computeTotal(total, pastCallsIn(scene), scene);
  scene.known ??= new Map();
  scene.known.set(total.name, value);
  return value;
}

function workflowOf({ input: { workflow } }: PolicyContext): Facts["workflow"] {
  if (workflow === null) return NO_WORKFLOW;
  const { id, name, generation, poster = "" } = workflow;
  return { id, name, generation, poster };
}

const PAST_CALL: Type = objectOf({
  action: STRING,
  tool: STRING,
  args: ANY,
  result: ANY,
  status: oneOf(PAST_STATUSES),
  generation: NUMBER,
  undone: BOOL,
  at: MOMENT,
});

/** Names that expressions read, with their types. */
const NAMES: readonly (readonly [string, Type, Evaluate<PolicyContext>])[] = [
  ["args", ANY, ({ input }) => input.args as Value],
  [
    "tool",
    objectOf({ name: STRING, effect: oneOf(EFFECT_CLASSES) }),
    ({ input }) => ({ name: input.tool, effect: input.effectClass }),
  ],
  ["agent", STRING, ({ input }) => input.agent],
  [
    "workflow",
    objectOf({ id: STRING, name: STRING, generation: NUMBER, poster: STRING }),
    (scene) => workflowOf(scene),
  ],
  ["history", listOf(PAST_CALL), historyOf],
  ["now", MOMENT, ({ input }) => makeMoment(input.now)],
  ["risk", objectOf({ score: NUMBER, level: oneOf(RISK_LEVELS) }), ({ risk }) => risk],
];

export function namesInScope(totals: Iterable<string>, withRisk: boolean): ReadonlyMap<string, Type> {
  const types = NAMES.filter(([name]) => withRisk || name !== "risk").map(
    ([name, type]) => [name, type] as const,
  );
  const ofTotals = objectOf(Object.fromEntries([...totals].map((name) => [name, NUMBER])));
  return new Map<string, Type>([...types, ["totals", ofTotals]]);
}

export function policyReaders(totals: ReadonlyMap<string, CompiledTotal>): Readers<PolicyContext> {
  const every = [...totals];
  return new Map<string, Evaluate<PolicyContext>>([
    ...NAMES.map(([name, , read]) => [name, read] as const),
    ["totals", (scene) => Object.fromEntries(every.map(([name, one]) => [name, evaluateTotal(scene, one)]))],
    ...every.map(
      ([name, one]) => [`totals.${name}`, (scene: PolicyContext) => evaluateTotal(scene, one)] as const,
    ),
  ]);
}

/** The same facts for a condition in TypeScript. */
export function factsOf(scene: PolicyContext): Facts {
  if (scene.facts !== null) return scene.facts;
  const { input } = scene;
  const totals: Record<string, number> = {};
  for (const [name, total] of scene.totals)
    Object.defineProperty(totals, name, { enumerable: true, get: () => evaluateTotal(scene, total) });
  scene.facts = {
    args: input.args,
    tool: { name: input.tool, effect: input.effectClass },
    agent: input.agent,
    workflow: workflowOf(scene),
    get history() {
      return pastCallsIn(scene);
    },
    totals,
    get risk() {
      return scene.risk;
    },
    now: input.now,
  };
  return scene.facts;
}
