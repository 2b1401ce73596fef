/** What an agent hands over at a checkpoint, as a snapshot's three layers. */
import { isJsonObject, type Json, type JsonObject } from "../../core/json.ts";
import { capturedOf } from "../../core/workflow/captured-of.ts";
import { checkCaptured } from "../../core/workflow/check-captured.ts";
import type { Captured } from "../../core/workflow/snapshot.ts";
import { checkFields, wrong } from "../check-call.ts";
import { plainJson } from "../prepare-args.ts";

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

function executionOf(given: Json | undefined): JsonObject {
  if (given === undefined || given === null) return {};
  if (!isJsonObject(given)) return wrong("The execution state is an object.");
  const named = Object.entries(given).filter(([name]) => NAMED.some((one) => one === name));
  const own = Object.entries(given).filter(([name]) => !NAMED.some((one) => one === name));
  if (own.length === 0) return given;
  const { agent_memory: memory = {}, ...rest } = Object.fromEntries(named);
  if (!isJsonObject(memory)) return wrong("agent_memory is an object.");
  return { ...rest, agent_memory: { ...Object.fromEntries(own), ...memory } };
}

export function capturedBy(agent: string, given: object): Captured {
  const plain = plainJson(checkFields("What is captured", given, CAPTURE_FIELDS)) as JsonObject;
  const { executionState, ...said } = plain;
  const { outputs: intermediate, ...execution } = capturedOf({
    execution_state: executionOf(executionState),
  });
  const outputs = intermediate === undefined ? {} : { outputs: intermediate };
  return checkCaptured({ ...execution, ...outputs, ...said, agent });
}
