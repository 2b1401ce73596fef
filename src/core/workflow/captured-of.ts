/** The way back from a snapshot: what the program had captured, under the names that it had used. */
import { isJsonObject, type Json, type JsonObject } from "../../kernel/json.ts";
import { type Captured, MEMORY_NAMES } from "./snapshot.ts";

type Names = ReadonlyMap<string, string>;

const MEMORY: Names = new Map([...MEMORY_NAMES].map(([name, stored]) => [stored, name]));
const API_CALL: Names = new Map([["response_summary", "summary"]]);
const RESOURCES: Names = new Map([
  ["api_calls", "apiCalls"],
  ["tokens_used", "tokensUsed"],
  ["execution_time_seconds", "executionTimeSeconds"],
  ["estimated_cost_usd", "estimatedCostUsd"],
]);
const EXECUTION: Names = new Map([
  ["agent_memory", "memory"],
  ["api_calls", "apiCalls"],
  ["intermediate_outputs", "outputs"],
  ["decision_trace", "trace"],
  ["resource_consumption", "resources"],
]);
const TASK: Names = new Map([
  ["planned_next_steps", "nextSteps"],
  ["confidence_scores", "confidenceScores"],
]);
const APPROVER: Names = new Map([["decision_needed", "decisionNeeded"]]);

function named(value: Json | undefined, names: Names): JsonObject {
  if (!isJsonObject(value)) return {};
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [names.get(name) ?? name, part]));
}

/** Of a snapshot that `snapshotOf` has made. */
export function capturedOf(snapshot: JsonObject): Captured {
  const { memory, apiCalls, resources, ...execution } = named(snapshot["execution_state"], EXECUTION);
  const { agent } = snapshot;
  const restored = {
    ...named(snapshot["approval_interface"], APPROVER),
    ...execution,
    ...named(snapshot["task_state"], TASK),
    ...(memory === undefined ? {} : { memory: named(memory, MEMORY) }),
    ...(Array.isArray(apiCalls) ? { apiCalls: apiCalls.map((call: Json) => named(call, API_CALL)) } : {}),
    ...(resources === undefined ? {} : { resources: named(resources, RESOURCES) }),
    ...(agent === undefined ? {} : { agent }),
  };
  return restored as unknown as Captured;
}
