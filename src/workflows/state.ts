/**
 * A workflow's state as folded from its stream: its types, the moves between statuses, and the helpers of the fold.
 * It says where the workflow is and who runs it, not what its operations returned: replay reads that from the entries.
 * initialized → executing; executing → awaiting_approval, rolling_back, settling, failed; awaiting_approval →
 * executing, rolling_back, failed; rolling_back → executing, failed; settling → completed, failed; initialized →
 * failed. No other move.
 * A checkpoint that was reached under a request id is kept, with a digest of its content, after every outcome.
 * An obstacle is the stream (kill switch or budget) that has to change before a held workflow can go on.
 * Also the rows of its lists, as functions of the state.
 */

import type { BudgetStreamState } from "../budgets/stream.ts";
import { digestOf } from "../kernel/canonical-json.ts";
import { HoldpointError } from "../kernel/errors.ts";
import type { Json, JsonObject } from "../kernel/json.ts";
import type { Refusal, WithRefusals } from "../kernel/refusals.ts";
import { budgetStream, parseStreamRef, type StreamRef, streamName, switchStream } from "../kernel/stream.ts";
import type {
  CheckpointDecision,
  CreatedBody,
  DefinedBody,
  FailureCode,
  Irreversible,
  ReachedBody,
  RollbackReport,
  Snapshot,
  Wait,
} from "./events.ts";

type CheckpointRequest = {
  readonly requestId: string;
  readonly op: string;
  readonly name: string;
  readonly approval: string | null;
  /** Older journals have the outputs only. */
  readonly content: { readonly of: "handed" | "outputs"; readonly digest: string };
};

type CheckpointRequests = {
  /** Every checkpoint that was reached under a request id; absent if there is none. */
  readonly asked?: readonly CheckpointRequest[];
};

export const requestIdField = ({ requestId }: { readonly requestId?: string }) =>
  requestId === undefined ? {} : { requestId };

export function recordCheckpointRequest<State extends CheckpointRequests>(
  state: State,
  { requestId, op, name, handed, outputs }: ReachedBody,
  approval: string | null,
): State {
  if (requestId === undefined) return state;
  const content =
    handed === undefined
      ? ({ of: "outputs", digest: digestOf(outputs) } as const)
      : ({ of: "handed", digest: handed } as const);
  // Older journals may hold a request id twice: the last one counts.
  const others = (state.asked ?? []).filter((one) => one.requestId !== requestId);
  return { ...state, asked: [...others, { requestId, op, name, approval, content }] };
}

type CheckpointContent = { readonly name: string; readonly handed: string; readonly outputs: string };

export const isSameCheckpointRequest = (
  { name, content }: CheckpointRequest,
  now: CheckpointContent,
): boolean => name === now.name && content.digest === now[content.of];

type OpenOperations = {
  /** Actions, questions, intents and children that it has begun and that have not ended. */
  readonly open: readonly string[];
  /** It has failed, and what it began is still to be withdrawn. */
  readonly closing: boolean;
};

export const withOpenOperation = <State extends OpenOperations>(state: State, id: string): State => ({
  ...state,
  open: [...state.open, id],
});

export function withoutOpenOperation<State extends OpenOperations>(state: State, id: string): State {
  if (!state.open.includes(id)) return state;
  const open = state.open.filter((one) => one !== id);
  return { ...state, open, closing: state.closing && open.length > 0 };
}

type RequestedByName = {
  /** Who requested it, the digest of the request, and whether its definition has added the rest. */
  readonly requested?: { readonly by: string; readonly given: string; readonly isDefined: boolean };
};

/** Its definition has added its part. */
export function defineRequest<State extends RequestedByName>(state: State, body: DefinedBody): State {
  const { requested } = state;
  if (requested === undefined || requested.isDefined)
    throw new HoldpointError("broken_rule", "A workflow was defined that does not wait for its definition.");
  return { ...state, ...body, requested: { ...requested, isDefined: true } };
}

/** Number of snapshots captured, checkpoints that asked people, and decisions made. */
export type CheckpointTally = {
  readonly snapshots: number;
  readonly questions: number;
  readonly decisions: number;
};

const EMPTY_TALLY: CheckpointTally = { snapshots: 0, questions: 0, decisions: 0 };

export const countCheckpoint = (tally: CheckpointTally, snapshots: number, questions: number) => ({
  ...tally,
  snapshots: tally.snapshots + snapshots,
  questions: tally.questions + questions,
});

type Obstacle = StreamRef<"switch"> | StreamRef<"budget">;

/** The name in a wait: `switch/tenant`, `budget/trip`. A refusal names its source in words only. */
export function obstacleName({ by }: Pick<Refusal, "by">): string {
  const scope = /^kill switch \((.+)\)$/.exec(by)?.[1];
  if (scope !== undefined) return streamName(switchStream(scope));
  const budget = /^budget (.+)$/.exec(by)?.[1];
  return budget === undefined ? by : streamName(budgetStream(budget));
}

/** undefined: an obstacle that is no stream. */
export function parseObstacle(on: string): Obstacle | undefined {
  return /^(switch|budget)\/./.test(on) ? (parseStreamRef(on) as Obstacle) : undefined;
}

/** What may still be reserved; never below 0. */
export function remainingBudget({ limit, spent, reserved }: BudgetStreamState): bigint {
  const left = limit === null ? 0n : limit.micros - spent - reserved;
  return left > 0n ? left : 0n;
}

export const WORKFLOW_STATUSES = [
  "initialized",
  "executing",
  "awaiting_approval",
  "rolling_back",
  "settling",
  "completed",
  "failed",
] as const;
export type WorkflowStatus = (typeof WORKFLOW_STATUSES)[number];

/** A checkpoint that was passed or approved: a possible target of a rollback. */
export type PassedCheckpoint = {
  readonly op: string;
  readonly name: string;
  readonly snapshot: Snapshot;
  readonly approval: string | null;
  readonly seq: number;
  readonly at: number;
  readonly requestId?: string | undefined;
};

export type CheckpointTerms = {
  readonly approval: string;
  readonly canRollback: boolean;
  readonly irreversible: readonly Irreversible[];
};

type PendingCheckpoint = CheckpointTerms & {
  readonly op: string;
  readonly name: string;
  readonly snapshot: Snapshot;
  /** The entry that recorded it. */
  readonly seq: number;
  /** The monitor that raised it; absent if the definition reached it. */
  readonly monitor?: string;
  readonly requestId?: string;
};

type LastDecision = {
  readonly checkpoint: string;
  readonly op: string;
  readonly approval: string;
  readonly decision: CheckpointDecision;
  readonly by: readonly string[];
  readonly reason: string;
  readonly at: number;
  /** As changed by the decision; large outputs as a reference. */
  readonly outputs: Json;
  /** The entry in which the checkpoint was reached. */
  readonly reachedSeq: number;
  readonly requestId?: string;
};

export type Rollback = {
  /** The checkpoint's operation, or null for the start. */
  readonly to: string | null;
  readonly toSeq: number;
  readonly by: string;
  readonly reason: string;
  readonly after: "again" | "fail";
  /** `declared`: only calls that were declared to be undone on failure. */
  readonly scope: "all" | "declared";
  readonly rejected: string | null;
};

type WorkflowEnd =
  | { readonly status: "completed"; readonly at: number; readonly result: Json }
  | {
      readonly status: "failed";
      readonly at: number;
      readonly code: FailureCode;
      readonly reason: string;
      readonly by: string;
      readonly report: RollbackReport | null;
    };

export type LiveWorkflow = CreatedBody &
  CheckpointRequests &
  OpenOperations &
  RequestedByName &
  WithRefusals & {
    readonly status: WorkflowStatus;
    readonly createdAt: number;
    readonly changedAt: number;
    readonly seq: number;
    readonly generation: number;
    /** The epoch that runs it, or the remote agent that drives it; null if neither does. */
    readonly runner: string | null;
    /** Events that this runner has recorded. A repeat after an unknown commit is recognized by this count. */
    readonly written: number;
    /** No process runs it, and there is work to do. */
    readonly isReady: boolean;
    readonly wakeAt: number | null;
    readonly waits: readonly Wait[];
    readonly operations: number;
    readonly pending: PendingCheckpoint | null;
    readonly passed: readonly PassedCheckpoint[];
    readonly lastDecision: LastDecision | null;
    readonly tally: CheckpointTally;
    /** The rollback in progress. */
    readonly rollback: Rollback | null;
    /** The last rollback that ended, with its report. */
    readonly rolledBack: (Rollback & RollbackReport) | null;
    /** Effects that its rollbacks could not undo, all rollbacks together. */
    readonly irreversible: readonly Irreversible[];
    /** The last entry in which a call settled or was undone. */
    readonly settledSeq: number;
    /** Workflows forked from this one, with the entry that each was forked at. */
    readonly forks: readonly { readonly workflow: string; readonly seq: number }[];
    readonly end: WorkflowEnd | null;
  };
export type WorkflowState = { readonly status: "none" } | LiveWorkflow;

/** A fork has already passed the checkpoint that it was forked at, before its first entry. */
function passedBefore({ fork }: CreatedBody): readonly PassedCheckpoint[] {
  return fork?.passed === undefined ? [] : [{ ...fork.passed, name: fork.checkpoint, seq: 0 }];
}

export function createState(
  _none: WorkflowState,
  body: CreatedBody,
  { at, seq }: { readonly at: number; readonly seq: number },
): LiveWorkflow {
  return {
    ...body,
    status: "initialized",
    createdAt: at,
    changedAt: at,
    seq,
    generation: 1,
    runner: null,
    written: 0,
    isReady: body.isOutside !== true,
    wakeAt: null,
    waits: [],
    operations: 0,
    pending: null,
    passed: passedBefore(body),
    lastDecision: null,
    tally: EMPTY_TALLY,
    rollback: null,
    rolledBack: null,
    irreversible: [],
    open: [],
    settledSeq: 0,
    closing: false,
    forks: [],
    end: null,
  };
}

const MOVES: { readonly [from in WorkflowStatus]: readonly WorkflowStatus[] } = {
  initialized: ["executing", "failed"],
  executing: ["awaiting_approval", "rolling_back", "settling", "failed"],
  awaiting_approval: ["executing", "rolling_back", "failed"],
  rolling_back: ["executing", "failed"],
  settling: ["completed", "failed"],
  completed: [],
  failed: [],
};

export function mayMove(from: WorkflowStatus, to: WorkflowStatus): boolean {
  return MOVES[from].includes(to);
}

export const runsBucket = (
  where: string,
  { name, isOfOneRun }: Pick<CreatedBody, "name" | "isOfOneRun">,
): string => `${where} ${isOfOneRun === true ? "/" : ""}${name}`;

/** The changing fields that the rows are made of. Most events of a workflow change none of them. */
const SHOWN = ["status", "generation", "pending", "lastDecision", "passed", "end"] as const;
const RUN = ["status", "runner", "isReady", "wakeAt", "waits", "end", "closing"] as const;

const agree = (before: LiveWorkflow, after: LiveWorkflow, fields: readonly (keyof LiveWorkflow)[]): boolean =>
  fields.every((field) => before[field] === after[field]);

/** Names of the streams that hold it, each once. */
const heldBy = ({ waits }: LiveWorkflow): readonly string[] => [
  ...new Set(waits.flatMap(({ kind, on }) => (kind === "held" ? on : []))),
];

/** How the definitions that were tried differ from what is recorded. */
const stuckOn = ({ waits }: LiveWorkflow): string | null =>
  waits.find(({ kind }) => kind === "definition")?.on ?? null;

export const isSameSummary = (before: LiveWorkflow, after: LiveWorkflow): boolean =>
  agree(before, after, SHOWN) &&
  stuckOn(before) === stuckOn(after) &&
  heldBy(before).join("\n") === heldBy(after).join("\n");

export const isSameRun = (before: LiveWorkflow, after: LiveWorkflow): boolean => agree(before, after, RUN);

export function summaryRow(state: LiveWorkflow): JsonObject {
  const { name, status, agent, generation, pending, lastDecision, passed, end } = state;
  return {
    name,
    status,
    agent,
    attempt: generation,
    checkpoint: pending?.name ?? null,
    approval: pending?.approval ?? null,
    held: heldBy(state),
    stuck: stuckOn(state),
    passed: passed.length,
    checkpoints: state.checkpoints.length,
    lastDecision: lastDecision === null ? null : lastDecision.decision,
    createdAt: state.createdAt,
    endedAt: end?.at ?? null,
    reason: end?.status === "failed" ? end.reason : null,
  };
}

type RunRow = { readonly bucket: string; readonly due?: number | null; readonly data: JsonObject };

/** Processes do not run a workflow that an agent drives; they only finish its rollback. */
export const isListedRun = ({ closing, end, isOutside, status }: LiveWorkflow): boolean =>
  closing || (end === null && (isOutside !== true || status === "rolling_back"));

/**
 * The bucket of a run: `ready` to be taken, `running` in a process, `asleep` until something changes, `held` by a
 * switch or a budget, `stuck` on a definition.
 * All but `running` carry the definition's name, so a process without the definition never sees the run. A failed run
 * is `closing` until what it began is withdrawn, which needs no definition.
 */
export function runRow(state: LiveWorkflow): RunRow {
  const { name, runner, isOfOneRun, version, wakeAt: due } = state;
  if (state.closing) return { bucket: "closing", data: { name } };
  if (state.isOutside === true) return { bucket: "outside", data: { name } };
  const own = isOfOneRun === true ? { isOfOneRun } : {};
  const data = { name, ...own, ...(version === null ? {} : { version }) };
  if (runner !== null) return { bucket: "running", data: { ...data, epoch: runner } };
  if (state.isReady) return { bucket: runsBucket("ready", state), data };
  if (stuckOn(state) !== null) return { bucket: runsBucket("stuck", state), data };
  // What ends while a checkpoint is pending is handled after the decision.
  if (state.status === "awaiting_approval") return { bucket: runsBucket("asleep", state), data };
  const held = heldBy(state);
  return held.length > 0
    ? { bucket: runsBucket("held", state), due, data: { ...data, held } }
    : { bucket: runsBucket("asleep", state), due, data };
}
