/**
 * What a program captures at a checkpoint: validated, turned into the stored snapshot, and turned back.
 * A snapshot has three layers, each for another reader. Names are camelCase in a program and snake_case in the stored
 * JSON; only our own names are translated, the keys of a program's objects are stored unchanged.
 * Input is validated before anything is stored: a misspelt field would be lost silently.
 */

import { frozenJson } from "../../kernel/canonical-json.ts";
import { HoldpointError, isHoldpointError } from "../../kernel/errors.ts";
import { noField, rejectInput } from "../../kernel/fields.ts";
import { isJsonObject, type Json, type JsonObject } from "../../kernel/json.ts";
import { displayValue } from "../../kernel/text.ts";

/** An agent's memory: three parts shown to people by name, and anything else it needs after a rollback. */
type CapturedMemory = {
  readonly conversationHistory?: readonly Json[];
  readonly factsLearned?: Json;
  readonly currentContext?: Json;
  readonly [own: string]: Json | undefined;
};

/** One call of an external system, as reported by the agent. */
type CapturedApiCall = {
  readonly timestamp?: string;
  readonly endpoint?: string;
  readonly method?: string;
  readonly status?: number | string;
  readonly payload?: Json;
  readonly response?: Json;
  readonly summary?: string;
};

/** Resources used so far, as reported by the agent. */
type CapturedResources = {
  readonly apiCalls?: number;
  readonly tokensUsed?: number;
  readonly executionTimeSeconds?: number;
  readonly estimatedCostUsd?: number;
};

/** What the approver sees first. */
type ApproverLayer = {
  readonly summary?: string;
  readonly decisionNeeded?: string;
  readonly recommendation?: "approve" | "modify" | "reject";
  /** From 0 to 1. */
  readonly confidence?: number;
  readonly artifacts?: readonly Json[];
  readonly context?: JsonObject;
};

/** State of the task. */
type TaskLayer = {
  readonly inputs?: JsonObject;
  /** What an approver may modify; the modified outputs are returned to the program. */
  readonly outputs?: JsonObject;
  readonly nextSteps?: readonly string[];
  readonly confidenceScores?: Readonly<Record<string, number>>;
  readonly risk?: Json;
};

/** How the task got there. */
type ExecutionLayer = {
  readonly memory?: CapturedMemory;
  readonly apiCalls?: readonly CapturedApiCall[];
  /** Why the agent did what it did, one thought per line. */
  readonly trace?: readonly string[];
  readonly resources?: CapturedResources;
};

/** What a checkpoint takes. All of it is optional. */
export type Captured = ApproverLayer &
  TaskLayer &
  ExecutionLayer & {
    /** Which of several agents reports this. */
    readonly agent?: string;
  };

/** Which snapshot of what, and when. `at` is in milliseconds. */
type SnapshotOrigin = {
  readonly snapshot: string;
  readonly workflow: string;
  readonly checkpoint: string;
  readonly name: string;
  readonly at: number;
};

/** The three layers by their stored names, in the order in which people read them. */
export const LAYERS = ["approval_interface", "task_state", "execution_state"] as const;

/** The predefined parts of a memory, as written in a program and as stored. */
const MEMORY_NAMES: ReadonlyMap<string, string> = new Map([
  ["conversationHistory", "conversation_history"],
  ["factsLearned", "facts_learned"],
  ["currentContext", "current_context"],
]);

export const snapshotUri = (hash: string): string => `x402://artifacts/sha256:${hash}`;

type Parts = { readonly [name: string]: Json | undefined };

/** Removes undefined parts. */
function present(parts: Parts): JsonObject {
  return Object.fromEntries(
    Object.entries(parts).filter((part): part is [string, Json] => part[1] !== undefined),
  );
}

/** undefined if the layer is empty. */
function layer(parts: Parts): JsonObject | undefined {
  const given = present(parts);
  return Object.keys(given).length === 0 ? undefined : given;
}

function storedMemory(memory: CapturedMemory): JsonObject {
  return present(
    Object.fromEntries(Object.entries(memory).map(([name, part]) => [MEMORY_NAMES.get(name) ?? name, part])),
  );
}

function storedCall({ summary, ...call }: CapturedApiCall): JsonObject {
  return present({ ...call, response_summary: summary });
}

function storedResources(resources: CapturedResources): JsonObject {
  return present({
    api_calls: resources.apiCalls,
    tokens_used: resources.tokensUsed,
    execution_time_seconds: resources.executionTimeSeconds,
    estimated_cost_usd: resources.estimatedCostUsd,
  });
}

/** The snapshot in its stored form. `captured` was checked by `checkCaptured`. */
export function buildSnapshot(captured: Captured, place: SnapshotOrigin): JsonObject {
  const { memory, apiCalls, resources, outputs } = captured;
  return present({
    snapshot_id: place.snapshot,
    workflow_id: place.workflow,
    checkpoint_id: place.checkpoint,
    checkpoint_name: place.name,
    timestamp: new Date(place.at).toISOString(),
    agent: captured.agent,
    execution_state: layer({
      agent_memory: memory && storedMemory(memory),
      api_calls: apiCalls?.map(storedCall),
      // The same as in `task_state`: readers of either layer look for them there.
      intermediate_outputs: outputs,
      decision_trace: captured.trace,
      resource_consumption: resources && storedResources(resources),
    }),
    task_state: layer({
      inputs: captured.inputs,
      outputs,
      planned_next_steps: captured.nextSteps,
      confidence_scores: captured.confidenceScores,
      risk: captured.risk,
    }),
    approval_interface: layer({
      summary: captured.summary,
      decision_needed: captured.decisionNeeded,
      artifacts: captured.artifacts,
      context: captured.context,
      recommendation: captured.recommendation,
      confidence: captured.confidence,
    }),
  });
}

type Names = ReadonlyMap<string, string>;

const MEMORY_FIELDS: Names = new Map([...MEMORY_NAMES].map(([name, stored]) => [stored, name]));
const API_CALL_FIELDS: Names = new Map([["response_summary", "summary"]]);
const RESOURCE_FIELDS: Names = new Map([
  ["api_calls", "apiCalls"],
  ["tokens_used", "tokensUsed"],
  ["execution_time_seconds", "executionTimeSeconds"],
  ["estimated_cost_usd", "estimatedCostUsd"],
]);
const EXECUTION_FIELDS: Names = new Map([
  ["agent_memory", "memory"],
  ["api_calls", "apiCalls"],
  ["intermediate_outputs", "outputs"],
  ["decision_trace", "trace"],
  ["resource_consumption", "resources"],
]);
const TASK_FIELDS: Names = new Map([
  ["planned_next_steps", "nextSteps"],
  ["confidence_scores", "confidenceScores"],
]);
const APPROVER_FIELDS: Names = new Map([["decision_needed", "decisionNeeded"]]);

function named(value: Json | undefined, names: Names): JsonObject {
  if (!isJsonObject(value)) return {};
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [names.get(name) ?? name, part]));
}

/** The inverse of `buildSnapshot`. */
export function restoreCaptured(snapshot: JsonObject): Captured {
  const { memory, apiCalls, resources, ...execution } = named(snapshot["execution_state"], EXECUTION_FIELDS);
  const { agent } = snapshot;
  const restored = {
    ...named(snapshot["approval_interface"], APPROVER_FIELDS),
    ...execution,
    ...named(snapshot["task_state"], TASK_FIELDS),
    ...(memory === undefined ? {} : { memory: named(memory, MEMORY_FIELDS) }),
    ...(Array.isArray(apiCalls)
      ? { apiCalls: apiCalls.map((call: Json) => named(call, API_CALL_FIELDS)) }
      : {}),
    ...(resources === undefined ? {} : { resources: named(resources, RESOURCE_FIELDS) }),
    ...(agent === undefined ? {} : { agent }),
  };
  return restored as unknown as Captured;
}

/** Required form of a value: a plain value, a list, or an object of named fields. */
type Shape =
  | { readonly isRight: (value: Json) => boolean; readonly what: string }
  | { readonly each: Shape }
  | { readonly fields: { readonly [field: string]: Shape }; readonly open?: true };

type ShapesOf<Given> = { readonly [field in keyof Given]-?: Shape };

const NAME_LENGTH = 200;

const TEXT: Shape = { isRight: (value) => typeof value === "string", what: "is a text" };
const NAME: Shape = {
  isRight: (value) => typeof value === "string" && value !== "" && value.length <= NAME_LENGTH,
  what: `is a name of 1 to ${NAME_LENGTH} characters`,
};
const ANYTHING: Shape = { isRight: () => true, what: "is JSON" };
const OBJECT: Shape = { isRight: isJsonObject, what: "is an object" };
const AMOUNT: Shape = {
  isRight: (value) => typeof value === "number" && value >= 0,
  what: "is a number of at least 0",
};
const SHARE: Shape = {
  isRight: (value) => typeof value === "number" && value >= 0 && value <= 1,
  what: "is a number from 0 to 1",
};
const RECOMMENDATIONS: readonly unknown[] = ["approve", "modify", "reject"];

const API_CALL_SHAPE: ShapesOf<CapturedApiCall> = {
  timestamp: TEXT,
  endpoint: TEXT,
  method: TEXT,
  status: {
    isRight: (value) => typeof value === "number" || typeof value === "string",
    what: "is a number or a text",
  },
  payload: ANYTHING,
  response: ANYTHING,
  summary: TEXT,
};

const RESOURCES_SHAPE: ShapesOf<CapturedResources> = {
  apiCalls: AMOUNT,
  tokensUsed: AMOUNT,
  executionTimeSeconds: AMOUNT,
  estimatedCostUsd: AMOUNT,
};

const MEMORY_SHAPE: ShapesOf<Pick<CapturedMemory, "conversationHistory">> = {
  conversationHistory: { each: ANYTHING },
};

const CAPTURED_SHAPE: ShapesOf<Captured> = {
  summary: TEXT,
  decisionNeeded: TEXT,
  recommendation: {
    isRight: (value) => RECOMMENDATIONS.includes(value),
    what: `is one of ${RECOMMENDATIONS.join(", ")}`,
  },
  confidence: SHARE,
  artifacts: { each: ANYTHING },
  context: OBJECT,
  inputs: OBJECT,
  outputs: OBJECT,
  nextSteps: { each: TEXT },
  confidenceScores: {
    isRight: (value) =>
      isJsonObject(value) && Object.values(value).every((score) => typeof score === "number"),
    what: "is an object of numbers by name",
  },
  risk: ANYTHING,
  memory: { fields: MEMORY_SHAPE, open: true },
  apiCalls: { each: { fields: API_CALL_SHAPE } },
  trace: { each: TEXT },
  resources: { fields: RESOURCES_SHAPE },
  agent: NAME,
};

/** The value as an error shows it: data as JSON, not as `[object Object]`. */
const shownJson = (value: Json): string => displayValue(JSON.stringify(value));

function checkShape(path: string, value: Json, shape: Shape): void {
  if ("isRight" in shape) {
    if (!shape.isRight(value)) rejectInput(`"${path}" ${shape.what}, not ${shownJson(value)}.`);
  } else if ("each" in shape) {
    if (!Array.isArray(value)) rejectInput(`"${path}" is a list, not ${shownJson(value)}.`);
    for (const [index, part] of value.entries()) checkShape(`${path}[${index}]`, part, shape.each);
  } else checkFields(path, value, shape);
}

function checkFields(path: string, value: Json, shape: Extract<Shape, { fields: unknown }>): void {
  const names = Object.keys(shape.fields);
  if (!isJsonObject(value)) rejectInput(`"${path}" is an object, not ${shownJson(value)}.`);
  for (const [field, part] of Object.entries(value)) {
    const known = Object.hasOwn(shape.fields, field) ? shape.fields[field] : undefined;
    if (known !== undefined) checkShape(`${path}.${field}`, part, known);
    else if (shape.open !== true) rejectInput(`"${path}"${noField(field, names)}.`);
  }
}

/** A part of the memory under its stored name would come back under its program name. */
function checkSpelling({ memory }: Captured): void {
  for (const [name, stored] of MEMORY_NAMES) {
    if (memory?.[stored] !== undefined)
      rejectInput(`"captured.memory" has the field "${stored}"; in a program it is "${name}".`);
  }
}

function notJson(error: HoldpointError): HoldpointError {
  const why = error.what.replaceAll("$.captured", "captured");
  return new HoldpointError("invalid_input", `What a checkpoint captures is JSON. ${why}`, { cause: error });
}

/** Strict JSON. The nesting limit counts one level more, as in the snapshot. */
function asJson(given: unknown): Json {
  try {
    return (frozenJson({ captured: given ?? {} }) as { readonly captured: Json }).captured;
  } catch (error) {
    throw isHoldpointError(error, "invalid_json") ? notJson(error) : error;
  }
}

/** Returns a frozen copy, or throws an error that names the field and its form. No value means nothing captured. */
export function checkCaptured(value: unknown): Captured {
  const given = asJson(value);
  checkShape("captured", given, { fields: CAPTURED_SHAPE });
  const captured = given as unknown as Captured;
  checkSpelling(captured);
  return captured;
}
