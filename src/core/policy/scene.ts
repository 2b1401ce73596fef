/** What the expressions of a policy see of one action. History is looked at once, and only if something asks for it. */
import { EFFECT_CLASSES } from "../tool-rules.ts";
import { PAST_STATUSES, type PastCall, type PolicyInput, RISK_LEVELS, type RiskLevel } from "../verdict.ts";
import { STEPS_PER_VERDICT, spend } from "./expression/meter.ts";
import type { Evaluate, Readers, Scene } from "./expression/scene.ts";
import { ANY, BOOL, listOf, MOMENT, NUMBER, objectOf, oneOf, STRING, type Type } from "./expression/types.ts";
import { moment, type Value } from "./expression/values.ts";
import { type Facts, NO_WORKFLOW } from "./facts.ts";
import { type Total, totalOf } from "./totals.ts";

export type PolicyScene = Scene & {
  readonly input: PolicyInput;
  readonly totals: ReadonlyMap<string, Total>;
  risk: { readonly score: number; readonly level: RiskLevel };
  past: readonly PastCall[] | null;
  history: Value | null;
  known: Map<string, number> | null;
  facts: Facts | null;
};

export function sceneOf(input: PolicyInput, totals: ReadonlyMap<string, Total>): PolicyScene {
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

export function pastOf(scene: PolicyScene): readonly PastCall[] {
  scene.past ??= scene.input.history;
  return scene.past;
}

/** A call becomes a value of its own. */
const STEPS_PER_CALL = 60;

const pastValue = ({ at, ...call }: PastCall): Value => ({
  ...(call as unknown as Record<string, Value>),
  at: moment(at),
});

function historyOf(scene: PolicyScene): Value {
  if (scene.history !== null) return scene.history;
  const past = pastOf(scene);
  spend(scene, STEPS_PER_CALL * past.length);
  scene.history = past.map(pastValue);
  return scene.history;
}

/** Once for each action, whichever of its expressions asks. */
export function totalIn(scene: PolicyScene, total: Total): number {
  const known = scene.known?.get(total.name);
  if (known !== undefined) return known;
  const value = totalOf(total, pastOf(scene), scene);
  scene.known ??= new Map();
  scene.known.set(total.name, value);
  return value;
}

function workflowOf({ input: { workflow } }: PolicyScene): Facts["workflow"] {
  if (workflow === null) return NO_WORKFLOW;
  const { id, name, generation, poster = "" } = workflow;
  return { id, name, generation, poster };
}

export const PAST_CALL: Type = objectOf({
  action: STRING,
  tool: STRING,
  args: ANY,
  result: ANY,
  status: oneOf(PAST_STATUSES),
  generation: NUMBER,
  undone: BOOL,
  at: MOMENT,
});

const RISK_NAMES: readonly (readonly [string, Type])[] = [
  ["risk", objectOf({ score: NUMBER, level: oneOf(RISK_LEVELS) })],
];

export function namesFor(totals: Iterable<string>, withRisk: boolean): ReadonlyMap<string, Type> {
  return new Map<string, Type>([
    ["args", ANY],
    ["tool", objectOf({ name: STRING, effect: oneOf(EFFECT_CLASSES) })],
    ["agent", STRING],
    ["workflow", objectOf({ id: STRING, name: STRING, generation: NUMBER, poster: STRING })],
    ["history", listOf(PAST_CALL)],
    ["totals", objectOf(Object.fromEntries([...totals].map((name) => [name, NUMBER])))],
    ["now", MOMENT],
    ...(withRisk ? RISK_NAMES : []),
  ]);
}

export function readersFor(totals: ReadonlyMap<string, Total>): Readers<PolicyScene> {
  const eachTotal = [...totals].map(([name, total]): readonly [string, Evaluate<PolicyScene>] => [
    `totals.${name}`,
    (scene) => totalIn(scene, total),
  ]);
  return new Map<string, Evaluate<PolicyScene>>([
    ["args", ({ input }) => input.args as Value],
    ["tool", ({ input }) => ({ name: input.tool, effect: input.effectClass })],
    ["tool.name", ({ input }) => input.tool],
    ["tool.effect", ({ input }) => input.effectClass],
    ["agent", ({ input }) => input.agent],
    ["workflow", (scene) => ({ ...workflowOf(scene) })],
    ["workflow.id", (scene) => workflowOf(scene).id],
    ["workflow.name", (scene) => workflowOf(scene).name],
    ["workflow.poster", (scene) => workflowOf(scene).poster],
    ["workflow.generation", (scene) => workflowOf(scene).generation],
    ["history", historyOf],
    ["now", ({ input }) => moment(input.now)],
    ["risk", ({ risk }) => ({ ...risk })],
    ["risk.score", ({ risk }) => risk.score],
    ["risk.level", ({ risk }) => risk.level],
    [
      "totals",
      (scene) => Object.fromEntries([...scene.totals].map(([name, total]) => [name, totalIn(scene, total)])),
    ],
    ...eachTotal,
  ]);
}

/** The same for a condition in TypeScript. */
export function factsOf(scene: PolicyScene): Facts {
  if (scene.facts !== null) return scene.facts;
  const { input } = scene;
  const totals: Record<string, number> = {};
  for (const [name, total] of scene.totals)
    Object.defineProperty(totals, name, { enumerable: true, get: () => totalIn(scene, total) });
  scene.facts = {
    args: input.args,
    tool: { name: input.tool, effect: input.effectClass },
    agent: input.agent,
    workflow: workflowOf(scene),
    get history() {
      return pastOf(scene);
    },
    totals,
    get risk() {
      return scene.risk;
    },
    now: input.now,
  };
  return scene.facts;
}
