/**
 * Applies people's decisions to the workflow in the same commit.
 * A decision on a checkpoint moves the workflow at once: no poller ever sees a decided checkpoint of a workflow that
 * still waits for it.
 */

import type { SubjectPort } from "../../approvals/rules/subject.ts";
import { isAskerOrDecider } from "../../approvals/rules/withdraw.ts";
import { isGiven, joinNotes, type LiveApproval } from "../../approvals/state.ts";
import { reviewEdit } from "../../effects/rules/edit.ts";
import { refuseEnded } from "../../effects/rules/start.ts";
import { actionStream, workflowStream } from "../../kernel/stream.ts";
import type { Draft, Need } from "../../kernel/transaction.ts";
import type { CheckpointDecision } from "../events.ts";
import type { LiveWorkflow } from "../state.ts";
import { failWorkflow } from "./lifecycle.ts";
import { beginRollback, failureCodeFor, findRollbackPoint, nextAttempt } from "./rollback.ts";

/** The person who rejected it said that it must not be retried. */
const isFinal = (approval: LiveApproval): boolean => approval.votes.some((vote) => vote.final === true);

function turnBack(draft: Draft, id: string, approval: LiveApproval, canRollback: boolean): Need | undefined {
  const state = draft.state(workflowStream(id)) as LiveWorkflow;
  const reason = approval.decided?.reason ?? "";
  const by = approval.decided?.by[0] ?? "deadline";
  const { status } = approval;
  if (status === "cancelled" || !canRollback) {
    return failWorkflow(draft, id, { code: failureCodeFor(status), reason, by, report: null });
  }
  const target = findRollbackPoint(state, null) ?? { op: null, seq: 0 };
  const after = isFinal(approval) ? "fail" : nextAttempt(state);
  const rejected = state.lastDecision?.op ?? null;
  return beginRollback(draft, id, { to: null, by, reason, after, scope: "all", rejected }, target);
}

function decideCheckpoint(
  draft: Draft,
  id: string,
  approvalId: string,
  approval: LiveApproval,
): Need | undefined {
  const ref = workflowStream(id);
  const state = draft.state(ref) as LiveWorkflow;
  const { pending } = state;
  if (pending === null || pending.approval !== approvalId) return undefined;
  const decision = approval.status as CheckpointDecision;
  const by = [...(approval.decided?.by ?? [])];
  const body = {
    op: pending.op,
    approval: approvalId,
    decision,
    by,
    reason: joinNotes(approval),
    outputs: approval.args,
  };
  draft.append(ref, [{ type: "checkpoint.decided", tv: 1, body }]);
  if (decision === "approved" || decision === "modified") return undefined;
  return turnBack(draft, id, approval, pending.canRollback);
}

function answerQuestion(draft: Draft, id: string, approvalId: string, approval: LiveApproval): void {
  const isAnswer = isGiven(approval);
  const body = {
    op: approval.subject?.op ?? "",
    approval: approvalId,
    status: isAnswer ? "answered" : approval.status,
    answer: isAnswer ? approval.args : null,
    by: [...(approval.decided?.by ?? [])],
    reason: joinNotes(approval),
  };
  draft.append(workflowStream(id), [{ type: "question.answered", tv: 1, body }]);
}

/** Whether this principal posted the workflow's work or executes it. */
export function isParty(draft: Draft, workflow: string, by: string): Need | boolean {
  const ref = workflowStream(workflow);
  const more = draft.need({ read: [ref] });
  if (more !== undefined) return more;
  const flow = draft.state(ref);
  return flow.status !== "none" && (flow.parties.poster === by || flow.parties.executor === by);
}

/** A checkpoint or a question of a workflow was decided. */
export const workflowSubject: SubjectPort = {
  tell(draft, approvalId, approval) {
    const { action: workflow, subject } = approval;
    const more = draft.need({ write: [workflowStream(workflow)] });
    if (more !== undefined) return more;
    if (subject?.kind === "checkpoint") return decideCheckpoint(draft, workflow, approvalId, approval);
    answerQuestion(draft, workflow, approvalId, approval);
    return undefined;
  },
  mayCancel: (draft, approval, by) =>
    isAskerOrDecider(draft, approval, by) || isParty(draft, approval.action, by),
  reviewEdit: null,
};

function wake(draft: Draft, workflow: string, by: string): Need | undefined {
  const ref = workflowStream(workflow);
  const more = draft.need({ write: [ref] });
  if (more !== undefined) return more;
  const state = draft.state(ref);
  if (state.status === "none" || state.end !== null) return undefined;
  draft.append(ref, [{ type: "workflow.woken", tv: 1, body: { by } }]);
  return undefined;
}

function callerOf(draft: Draft, { action }: LiveApproval): string | undefined {
  const state = draft.state(actionStream(action));
  return state.phase === "none" ? undefined : state.within?.workflow;
}

/** An action was decided, or edited so that a process with the tool must review it: wakes the calling workflow. */
export const actionSubject: SubjectPort = {
  tell(draft, approvalId, approval) {
    refuseEnded(draft, approvalId, approval);
    const workflow = callerOf(draft, approval);
    return workflow === undefined ? undefined : wake(draft, workflow, approvalId);
  },
  mayCancel(draft, approval, by) {
    if (isAskerOrDecider(draft, approval, by)) return true;
    const workflow = callerOf(draft, approval);
    return workflow !== undefined && isParty(draft, workflow, by);
  },
  reviewEdit,
};
