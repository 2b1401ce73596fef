/**
 * Going back to a checkpoint.
 *
 * G1. It leads to the last approved checkpoint, to one that somebody names, or to the start; never past one that was rolled
 *     back already.
 * G2. It ends only when every effect in its range was undone, could not be undone, or has no undo; the report says which.
 */

import { channelField, type Via } from "../../kernel/principal.ts";
import { actionStream, type NewEvent, workflowStream } from "../../kernel/stream.ts";
import type { Draft, Need } from "../../kernel/transaction.ts";

import { settleCall, type Turned } from "./call.ts";
import { type Asked, type Command, type Ended, refuseMove } from "./end.ts";
import type { FailureCode, RollbackReport } from "./events.ts";
import { failWorkflow, withdrawQuestion } from "./fail.ts";
import { borrowerOf } from "./fork.ts";
import { heldBy, lockWorkflow, type Runner, wasRecorded } from "./run.ts";
import { type LiveWorkflow, mayMove, type PassedCheckpoint } from "./state.ts";

export type RollbackPlan = Via & {
  /** A checkpoint's name or operation, `start`, or null for the last approved one. */
  readonly to: string | null;
  readonly by: string;
  readonly reason: string;
  readonly after: "again" | "fail";
  readonly scope: "all" | "declared";
  readonly rejected: string | null;
};

export type Target = { readonly op: string | null; readonly seq: number };

const START: Target = { op: null, seq: 0 };

/** The newest of that name. A fork's own history begins where it was forked. */
export function targetOf(state: Pick<LiveWorkflow, "passed">, to: string | null): Target | undefined {
  if (to === "start") return START;
  const fits = ({ op, name }: PassedCheckpoint) => to === null || op === to || name === to;
  const found = state.passed.findLast(fits);
  if (found !== undefined) return { op: found.op, seq: found.seq };
  return to === null ? START : undefined;
}

/** The caller has locked the workflow and knows that it may roll back. */
export function beginRollback(
  draft: Draft,
  id: string,
  plan: RollbackPlan,
  target: Target,
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

/** Sent back as often as it may be: from then on a rejection is for good. */
export function nextAttempt(state: Pick<LiveWorkflow, "generation" | "attempts">): "again" | "fail" {
  return state.generation < state.attempts ? "again" : "fail";
}

/** An operator sends a workflow back. */
export function rollBack(
  draft: Draft,
  command: Command & { readonly to: string | null; readonly after: "again" | "fail" },
): Need | Asked {
  const state = lockWorkflow(draft, command.workflow);
  if (state === undefined) return { kind: "unknown" };
  if ("kind" in state) return state;
  const refused = (reason: string) =>
    refuseMove(draft, { ...command, status: state.status }, "rollback", reason);
  if (!mayMove(state.status, "rolling_back")) return refused(`it is ${state.status}`);
  const target = targetOf(state, command.to);
  if (target === undefined) return refused(`no checkpoint "${command.to}" was passed`);
  const borrower = borrowerOf(draft, state, target.seq);
  if (borrower !== undefined && "kind" in borrower) return borrower;
  if (borrower !== undefined)
    return refused(`the fork ${borrower.fork} goes on from what would be undone: cancel it first`);
  const { by, reason, to, after } = command;
  const plan = { to, by, reason, after, scope: "all", rejected: null, ...channelField(command) } as const;
  return beginRollback(draft, command.workflow, plan, target) ?? { kind: "done", status: "rolling_back" };
}

/** A definition failed, and what it did is to be undone. */
export function rollBackRun(
  draft: Draft,
  runner: Runner,
  {
    reason,
    scope,
    before,
  }: { readonly reason: string; readonly scope: "all" | "declared"; readonly before: readonly NewEvent[] },
): Need | Ended {
  const state = heldBy(draft, runner, "run");
  if ("kind" in state) return state;
  const target = targetOf(state, null) ?? START;
  draft.append(workflowStream(runner.workflow), before);
  const plan = { to: null, by: "workflow", reason, after: "fail", scope, rejected: null } as const;
  return beginRollback(draft, runner.workflow, plan, target) ?? { kind: "ended" };
}

/** Whether it goes on after this; otherwise it has failed. */
function isClean(state: LiveWorkflow, report: RollbackReport): boolean {
  if (report.notUndone.length > 0) return false;
  return report.irreversible.length === 0 || state.onIrreversible === "continue";
}

/** What a workflow that goes no further has failed of. */
export function codeOf(decision: string | undefined): "cancelled" | "expired" | "rejected" {
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
  if (rollback?.rejected != null) return { code: codeOf(lastDecision?.decision), reason };
  return { code: rollback?.by === "workflow" ? "error" : "rolled_back", reason };
}

/** An undo that was refused, by policy, people or their silence, has ended like one that ran: the workflow says so, once. */
export function settleRefused(
  draft: Draft,
  runner: Runner,
  action: string,
): Need | Turned | { readonly kind: "settled" } {
  const state = heldBy(draft, runner, "rollback");
  if ("kind" in state) return state;
  const more = draft.need({ read: [actionStream(action)] });
  if (more !== undefined) return more;
  const isOpen = state.open.includes(action);
  return (isOpen ? settleCall(draft, action) : undefined) ?? { kind: "settled" };
}

export type RolledBack = { readonly kind: "again" | "failed"; readonly seq: number } | Turned;

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
