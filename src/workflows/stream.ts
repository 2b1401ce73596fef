/**
 * The workflow stream: the fold of its events into a state, and its two projections: the list for people (workflows)
 * and the list of runs in which processes look for work.
 * One process at a time runs a workflow: the epoch that took it last. A workflow driven by a remote agent belongs to
 * that agent, and no process takes it. A workflow requested by name runs only after its definition has added its part.
 * A rollback starts a new generation; what it went back over is never replayed.
 * Runs are looked up by definition name; runs whose definition was made for one run have buckets of their own.
 */

import { HoldpointError } from "../kernel/errors.ts";
import type { JsonObject } from "../kernel/json.ts";
import { withoutChannel } from "../kernel/principal.ts";
import { withRefusal } from "../kernel/refusals.ts";
import { eventBody, type Fold, type RecordedEvent } from "../kernel/stream.ts";
import { type CreatedBody, WORKFLOW_EVENTS, type WorkflowEvent, type WorkflowEventOf } from "./events.ts";
import {
  countCheckpoint,
  EMPTY_TALLY,
  evolveRequest,
  type LiveWorkflow,
  mayMove,
  type PassedCheckpoint,
  recordCheckpointRequest,
  requestIdField,
  trackOpenOperations,
  type WorkflowState,
  type WorkflowStatus,
} from "./state.ts";

/** A fork has already passed the checkpoint that it was forked at, before its first entry. */
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

function moved(state: LiveWorkflow, status: WorkflowStatus): LiveWorkflow {
  if (mayMove(state.status, status)) return { ...state, status };
  throw new HoldpointError("broken_rule", `A workflow that is ${state.status} cannot become ${status}.`);
}

const isOver = (state: LiveWorkflow): boolean => state.status === "completed" || state.status === "failed";

/** Something it waits for changed: mark it ready if no process runs it. A pending checkpoint leaves nothing to do. */
function woken(state: LiveWorkflow): LiveWorkflow {
  const waits = isOver(state) || state.status === "awaiting_approval";
  return state.runner === null && !waits ? { ...state, isReady: true } : state;
}

function countWritten(state: LiveWorkflow, facts: number, operations: number): LiveWorkflow {
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
      return countWritten(state, 0, 1);
    case "step.completed":
    case "step.failed":
    case "operation.refused":
    case "sleep.began":
    case "child.spawned":
    case "question.asked":
    case "send.made":
    case "wait.began":
      return countWritten(state, 1, 1);
    case "step.retried":
    case "value.recorded":
    case "log.written":
    case "sleep.ended":
      return countWritten(state, 1, 0);
    default:
      return undefined;
  }
}

function decided(state: LiveWorkflow, event: WorkflowEventOf<"checkpoint.decided">, when: RecordedEvent) {
  const { pending } = state;
  if (pending === null || pending.op !== event.body.op)
    throw new HoldpointError("broken_rule", "A checkpoint was decided that is not waiting.");
  const { op, approval, decision, by, reason, outputs } = event.body;
  const about = { checkpoint: pending.name, op, approval, ...requestIdField(pending) };
  const said = { decision, by, reason, at: when.at, outputs, reachedSeq: pending.seq };
  const heard = { ...state, pending: null, lastDecision: { ...about, ...said } };
  if (decision !== "approved" && decision !== "modified") return heard;
  const { name, snapshot } = pending;
  // The definition does not know a raised checkpoint, so no rollback leads back to it.
  if (pending.monitor !== undefined) return woken(moved(heard, "executing"));
  const place = { op, name, snapshot, approval, seq: when.seq, at: when.at, ...requestIdField(pending) };
  return woken(moved({ ...heard, passed: [...state.passed, place] }, "executing"));
}

function evolveCheckpoint(state: LiveWorkflow, event: WorkflowEvent, when: RecordedEvent) {
  switch (event.type) {
    case "checkpoint.reached": {
      const { op, name, approval, canRollback, snapshot, irreversible } = event.body;
      const terms = { approval, canRollback, snapshot, irreversible, seq: when.seq };
      const pending = { op, name, ...terms, ...requestIdField(event.body) };
      return moved(
        { ...countWritten(recordCheckpointRequest(state, event.body, approval), 1, 1), pending },
        "awaiting_approval",
      );
    }
    case "checkpoint.raised": {
      const { op, name, approval, canRollback, snapshot, irreversible, monitor } = event.body;
      const pending = { op, name, approval, canRollback, snapshot, irreversible, seq: when.seq, monitor };
      return moved({ ...state, pending }, "awaiting_approval");
    }
    case "checkpoint.passed": {
      const { op, name, snapshot } = event.body;
      const place = { op, name, snapshot, approval: null, seq: when.seq, at: when.at };
      const passed = [...state.passed, { ...place, ...requestIdField(event.body) }];
      return countWritten({ ...recordCheckpointRequest(state, event.body, null), passed }, 1, 1);
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
      return countWritten(rolledBack(state, event.body), 1, 0);
    case "workflow.settling":
      return moved(state, "settling");
    case "workflow.completed": {
      const end = { status: "completed", at, result: event.body.result } as const;
      return { ...moved(state, "completed"), runner: null, isReady: false, wakeAt: null, waits: [], end };
    }
    case "workflow.failed": {
      const end = { status: "failed", at, ...withoutChannel(event.body) } as const;
      // How far an interrupted rollback came is unknown: nothing may begin again within its range.
      const passed = state.passed.filter(({ seq }) => seq <= (state.rollback?.toSeq ?? seq));
      const failed = { ...moved(state, "failed"), runner: null, pending: null, rollback: null, passed, end };
      return { ...failed, isReady: false, wakeAt: null, waits: [], closing: state.open.length > 0 };
    }
    default:
      return undefined;
  }
}

/** These events change what a policy sees of the workflow's past. */
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
    const now = trackOpenOperations(state, event);
    const next =
      evolveRun(now, event) ??
      evolveRequest(now, event) ??
      evolveOperation(now, event) ??
      evolveCheckpoint(now, event, recorded) ??
      evolveEnd(now, event, recorded);
    if (next === undefined)
      throw new HoldpointError("broken_rule", `"${event.type}" cannot happen to a workflow twice.`);
    const settledSeq = SETTLING.has(event.type) ? recorded.seq : next.settledSeq;
    const tally = countCheckpoint(next.tally, event.type);
    return { ...next, seq: recorded.seq, changedAt: recorded.at, settledSeq, tally };
  },
};

export const runsBucket = (
  where: string,
  { name, isOfOneRun }: Pick<CreatedBody, "name" | "isOfOneRun">,
): string => `${where} ${isOfOneRun === true ? "/" : ""}${name}`;

/** The changing fields that the rows are made of. Most events of a workflow change none of them. */
const SHOWN = ["status", "generation", "pending", "lastDecision", "passed", "end"] as const;
const RUN = ["status", "runner", "isReady", "wakeAt", "waits", "end", "closing"] as const;

function agree(
  before: WorkflowState,
  after: WorkflowState,
  fields: readonly (keyof LiveWorkflow)[],
): boolean {
  if (before.status === "none" || after.status === "none") return false;
  return fields.every((field) => before[field] === after[field]);
}

/** Names of the streams that hold it, each once. */
const heldBy = ({ waits }: LiveWorkflow): readonly string[] => [
  ...new Set(waits.flatMap(({ kind, on }) => (kind === "held" ? on : []))),
];

/** How the definitions that were tried differ from what is recorded. */
const stuckOn = ({ waits }: LiveWorkflow): string | null =>
  waits.find(({ kind }) => kind === "definition")?.on ?? null;

const isHeldAlike = (before: WorkflowState, after: WorkflowState): boolean =>
  before.status !== "none" &&
  after.status !== "none" &&
  stuckOn(before) === stuckOn(after) &&
  heldBy(before).join("\n") === heldBy(after).join("\n");

function summary(state: LiveWorkflow): JsonObject {
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

export const workflowsView = {
  view: "workflows",
  kind: "workflow",
  version: 3,
  oldest: 2,
  row(_id: string, state: WorkflowState) {
    if (state.status === "none") return undefined;
    return { bucket: state.status, at: state.createdAt, due: null, data: summary(state) };
  },
  isSame: (before: WorkflowState, after: WorkflowState) =>
    agree(before, after, SHOWN) && isHeldAlike(before, after),
} as const;

/**
 * The bucket of a run: `ready` to be taken, `running` in a process, `asleep` until something changes, `held` by a
 * switch or a budget, `stuck` on a definition.
 * All but `running` carry the definition's name, so a process without the definition never sees the run. A failed run
 * is `closing` until what it began is withdrawn, which needs no definition.
 */
function runOf(state: LiveWorkflow): {
  readonly bucket: string;
  readonly due: number | null;
  readonly data: JsonObject;
} {
  const { name, runner, isOfOneRun, version } = state;
  const own = isOfOneRun === true ? { isOfOneRun } : {};
  const data = { name, ...own, ...(version === null ? {} : { version }) };
  if (runner !== null) return { bucket: "running", due: null, data: { ...data, epoch: runner } };
  if (state.isReady) return { bucket: runsBucket("ready", state), due: null, data };
  if (state.waits.some(({ kind }) => kind === "definition"))
    return { bucket: runsBucket("stuck", state), due: null, data };
  // What ends while a checkpoint is pending is handled after the decision.
  if (state.status === "awaiting_approval") return { bucket: runsBucket("asleep", state), due: null, data };
  const held = heldBy(state);
  return held.length > 0
    ? { bucket: runsBucket("held", state), due: state.wakeAt, data: { ...data, held } }
    : { bucket: runsBucket("asleep", state), due: state.wakeAt, data };
}

/** Processes do not run a workflow that an agent drives; they only finish its rollback. */
function outsideRow({ status, name, createdAt }: LiveWorkflow) {
  if (status !== "rolling_back") return undefined;
  return { bucket: "outside", due: null, data: { name }, at: createdAt };
}

export const runsView = {
  view: "runs",
  kind: "workflow",
  version: 7,
  oldest: 6,
  row(_id: string, state: WorkflowState) {
    if (state.status === "none") return undefined;
    if (state.closing)
      return { bucket: "closing", due: null, data: { name: state.name }, at: state.createdAt };
    if (state.end !== null) return undefined;
    if (state.isOutside === true) return outsideRow(state);
    return { ...runOf(state), at: state.createdAt };
  },
  isSame: (before: WorkflowState, after: WorkflowState) => agree(before, after, RUN),
} as const;
