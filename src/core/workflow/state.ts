/**
 * A workflow's state: the fold of its stream. It holds where the workflow stands and who runs it, not what its operations
 * answered: that is read from the entries when a definition is replayed, so that the state stays small.
 *
 * W1. initialized → executing; executing → awaiting_approval, rolling_back, settling, failed; awaiting_approval → executing,
 *     rolling_back, failed; rolling_back → executing, failed; settling → completed, failed; initialized → failed. No other
 *     move exists.
 * W2. One process at a time runs it: the epoch that took it last. One that is driven from outside is its agent's, and no
 *     process takes it.
 *     One that was asked for by its name is run when its definition has said what it adds, and not before.
 * W3. A rollback starts a new generation; what it went back over is never replayed.
 */
import { HoldpointError } from "../../kernel/errors.ts";
import type { Json } from "../../kernel/json.ts";
import { withoutChannel } from "../../kernel/principal.ts";
import { type WithRefusals, withRefusal } from "../../kernel/refusals.ts";
import { eventBody, type Fold, type RecordedEvent } from "../../kernel/stream.ts";

import { type KeepsAsked, namedIn, withAsked } from "./asked.ts";
import { type KeepsBegun, withBegun } from "./begun.ts";
import { type CheckpointTally, counted, NOTHING_YET } from "./checkpoint-tally.ts";
import {
  type CheckpointDecision,
  type CreatedBody,
  type FailureCode,
  type Irreversible,
  type RollbackReport,
  type Snapshot,
  type Wait,
  WORKFLOW_EVENTS,
  type WorkflowEvent,
  type WorkflowEventOf,
} from "./events.ts";
import { type KeepsRequest, withRequest } from "./requested.ts";

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

/** A checkpoint that was passed or approved: where a rollback may lead. */
export type PassedCheckpoint = {
  readonly op: string;
  readonly name: string;
  readonly snapshot: Snapshot;
  readonly approval: string | null;
  readonly seq: number;
  readonly at: number;
  readonly requestId?: string;
};

export type PendingCheckpoint = {
  readonly op: string;
  readonly name: string;
  readonly approval: string;
  readonly canRollback: boolean;
  readonly snapshot: Snapshot;
  readonly irreversible: readonly Irreversible[];
  /** The entry that says so. */
  readonly seq: number;
  /** The monitor that has raised it; absent where the definition has reached it. */
  readonly monitor?: string;
  readonly requestId?: string;
};

export type LastDecision = {
  readonly checkpoint: string;
  readonly op: string;
  readonly approval: string;
  readonly decision: CheckpointDecision;
  readonly by: readonly string[];
  readonly reason: string;
  readonly at: number;
  /** As they are from then on; large ones as a reference. */
  readonly outputs: Json;
  /** The entry in which the checkpoint was reached. */
  readonly reachedSeq: number;
  readonly requestId?: string;
};

export type Rollback = {
  readonly to: string | null;
  readonly toSeq: number;
  readonly by: string;
  readonly reason: string;
  readonly after: "again" | "fail";
  readonly scope: "all" | "declared";
  readonly rejected: string | null;
};

export type WorkflowEnd =
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
  KeepsAsked &
  KeepsBegun &
  KeepsRequest &
  WithRefusals & {
    readonly status: WorkflowStatus;
    readonly createdAt: number;
    readonly changedAt: number;
    readonly seq: number;
    readonly generation: number;
    /** The epoch that runs it, or the agent that drives it from outside; null while nobody does. */
    readonly runner: string | null;
    /** Facts that this runner has recorded: what it says again after an unknown commit is not recorded twice. */
    readonly written: number;
    /** Nobody runs it and there is something to do. */
    readonly isReady: boolean;
    readonly wakeAt: number | null;
    readonly waits: readonly Wait[];
    readonly operations: number;
    readonly pending: PendingCheckpoint | null;
    readonly passed: readonly PassedCheckpoint[];
    readonly lastDecision: LastDecision | null;
    readonly tally: CheckpointTally;
    /** The one under way. */
    readonly rollback: Rollback | null;
    /** The last one that ended, with what it left behind. */
    readonly rolledBack: (Rollback & RollbackReport) | null;
    /** What its rollbacks could not undo, all of them together. */
    readonly irreversible: readonly Irreversible[];
    /** The entry after which nothing that it called has settled or was undone. */
    readonly settledSeq: number;
    /** Workflows that begin with what this one had done up to an entry. */
    readonly forks: readonly { readonly workflow: string; readonly seq: number }[];
    readonly end: WorkflowEnd | null;
  };
export type WorkflowState = { readonly status: "none" } | LiveWorkflow;

/** A fork stands at the checkpoint that it was forked at: that lies before its first entry. */
function passedBefore({ fork }: CreatedBody): readonly PassedCheckpoint[] {
  return fork?.passed === undefined ? [] : [{ ...fork.passed, name: fork.checkpoint, seq: 0 }];
}

function created(body: CreatedBody, { at, seq }: RecordedEvent): LiveWorkflow {
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
    tally: NOTHING_YET,
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

function moved(state: LiveWorkflow, status: WorkflowStatus): LiveWorkflow {
  if (mayMove(state.status, status)) return { ...state, status };
  throw new HoldpointError("broken_rule", `A workflow that is ${state.status} cannot become ${status}.`);
}

const isOver = (state: LiveWorkflow): boolean => state.status === "completed" || state.status === "failed";

/** Something it waits for moved: if nobody runs it, somebody should. While a checkpoint waits there is nothing to do. */
function woken(state: LiveWorkflow): LiveWorkflow {
  const waits = isOver(state) || state.status === "awaiting_approval";
  return state.runner === null && !waits ? { ...state, isReady: true } : state;
}

function said(state: LiveWorkflow, facts: number, operations: number): LiveWorkflow {
  return { ...state, written: state.written + facts, operations: state.operations + operations };
}

function evolveRun(state: LiveWorkflow, event: WorkflowEvent): LiveWorkflow | undefined {
  switch (event.type) {
    case "workflow.started":
    case "workflow.resumed": {
      const begun = event.type === "workflow.started" ? moved(state, "executing") : state;
      return { ...begun, runner: event.body.epoch, written: 0, isReady: false, wakeAt: null, waits: [] };
    }
    case "workflow.suspended":
      return { ...state, runner: null, written: 0, isReady: false, ...event.body };
    case "workflow.woken":
    case "child.ended":
    case "question.answered":
    case "wait.ended":
    case "call.settled":
    case "compensation.settled":
      return woken(state);
    case "send.ended":
      return state;
    case "workflow.refused":
      return withRefusal(state, event.body.by);
    case "workflow.closed":
      return { ...state, open: [], closing: false };
    case "workflow.forked":
      return { ...state, forks: [...state.forks, { workflow: event.body.fork, seq: event.body.seq }] };
    default:
      return undefined;
  }
}

function evolveOperation(state: LiveWorkflow, event: WorkflowEvent): LiveWorkflow | undefined {
  switch (event.type) {
    case "call.made":
    case "compensation.made":
      return said(state, 0, 1);
    case "step.completed":
    case "step.failed":
    case "operation.refused":
    case "sleep.began":
    case "child.spawned":
    case "question.asked":
    case "send.made":
    case "wait.began":
      return said(state, 1, 1);
    case "step.retried":
    case "value.recorded":
    case "log.written":
    case "sleep.ended":
      return said(state, 1, 0);
    default:
      return undefined;
  }
}

function decided(state: LiveWorkflow, event: WorkflowEventOf<"checkpoint.decided">, when: RecordedEvent) {
  const { pending } = state;
  if (pending === null || pending.op !== event.body.op)
    throw new HoldpointError("broken_rule", "A checkpoint was decided that is not waiting.");
  const { op, approval, decision, by, reason, outputs } = event.body;
  const about = { checkpoint: pending.name, op, approval, ...namedIn(pending) };
  const said = { decision, by, reason, at: when.at, outputs, reachedSeq: pending.seq };
  const heard = { ...state, pending: null, lastDecision: { ...about, ...said } };
  if (decision !== "approved" && decision !== "modified") return heard;
  const { name, snapshot } = pending;
  // The definition does not know of it: nothing leads back there.
  if (pending.monitor !== undefined) return woken(moved(heard, "executing"));
  const place = { op, name, snapshot, approval, seq: when.seq, at: when.at, ...namedIn(pending) };
  return woken(moved({ ...heard, passed: [...state.passed, place] }, "executing"));
}

function evolveCheckpoint(state: LiveWorkflow, event: WorkflowEvent, when: RecordedEvent) {
  switch (event.type) {
    case "checkpoint.reached": {
      const { op, name, approval, canRollback, snapshot, irreversible } = event.body;
      const terms = { approval, canRollback, snapshot, irreversible, seq: when.seq };
      const pending = { op, name, ...terms, ...namedIn(event.body) };
      return moved({ ...said(withAsked(state, event.body, approval), 1, 1), pending }, "awaiting_approval");
    }
    case "checkpoint.raised": {
      const { op, name, approval, canRollback, snapshot, irreversible, monitor } = event.body;
      const pending = { op, name, approval, canRollback, snapshot, irreversible, seq: when.seq, monitor };
      return moved({ ...state, pending }, "awaiting_approval");
    }
    case "checkpoint.passed": {
      const { op, name, snapshot } = event.body;
      const place = { op, name, snapshot, approval: null, seq: when.seq, at: when.at };
      const passed = [...state.passed, { ...place, ...namedIn(event.body) }];
      return said({ ...withAsked(state, event.body, null), passed }, 1, 1);
    }
    case "checkpoint.decided":
      return decided(state, event, when);
    default:
      return undefined;
  }
}

function rolledBack(state: LiveWorkflow, body: WorkflowEventOf<"rollback.ended">["body"]): LiveWorkflow {
  const { rollback } = state;
  if (rollback === null) throw new HoldpointError("broken_rule", "A rollback ended that never began.");
  const { undone, notUndone, irreversible, generation, toSeq, after } = body;
  const passed = state.passed.filter(({ seq }) => seq <= toSeq);
  const past = { ...rollback, undone, notUndone, irreversible };
  const known = new Set(state.irreversible.map(({ action }) => action));
  const left = [...state.irreversible, ...irreversible.filter(({ action }) => !known.has(action))];
  const stands = { generation, passed, rollback: null, rolledBack: past, pending: null, irreversible: left };
  const back = { ...state, ...stands };
  return after === "again" ? moved(back, "executing") : back;
}

function evolveEnd(state: LiveWorkflow, event: WorkflowEvent, { at }: RecordedEvent) {
  switch (event.type) {
    case "rollback.began":
      return woken({ ...moved(state, "rolling_back"), rollback: withoutChannel(event.body), pending: null });
    case "rollback.ended":
      return said(rolledBack(state, event.body), 1, 0);
    case "workflow.settling":
      return moved(state, "settling");
    case "workflow.completed": {
      const end = { status: "completed", at, result: event.body.result } as const;
      return { ...moved(state, "completed"), runner: null, isReady: false, wakeAt: null, waits: [], end };
    }
    case "workflow.failed": {
      const end = { status: "failed", at, ...withoutChannel(event.body) } as const;
      // Of a rollback that was broken off nobody knows how far it came: nothing begins again in its range.
      const passed = state.passed.filter(({ seq }) => seq <= (state.rollback?.toSeq ?? seq));
      const failed = { ...moved(state, "failed"), runner: null, pending: null, rollback: null, passed, end };
      return { ...failed, isReady: false, wakeAt: null, waits: [], closing: state.open.length > 0 };
    }
    default:
      return undefined;
  }
}

/** What a policy sees of its past is another after these. */
const SETTLING: ReadonlySet<string> = new Set(["call.settled", "compensation.settled", "rollback.ended"]);

export const workflowFold: Fold<WorkflowState> = {
  version: 9,
  initial: { status: "none" },
  isOver: (state) => state.status === "completed" || state.status === "failed",
  evolve(state, recorded) {
    const body = eventBody("A workflow", recorded, WORKFLOW_EVENTS);
    const event = { type: recorded.type, tv: 1, body } as unknown as WorkflowEvent;
    if (state.status === "none") {
      if (event.type === "workflow.created") return created(event.body, recorded);
      throw new HoldpointError("broken_rule", `"${event.type}" came before the workflow was created.`);
    }
    const now = withBegun(state, event);
    const next =
      evolveRun(now, event) ??
      withRequest(now, event) ??
      evolveOperation(now, event) ??
      evolveCheckpoint(now, event, recorded) ??
      evolveEnd(now, event, recorded);
    if (next === undefined)
      throw new HoldpointError("broken_rule", `"${event.type}" cannot happen to a workflow twice.`);
    const settledSeq = SETTLING.has(event.type) ? recorded.seq : next.settledSeq;
    const tally = counted(next.tally, event.type);
    return { ...next, seq: recorded.seq, changedAt: recorded.at, settledSeq, tally };
  },
};
