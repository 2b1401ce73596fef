/**
 * Going back to a checkpoint: the last approved one, a named one, or the start; never past one that was already rolled
 * back.
 * It ends only when every effect in its range was undone, could not be undone, or has no undo; the report says which.
 * One at a time: the effect that began last is undone first, the next one only after that has ended. Effects under way
 * are awaited, and effects in doubt resolved, before any undo. If a remote agent drives the workflow, that agent undoes
 * its own calls.
 */

import type { ActionState } from "../../effects/state.ts";
import { channelField, type Via } from "../../kernel/principal.ts";
import { actionStream, type NewEvent, workflowStream } from "../../kernel/stream.ts";
import type { Draft, Need } from "../../kernel/transaction.ts";
import type { CallUndo, FailureCode, Irreversible, RollbackReport } from "../events.ts";
import { type LiveWorkflow, mayMove, type PassedCheckpoint, type Rollback } from "../state.ts";
import { settleCall, type Turned } from "./calls.ts";
import { findBorrowingFork } from "./create.ts";
import {
  failWorkflow,
  lockOwnRun,
  lockWorkflow,
  type OperatorAnswer,
  type OperatorCommand,
  type RunEnded,
  type Runner,
  refuseMove,
  wasRecorded,
  withdrawQuestion,
} from "./lifecycle.ts";

/** `to`: a checkpoint's name or operation, `start`, or null for the last approved one. */
type RollbackPlan = Via & Omit<Rollback, "toSeq">;

type RollbackPoint = { readonly op: string | null; readonly seq: number };

const START: RollbackPoint = { op: null, seq: 0 };

/** The newest checkpoint of that name. A fork's own history begins where it was forked. */
export function findRollbackPoint(
  state: Pick<LiveWorkflow, "passed">,
  to: string | null,
): RollbackPoint | undefined {
  if (to === "start") return START;
  const fits = ({ op, name }: PassedCheckpoint) => to === null || op === to || name === to;
  const found = state.passed.findLast(fits);
  if (found !== undefined) return { op: found.op, seq: found.seq };
  return to === null ? START : undefined;
}

/** The caller has locked the workflow and checked that it may roll back. */
export function beginRollback(
  draft: Draft,
  id: string,
  plan: RollbackPlan,
  target: RollbackPoint,
): Need | undefined {
  const ref = workflowStream(id);
  const { by, reason, after, scope, rejected } = plan;
  const more = withdrawQuestion(draft, draft.state(ref) as LiveWorkflow, by, reason);
  if (more !== undefined) return more;
  const body = {
    to: target.op,
    toSeq: target.seq,
    by,
    reason,
    after,
    scope,
    rejected,
    ...channelField(plan),
  };
  draft.append(ref, [{ type: "rollback.began", tv: 1, body }]);
  return undefined;
}

/** `fail` once all attempts are used: a rejection is final then. */
export function nextAttempt(state: Pick<LiveWorkflow, "generation" | "attempts">): "again" | "fail" {
  return state.generation < state.attempts ? "again" : "fail";
}

/** An operator rolls a workflow back. */
export function rollBack(
  draft: Draft,
  command: OperatorCommand & { readonly to: string | null; readonly after: "again" | "fail" },
): Need | OperatorAnswer {
  const state = lockWorkflow(draft, command.workflow);
  if (state === undefined) return { kind: "unknown" };
  if ("kind" in state) return state;
  const refused = (reason: string) =>
    refuseMove(draft, { ...command, status: state.status }, "rollback", reason);
  if (!mayMove(state.status, "rolling_back")) return refused(`it is ${state.status}`);
  const target = findRollbackPoint(state, command.to);
  if (target === undefined) return refused(`no checkpoint "${command.to}" was passed`);
  const borrower = findBorrowingFork(draft, state, target.seq);
  if (borrower !== undefined && "kind" in borrower) return borrower;
  if (borrower !== undefined)
    return refused(`the fork ${borrower.fork} goes on from what would be undone: cancel it first`);
  const { by, reason, to, after } = command;
  const plan = { to, by, reason, after, scope: "all", rejected: null, ...channelField(command) } as const;
  return beginRollback(draft, command.workflow, plan, target) ?? { kind: "done", status: "rolling_back" };
}

/** A definition failed, and its effects are to be undone. */
export function rollBackRun(
  draft: Draft,
  runner: Runner,
  {
    reason,
    scope,
    before,
  }: { readonly reason: string; readonly scope: "all" | "declared"; readonly before: readonly NewEvent[] },
): Need | RunEnded {
  const state = lockOwnRun(draft, runner, "run");
  if ("kind" in state) return state;
  const target = findRollbackPoint(state, null) ?? START;
  draft.append(workflowStream(runner.workflow), before);
  const plan = { to: null, by: "workflow", reason, after: "fail", scope, rejected: null } as const;
  return beginRollback(draft, runner.workflow, plan, target) ?? { kind: "ended" };
}

/** Whether it may go on after this rollback; otherwise it has failed. */
function isClean(state: LiveWorkflow, report: RollbackReport): boolean {
  if (report.notUndone.length > 0) return false;
  return report.irreversible.length === 0 || state.onIrreversible === "continue";
}

/** The failure code of a workflow that does not go on after this decision. */
export function failureCodeFor(decision: string | undefined): "cancelled" | "expired" | "rejected" {
  return decision === "cancelled" || decision === "expired" ? decision : "rejected";
}

function whyFailed(state: LiveWorkflow, report: RollbackReport): { code: FailureCode; reason: string } {
  const { rollback, lastDecision } = state;
  if (!isClean(state, report)) {
    const left = [
      ...report.notUndone.map(({ action }) => action),
      ...report.irreversible.map(({ action }) => action),
    ];
    const reason = `${rollback?.reason ?? ""} (not everything could be undone: ${left.join(", ")})`.trim();
    return { code: "rollback_failed", reason };
  }
  const reason = rollback?.reason ?? "";
  if (rollback?.rejected != null) return { code: failureCodeFor(lastDecision?.decision), reason };
  return { code: rollback?.by === "workflow" ? "error" : "rolled_back", reason };
}

/** An undo refused by policy, people or a timeout has ended like one that ran: records that once. */
export function settleRefused(
  draft: Draft,
  runner: Runner,
  action: string,
): Need | Turned | { readonly kind: "settled" } {
  const state = lockOwnRun(draft, runner, "rollback");
  if ("kind" in state) return state;
  const more = draft.need({ read: [actionStream(action)] });
  if (more !== undefined) return more;
  const isOpen = state.open.includes(action);
  return (isOpen ? settleCall(draft, action) : undefined) ?? { kind: "settled" };
}

type RolledBack = { readonly kind: "again" | "failed"; readonly seq: number } | Turned;

export function endRollback(draft: Draft, runner: Runner, report: RollbackReport): Need | RolledBack {
  const state = lockWorkflow(draft, runner.workflow);
  if (state === undefined) return { kind: "turned" };
  if ("kind" in state) return state;
  if (state.runner !== runner.epoch || state.rollback === null)
    return wasRecorded(state, runner) && state.runner === runner.epoch
      ? { kind: "again", seq: state.seq }
      : { kind: "turned" };
  const ref = workflowStream(runner.workflow);
  const goesOn = state.rollback.after === "again" && isClean(state, report);
  const why = whyFailed(state, report);
  const generation = state.generation + (goesOn ? 1 : 0);
  const { by, toSeq } = state.rollback;
  const body = { ...report, generation, toSeq, after: goesOn ? "again" : "fail" };
  draft.append(ref, [{ type: "rollback.ended", tv: 1, body }]);
  if (goesOn) return { kind: "again", seq: (draft.state(ref) as LiveWorkflow).seq };
  const more = failWorkflow(draft, runner.workflow, { ...why, by, report });
  return more ?? { kind: "failed", seq: (draft.state(ref) as LiveWorkflow).seq };
}

/** An effect in the range, in its current phase. */
export type EffectToUndo = {
  readonly op: string;
  /** A checkpoint that has an undo: its operation. */
  readonly action: string;
  readonly tool: string;
  /** `unknown`: only another process may know how it is undone. */
  readonly undo: CallUndo | "unknown";
  readonly phase: ActionState["phase"];
  /** When it began, and its entry or position: effects with the same timestamp were proposed in this order. */
  readonly at: number;
  readonly seq: number;
};

/** One attempt to undo an effect. */
export type UndoAttempt = {
  readonly action: string;
  readonly undoes: string;
  readonly phase: ActionState["phase"];
  readonly reason: string;
  /** Made by the child whose effect it is, under ids of its own. */
  readonly isOfChild?: true;
};

export type RollbackStep<Effect extends EffectToUndo = EffectToUndo> =
  /** Actions that have to end first. */
  | { readonly kind: "waits"; readonly on: readonly string[] }
  /** To be undone now. `attempt`: 1-based attempt number; `action`: its own action if already proposed. */
  | {
      readonly kind: "undo";
      readonly call: Effect;
      readonly attempt: number;
      readonly action: string | null;
    }
  | { readonly kind: "over"; readonly report: RollbackReport };

export const MAX_UNDO_ATTEMPTS = 5;

const UNDER_WAY: readonly string[] = ["open", "waiting", "running", "in_doubt"];

type UndoProgress =
  | { readonly kind: "undone" }
  | { readonly kind: "not_undone"; readonly reason: string }
  | { readonly kind: "open"; readonly attempt: number; readonly action: string | null };

/** How far the undo of one effect has come. */
function undoProgress(undos: readonly UndoAttempt[]): UndoProgress {
  if (undos.some(({ phase }) => phase === "applied")) return { kind: "undone" };
  // Policy or a person refused it; a retry would not help.
  const refused = undos.find(({ phase }) => phase === "refused");
  if (refused !== undefined) return { kind: "not_undone", reason: refused.reason };
  const own = undos.filter(({ isOfChild }) => isOfChild !== true);
  const open = own.findIndex(({ phase }) => UNDER_WAY.includes(phase));
  const now = own[open];
  if (now !== undefined) return { kind: "open", attempt: open + 1, action: now.action };
  const last = own.at(-1);
  if (last !== undefined && own.length >= MAX_UNDO_ATTEMPTS)
    return { kind: "not_undone", reason: last.reason };
  return { kind: "open", attempt: own.length + 1, action: null };
}

const newestFirst = (a: EffectToUndo, b: EffectToUndo): number => b.at - a.at || b.seq - a.seq;

/** What comes next: done here, or by the agent that drives the workflow. */
export function nextRollbackStep<Effect extends EffectToUndo>(
  effects: readonly Effect[],
  undos: readonly UndoAttempt[],
): RollbackStep<Effect> {
  const on = effects.filter(({ phase }) => UNDER_WAY.includes(phase)).map(({ action }) => action);
  if (on.length > 0) return { kind: "waits", on };
  const undone: string[] = [];
  const notUndone: { action: string; reason: string }[] = [];
  const irreversible: Irreversible[] = [];
  for (const call of effects.filter(({ phase }) => phase === "applied").toSorted(newestFirst)) {
    const { op, action, tool, undo } = call;
    if (undo === "nothing") continue;
    if (undo === "none") {
      irreversible.push({ op, action, tool });
      continue;
    }
    const stand = undoProgress(undos.filter(({ undoes }) => undoes === action));
    if (stand.kind === "open") return { kind: "undo", call, attempt: stand.attempt, action: stand.action };
    if (stand.kind === "undone") undone.push(action);
    else notUndone.push({ action, reason: stand.reason });
  }
  return { kind: "over", report: { undone, notUndone, irreversible } };
}

/** Ends the rollback, unless an entry was written since the report was made. */
export function endRemoteRollback(
  draft: Draft,
  {
    workflow,
    seq,
    report,
  }: { readonly workflow: string; readonly seq: number; readonly report: RollbackReport },
): Need | RolledBack | { readonly kind: "moved" } {
  const state = lockWorkflow(draft, workflow);
  if (state === undefined) return { kind: "turned" };
  if ("kind" in state) return state;
  if (state.isOutside !== true || state.status !== "rolling_back" || state.runner === null)
    return { kind: "turned" };
  if (state.seq !== seq) return { kind: "moved" };
  const runner = { workflow, epoch: state.runner, written: state.written };
  return endRollback(draft, runner, report);
}

/** A refused action has ended: records that in the workflow, once. */
export function settleRefusedCall(
  draft: Draft,
  workflow: string,
  action: string,
): Need | { readonly kind: "settled" } {
  const more = draft.need({ write: [workflowStream(workflow)], read: [actionStream(action)] });
  if (more !== undefined) return more;
  const state = draft.state(workflowStream(workflow));
  const isOpen = state.status !== "none" && state.open.includes(action);
  const { phase } = draft.state(actionStream(action));
  return (isOpen && phase === "refused" ? settleCall(draft, action) : undefined) ?? { kind: "settled" };
}
