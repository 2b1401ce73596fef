/**
 * The life of a workflow: taken by a process, written to, suspended, completed, failed or cancelled.
 * Every event names the epoch that took the workflow; an epoch that lost it writes nothing more. A process releases a
 * workflow only if it has seen every entry. No process takes a workflow whose parent has failed (it fails at once), or
 * one that a remote agent drives. One requested by name begins in the commit that records what its definition adds,
 * once; an input that does not fit fails it before anything has begun.
 * It ends once; the same commit notifies its parent and leaves no question about it open. A move that the states do not
 * allow is refused and recorded.
 */
import { withdrawApproval } from "../../approvals/rules/withdraw.ts";
import type { Json } from "../../kernel/json.ts";
import { channelField, type Via } from "../../kernel/principal.ts";
import { approvalStream, type NewEvent, type StreamRef, workflowStream } from "../../kernel/stream.ts";
import { appendRefusal, type Draft, type Need } from "../../kernel/transaction.ts";
import type { DefinedBody, FailureCode, Irreversible, RollbackReport, Wait } from "../events.ts";
import { type LiveWorkflow, mayMove, parseObstacle, type WorkflowStatus } from "../state.ts";
import type { Turned } from "./calls.ts";

type WorkflowFailure = Via & {
  readonly code: FailureCode;
  readonly reason: string;
  readonly by: string;
  readonly report: RollbackReport | null;
};

function notifyParent(
  draft: Draft,
  id: string,
  end: { status: "completed" | "failed"; result: Json; reason: string },
) {
  const state = draft.state(workflowStream(id)) as LiveWorkflow;
  if (state.parent === null) return;
  const { workflow, op } = state.parent;
  draft.append(workflowStream(workflow), [{ type: "child.ended", tv: 1, body: { op, child: id, ...end } }]);
}

function lockParent(draft: Draft, state: LiveWorkflow): Need | undefined {
  return state.parent === null ? undefined : draft.need({ write: [workflowStream(state.parent.workflow)] });
}

/** Withdraws the question of a pending checkpoint. */
export function withdrawQuestion(
  draft: Draft,
  state: LiveWorkflow,
  by: string,
  reason: string,
): Need | undefined {
  if (state.pending === null) return undefined;
  const ref = approvalStream(state.pending.approval);
  const more = draft.need({ write: [ref] });
  if (more !== undefined) return more;
  withdrawApproval(draft, state.pending.approval, { by, reason });
  return undefined;
}

/** Each action once: what earlier rollbacks left behind, then this one's. */
function together(before: readonly Irreversible[], now: readonly Irreversible[]): readonly Irreversible[] {
  const known = new Set(before.map(({ action }) => action));
  return [...before, ...now.filter(({ action }) => !known.has(action))];
}

/** Includes what earlier rollbacks could not undo; null if nothing was ever rolled back. */
function fullReport({ irreversible }: LiveWorkflow, report: RollbackReport | null): RollbackReport | null {
  if (irreversible.length === 0) return report;
  const own = report ?? { undone: [], notUndone: [], irreversible: [] };
  return { ...own, irreversible: together(irreversible, own.irreversible) };
}

/** The caller has checked that the workflow may fail now. */
export function failWorkflow(draft: Draft, id: string, failure: WorkflowFailure): Need | undefined {
  const ref = workflowStream(id);
  const state = draft.state(ref) as LiveWorkflow;
  const more = lockParent(draft, state) ?? withdrawQuestion(draft, state, failure.by, failure.reason);
  if (more !== undefined) return more;
  const body = { ...failure, report: fullReport(state, failure.report) };
  draft.append(ref, [{ type: "workflow.failed", tv: 1, body }]);
  notifyParent(draft, id, { status: "failed", result: null, reason: failure.reason });
  return undefined;
}

/** Result of applying the definition to the input. */
export type Defining =
  | { readonly kind: "fits"; readonly body: Omit<DefinedBody, "input"> & { readonly input: Json } }
  | ({ readonly kind: "unfit" } & Pick<WorkflowFailure, "code" | "reason" | "by">);

type NotBegun = { readonly kind: "undefined" | "left"; readonly state: LiveWorkflow };

const live = (draft: Draft, id: string): LiveWorkflow => draft.state(workflowStream(id)) as LiveWorkflow;

/** undefined: it may begin. The caller has locked it. */
function takeUpRequest(
  draft: Draft,
  id: string,
  defining: Defining | undefined,
): Need | NotBegun | undefined {
  const state = live(draft, id);
  if (state.requested === undefined || state.requested.isDefined) return undefined;
  if (defining === undefined) return { kind: "undefined", state };
  if (defining.kind === "unfit") {
    const { code, reason, by } = defining;
    const more = failWorkflow(draft, id, { code, reason, by, report: null });
    return more ?? { kind: "left", state: live(draft, id) };
  }
  const body = { ...defining.body, input: draft.keep(defining.body.input) };
  draft.append(workflowStream(id), [{ type: "workflow.defined", tv: 1, body }]);
  return undefined;
}

/** A process that runs a workflow, and the number of events it has recorded since it took it. */
export type Runner = { readonly workflow: string; readonly epoch: string; readonly written: number };

type TakeResult =
  | { readonly kind: "taken"; readonly state: LiveWorkflow }
  /** Nothing was done: a process with the definition has to say first what it adds. */
  | { readonly kind: "undefined"; readonly state: LiveWorkflow }
  | { readonly kind: "left"; readonly state: LiveWorkflow | null };

export function lockWorkflow(draft: Draft, id: string): Need | LiveWorkflow | undefined {
  const ref = workflowStream(id);
  const more = draft.need({ write: [ref] });
  if (more !== undefined) return more;
  const state = draft.state(ref);
  return state.status === "none" ? undefined : state;
}

const RUNNABLE: readonly string[] = ["initialized", "executing", "rolling_back"];

/** The first process that finds a workflow left behind by its failed parent ends it. */
function failWithParent(draft: Draft, id: string, state: LiveWorkflow): Need | LiveWorkflow | undefined {
  const { parent, status } = state;
  // A rollback is finished first, and a pending checkpoint is withdrawn with everything its parent began.
  if (parent === null || status === "rolling_back" || status === "awaiting_approval") return undefined;
  const ref = workflowStream(parent.workflow);
  const more = draft.need({ read: [ref] });
  if (more !== undefined) return more;
  const above = draft.state(ref);
  if (above.status === "none" || above.end?.status !== "failed") return undefined;
  const reason = `its parent ${parent.workflow} has failed: ${above.end.reason}`;
  const failure = { code: "cancelled", reason, by: above.end.by, report: null } as const;
  return failWorkflow(draft, id, failure) ?? (draft.state(workflowStream(id)) as LiveWorkflow);
}

export type Take = {
  readonly workflow: string;
  readonly epoch: string;
  /** A runner found dead, whose workflow may be taken over. */
  readonly dead: string | null;
  /** For one requested by name: what the definition adds. */
  readonly defining?: Defining;
};

export function takeRun(draft: Draft, command: Take): Need | TakeResult {
  const state = lockWorkflow(draft, command.workflow);
  if (state === undefined) return { kind: "left", state: null };
  if ("kind" in state) return state;
  if (state.isOutside === true) return { kind: "left", state };
  const { epoch } = command;
  if (state.runner === epoch) return { kind: "taken", state };
  const isFree = state.runner === null || state.runner === command.dead;
  // A workflow that waits for people has nothing to do, unless its runner died before releasing it.
  const isDue =
    RUNNABLE.includes(state.status) || (state.runner !== null && state.status === "awaiting_approval");
  if (!isFree || !isDue) return { kind: "left", state };
  const over = failWithParent(draft, command.workflow, state);
  if (over !== undefined) return "kind" in over ? over : { kind: "left", state: over };
  const unfit = takeUpRequest(draft, command.workflow, command.defining);
  if (unfit !== undefined) return unfit;
  const type = state.status === "initialized" ? "workflow.started" : "workflow.resumed";
  const ref = workflowStream(command.workflow);
  draft.append(ref, [{ type, tv: 1, body: { epoch } }]);
  return { kind: "taken", state: draft.state(ref) as LiveWorkflow };
}

/** What was appended, after which entry, and how much this process has recorded by now. */
type Written = {
  readonly from: number;
  readonly seq: number;
  readonly written: number;
  readonly now: number;
  readonly events: readonly NewEvent[];
};

export type Recorded =
  | (Written & { readonly kind: "recorded" })
  | { readonly kind: "early"; readonly now: number }
  | Turned;

type RunPhase = "run" | "rollback";

const PHASES: { readonly [phase in RunPhase]: readonly string[] } = {
  run: ["executing", "awaiting_approval"],
  rollback: ["rolling_back"],
};

/** The workflow, if this process still runs it in this phase. */
export function lockOwnRun(draft: Draft, runner: Runner, phase: RunPhase): Need | Turned | LiveWorkflow {
  const state = lockWorkflow(draft, runner.workflow);
  if (state === undefined) return { kind: "turned" };
  if ("kind" in state) return state;
  return state.runner === runner.epoch && PHASES[phase].includes(state.status) ? state : { kind: "turned" };
}

export function wasRecorded(state: LiveWorkflow, runner: Runner): boolean {
  return state.written > runner.written;
}

/** What this process just appended; no events if it had done so before. */
export function reportWritten(
  draft: Draft,
  before: LiveWorkflow,
  workflow: string,
  events: readonly NewEvent[],
): Recorded {
  const { seq, written: count } = draft.state(workflowStream(workflow)) as LiveWorkflow;
  return { kind: "recorded", from: before.seq, seq, written: count, now: draft.now, events };
}

export type RunFacts = {
  readonly phase: RunPhase;
  readonly events: (draft: Draft) => readonly NewEvent[];
  /** A sleep ends by the store's clock, not by the process's. */
  readonly notBefore?: number;
};

/** Records events of the operations themselves. */
export function recordFacts(draft: Draft, runner: Runner, facts: RunFacts): Need | Recorded {
  const state = lockOwnRun(draft, runner, facts.phase);
  if ("kind" in state) return state;
  if (wasRecorded(state, runner)) return reportWritten(draft, state, runner.workflow, []);
  if (facts.notBefore !== undefined && draft.now < facts.notBefore) return { kind: "early", now: draft.now };
  const events = facts.events(draft);
  draft.append(workflowStream(runner.workflow), events);
  return reportWritten(draft, state, runner.workflow, events);
}

type Suspension = {
  /** The last entry that the process has seen. */
  readonly seen: number;
  readonly waits: readonly Wait[];
  readonly wakeAt: number | null;
  readonly before: readonly NewEvent[];
};

type Suspended = { readonly kind: "suspended" | "moved" } | Turned;

/** A switch released in the meantime would not wake a workflow that starts to wait only now. */
function isReleased(draft: Draft, waits: readonly Wait[]): Need | boolean {
  const held = waits.flatMap(({ kind, on }) => (kind === "held" ? (parseObstacle(on) ?? []) : []));
  const switches = held.filter((ref): ref is StreamRef<"switch"> => ref.kind === "switch");
  const more = draft.need({ read: switches });
  return more ?? switches.some((ref) => !draft.state(ref).stopped);
}

export function suspend(
  draft: Draft,
  runner: Runner,
  { seen, waits, wakeAt, before }: Suspension,
): Need | Suspended {
  const state = lockWorkflow(draft, runner.workflow);
  if (state === undefined) return { kind: "turned" };
  if ("kind" in state) return state;
  if (state.runner !== runner.epoch) return { kind: state.runner === null ? "suspended" : "turned" };
  if (state.seq !== seen) return { kind: "moved" };
  // A hand-over is due at once by the store's clock, independent of the process's clock.
  const dueAt = waits.some(({ kind }) => kind === "node") ? draft.now : wakeAt;
  const free = isReleased(draft, waits);
  if (free !== false) return free === true ? { kind: "moved" } : free;
  const event = { type: "workflow.suspended", tv: 1, body: { wakeAt: dueAt, waits } };
  draft.append(workflowStream(runner.workflow), [...before, event]);
  return { kind: "suspended" };
}

export type RunEnded = { readonly kind: "ended" } | Turned;

export function completeWorkflow(
  draft: Draft,
  runner: Runner,
  { result, before }: { readonly result: Json; readonly before: readonly NewEvent[] },
): Need | RunEnded {
  const state = lockOwnRun(draft, runner, "run");
  if ("kind" in state) return state;
  if (state.status !== "executing") return { kind: "turned" };
  const more = lockParent(draft, state);
  if (more !== undefined) return more;
  const kept = draft.keep(result);
  draft.append(workflowStream(runner.workflow), [
    ...before,
    { type: "workflow.settling", tv: 1, body: { operations: state.operations } },
    { type: "workflow.completed", tv: 1, body: { result: kept } },
  ]);
  notifyParent(draft, runner.workflow, { status: "completed", result: kept, reason: "" });
  return { kind: "ended" };
}

/** Fails a run whose definition failed, without a rollback. */
export function failRun(
  draft: Draft,
  runner: Runner,
  { failure, before }: { readonly failure: WorkflowFailure; readonly before: readonly NewEvent[] },
): Need | RunEnded {
  const state = lockWorkflow(draft, runner.workflow);
  if (state === undefined) return { kind: "turned" };
  if ("kind" in state) return state;
  if (state.runner !== runner.epoch || !mayMove(state.status, "failed")) return { kind: "turned" };
  draft.append(workflowStream(runner.workflow), before);
  return failWorkflow(draft, runner.workflow, failure) ?? { kind: "ended" };
}

export type OperatorCommand = Via & {
  readonly workflow: string;
  readonly by: string;
  readonly reason: string;
};
export type RefusedMove = {
  readonly kind: "refused";
  readonly status: WorkflowStatus;
  readonly reason: string;
  readonly isRecorded: boolean;
};
export type OperatorAnswer =
  | { readonly kind: "done"; readonly status: WorkflowStatus }
  | RefusedMove
  | { readonly kind: "unknown" };

export function refuseMove(
  draft: Draft,
  { by, workflow, status }: OperatorCommand & { readonly status: WorkflowStatus },
  asked: string,
  reason: string,
): RefusedMove {
  const ref = workflowStream(workflow);
  const event = { type: "workflow.refused", tv: 1, body: { asked, by, status, reason } };
  const isRecorded = appendRefusal(draft, ref, draft.state(ref) as LiveWorkflow, event);
  return { kind: "refused", status, reason, isRecorded };
}

/** Progress of an interrupted rollback; valid only if `seq` is still the last entry. */
export type InterruptedRollback = { readonly seq: number; readonly report: RollbackReport };

/** Effects stay; to undo them, roll back first. `back` is set for a workflow that is rolling back. */
export function cancelWorkflow(
  draft: Draft,
  command: OperatorCommand & { readonly back?: InterruptedRollback },
): Need | OperatorAnswer | { readonly kind: "moved" } {
  const state = lockWorkflow(draft, command.workflow);
  if (state === undefined) return { kind: "unknown" };
  if ("kind" in state) return state;
  if (state.end?.status === "failed" && state.end.code === "cancelled")
    return { kind: "done", status: "failed" };
  if (!mayMove(state.status, "failed"))
    return refuseMove(draft, { ...command, status: state.status }, "cancel", `it is ${state.status} already`);
  const { by, reason, workflow, back } = command;
  if (back !== undefined && back.seq !== state.seq) return { kind: "moved" };
  const report = back?.report ?? null;
  const more = failWorkflow(draft, workflow, {
    ...{ code: "cancelled", reason, by, report },
    ...channelField(command),
  });
  return more ?? { kind: "done", status: "failed" };
}

/** What it began was withdrawn: only operations that end by themselves are still open. */
export function closeWorkflow(draft: Draft, workflow: string): Need | { readonly kind: "closed" } {
  const state = lockWorkflow(draft, workflow);
  if (state !== undefined && "kind" in state) return state;
  if (state?.closing === true)
    draft.append(workflowStream(workflow), [{ type: "workflow.closed", tv: 1, body: {} }]);
  return { kind: "closed" };
}
