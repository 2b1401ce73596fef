/** What an agent hands over at a checkpoint, as a snapshot's three layers. */

import { plainJson } from "../../effects/arguments.ts";
import { checkFields, rejectInput } from "../../kernel/fields.ts";
import { isJsonObject, type Json, type JsonObject } from "../../kernel/json.ts";
import { type Captured, checkCaptured, restoreCaptured } from "../../workflows/rules/snapshot.ts";

/** Beside what a definition captures, the agent's own account of where it stands. */
export type OutsideCapture = Omit<Captured, "memory" | "apiCalls" | "trace" | "resources" | "agent"> & {
  /**
   * `agent_memory`, `api_calls`, `intermediate_outputs`, `decision_trace` and `resource_consumption` are shown by name; whatever
   * else the agent wants back after a rollback is kept with its memory.
   */
  readonly executionState?: JsonObject;
};

export const CAPTURE_FIELDS = [
  ...["summary", "decisionNeeded", "recommendation", "confidence", "artifacts", "context"],
  ...["inputs", "outputs", "nextSteps", "confidenceScores", "risk", "executionState"],
];

const NAMED = [
  ...["agent_memory", "api_calls", "intermediate_outputs", "decision_trace", "resource_consumption"],
] as const;

const CALL = [
  "timestamp",
  "endpoint",
  "method",
  "status",
  "payload",
  "response",
  "response_summary",
  "summary",
];
const RESOURCES = ["api_calls", "tokens_used", "execution_time_seconds", "estimated_cost_usd"];

type Split = { readonly named: Json; readonly own: Json };

/** What has a name of ours, and what an agent counts or notes beside that. */
function split(given: Json, names: readonly string[]): Split {
  if (!isJsonObject(given)) return { named: given, own: {} };
  const isNamed = ([name]: readonly [string, Json]) => names.includes(name);
  const all = Object.entries(given);
  return {
    named: Object.fromEntries(all.filter(isNamed)),
    own: Object.fromEntries(all.filter((entry) => !isNamed(entry))),
  };
}

const isEmpty = (value: Json): boolean => isJsonObject(value) && Object.keys(value).length === 0;

/** Its own notes on calls and resources, for its memory; the rest as a snapshot has it. */
function setAside(state: JsonObject): { readonly rest: JsonObject; readonly own: JsonObject } {
  const { api_calls: calls, resource_consumption: used } = state;
  const called = Array.isArray(calls) ? calls.map((call: Json) => split(call, CALL)) : undefined;
  const spent = used === undefined ? undefined : split(used, RESOURCES);
  const hasNotes = called?.some(({ own }) => !isEmpty(own)) === true;
  return {
    rest: {
      ...state,
      ...(called === undefined ? {} : { api_calls: called.map(({ named }) => named) }),
      ...(spent === undefined ? {} : { resource_consumption: spent.named }),
    },
    own: {
      ...(hasNotes ? { api_calls: called.map(({ own }) => own) } : {}),
      ...(spent === undefined || isEmpty(spent.own) ? {} : { resource_consumption: spent.own }),
    },
  };
}

function executionOf(given: Json | undefined): JsonObject {
  if (given === undefined || given === null) return {};
  if (!isJsonObject(given)) return rejectInput("The execution state is an object.");
  const said = Object.entries(given).filter(([, value]) => value !== null);
  const named = said.filter(([name]) => NAMED.some((one) => one === name));
  const aside = setAside(Object.fromEntries(named));
  const unnamed = said.filter(([name]) => !NAMED.some((one) => one === name));
  const own = { ...Object.fromEntries(unnamed), ...aside.own };
  if (isEmpty(own)) return aside.rest;
  const { agent_memory: memory = {}, ...rest } = aside.rest;
  if (!isJsonObject(memory)) return rejectInput("agent_memory is an object.");
  return { ...rest, agent_memory: { ...own, ...memory } };
}

export function capturedBy(agent: string, given: object): Captured {
  const plain = plainJson(checkFields("What is captured", given, CAPTURE_FIELDS)) as JsonObject;
  const { executionState, ...said } = plain;
  const { outputs: intermediate, ...execution } = restoreCaptured({
    execution_state: executionOf(executionState),
  });
  const outputs = intermediate === undefined ? {} : { outputs: intermediate };
  return checkCaptured({ ...execution, ...outputs, ...said, agent });
}
