/**
 * What a checkpoint captures, and the snapshot that is stored of it: three layers, each read by somebody else.
 *
 * Names are camelCase in a program and snake_case in the stored JSON. Only names of ours are spelled anew: what stands
 * inside a program's own objects is stored key by key as it was given.
 */
import type { Json, JsonObject } from "../../kernel/json.ts";

/** An agent's memory: three parts that people are shown by name, and whatever else it wants back after a rollback. */
export type CapturedMemory = {
  readonly conversationHistory?: readonly Json[];
  readonly factsLearned?: Json;
  readonly currentContext?: Json;
  readonly [own: string]: Json | undefined;
};

/** One call of an outside system, as the agent tells it. */
export type CapturedApiCall = {
  readonly timestamp?: string;
  readonly endpoint?: string;
  readonly method?: string;
  readonly status?: number | string;
  readonly payload?: Json;
  readonly response?: Json;
  readonly summary?: string;
};

/** What was used up so far, as the agent tells it. */
export type CapturedResources = {
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

/** Where the task stands. */
type TaskLayer = {
  readonly inputs?: JsonObject;
  /** What an approver may modify; the modified outputs come back to the program. */
  readonly outputs?: JsonObject;
  readonly nextSteps?: readonly string[];
  readonly confidenceScores?: Readonly<Record<string, number>>;
  readonly risk?: Json;
};

/** How it came there. */
type ExecutionLayer = {
  readonly memory?: CapturedMemory;
  readonly apiCalls?: readonly CapturedApiCall[];
  /** Why the agent did what it did, one thought a line. */
  readonly trace?: readonly string[];
  readonly resources?: CapturedResources;
};

/** What a checkpoint takes. All of it is optional. */
export type Captured = ApproverLayer &
  TaskLayer &
  ExecutionLayer & {
    /** Which of several agents speaks. */
    readonly agent?: string;
  };

/** Where a stored snapshot is found, and how large it is before and after compression. */
export type SnapshotRef = {
  readonly id: string;
  readonly uri: string;
  readonly hash: string;
  readonly bytes: number;
  readonly compressedBytes: number;
};

/** Which snapshot of what, and when. `at` is in milliseconds. */
export type SnapshotPlace = {
  readonly snapshot: string;
  readonly workflow: string;
  readonly checkpoint: string;
  readonly name: string;
  readonly at: number;
};

/** The three layers by their stored names, in the order in which people read them. */
export const LAYERS = ["approval_interface", "task_state", "execution_state"] as const;

/** The parts of a memory that have a name of ours, as written in a program and as stored. */
export const MEMORY_NAMES: ReadonlyMap<string, string> = new Map([
  ["conversationHistory", "conversation_history"],
  ["factsLearned", "facts_learned"],
  ["currentContext", "current_context"],
]);

export const snapshotUri = (hash: string): string => `x402://artifacts/sha256:${hash}`;

type Parts = { readonly [name: string]: Json | undefined };

/** Without what is absent. */
function present(parts: Parts): JsonObject {
  return Object.fromEntries(
    Object.entries(parts).filter((part): part is [string, Json] => part[1] !== undefined),
  );
}

/** A layer with nothing in it is absent itself. */
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

/** The snapshot as it is stored, of what `checkCaptured` has let through. */
export function snapshotOf(captured: Captured, place: SnapshotPlace): JsonObject {
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
