/**
 * What people decided reaches the workflow in the same commit.
 *
 * L1. A decision on a checkpoint moves the workflow there and then: no poller ever sees a decided checkpoint of a workflow
 *     that still waits for it.
 */
import type { LiveApproval, Subject } from "../../approvals/state.ts";
import type { Draft, Need } from "../draft.ts";
import { decideIntent } from "../intent/decide.ts";
import { actionStream, approvalStream, workflowStream } from "../stream.ts";
import type { CheckpointDecision } from "./events.ts";
import { failWorkflow } from "./fail.ts";
import { beginRollback, codeOf, nextAttempt, targetOf } from "./rollback.ts";
import type { LiveWorkflow } from "./state.ts";

const DECIDED: readonly string[] = ["approved", "modified", "rejected", "expired", "cancelled"];

function notesOf(approval: LiveApproval): string {
  if (approval.status !== "approved" && approval.status !== "modified") return approval.decided?.reason ?? "";
  return approval.votes.flatMap(({ note }) => note ?? []).join("\n");
}

/** Said not to be tried again by whoever rejected it. */
const isFinal = (approval: LiveApproval): boolean => approval.votes.some((vote) => vote.final === true);

function turnBack(draft: Draft, id: string, approval: LiveApproval, canRollback: boolean): Need | undefined {
  const state = draft.state(workflowStream(id)) as LiveWorkflow;
  const reason = approval.decided?.reason ?? "";
  const by = approval.decided?.by[0] ?? "deadline";
  const { status } = approval;
  if (status === "cancelled" || !canRollback) {
    return failWorkflow(draft, id, { code: codeOf(status), reason, by, report: null });
  }
  const target = targetOf(state, null) ?? { op: null, seq: 0 };
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
    reason: notesOf(approval),
    outputs: approval.args,
  };
  draft.append(ref, [{ type: "checkpoint.decided", tv: 1, body }]);
  if (decision === "approved" || decision === "modified") return undefined;
  return turnBack(draft, id, approval, pending.canRollback);
}

function answerQuestion(draft: Draft, id: string, approvalId: string, approval: LiveApproval): void {
  const isAnswer = approval.status === "approved" || approval.status === "modified";
  const body = {
    op: approval.subject?.op ?? "",
    approval: approvalId,
    status: isAnswer ? "answered" : approval.status,
    answer: isAnswer ? approval.args : null,
    by: [...(approval.decided?.by ?? [])],
    reason: notesOf(approval),
  };
  draft.append(workflowStream(id), [{ type: "question.answered", tv: 1, body }]);
}

type FlowSubject = Extract<Subject, { workflow: string }>;

function tellFlow(
  draft: Draft,
  { kind, workflow }: FlowSubject,
  approvalId: string,
  approval: LiveApproval,
): Need | undefined {
  const more = draft.need({ write: [workflowStream(workflow)] });
  if (more !== undefined) return more;
  if (kind === "checkpoint") return decideCheckpoint(draft, workflow, approvalId, approval);
  answerQuestion(draft, workflow, approvalId, approval);
  return undefined;
}

function tellSubject(draft: Draft, approvalId: string, approval: LiveApproval): Need | undefined {
  const { subject } = approval;
  if (subject === undefined || !DECIDED.includes(approval.status)) return undefined;
  const more =
    subject.kind === "intent"
      ? decideIntent(draft, subject.intent, approval, notesOf(approval))
      : tellFlow(draft, subject, approvalId, approval);
  if (more !== undefined) return more;
  if (approval.status === "approved" || approval.status === "modified")
    draft.append(approvalStream(approvalId), [
      { type: "approval.consumed", tv: 1, body: { effect: subject.op } },
    ]);
  return undefined;
}

/** An action of a workflow was decided, or edited so that somebody with the tool has to look: its workflow is woken. */
function tellCaller(draft: Draft, approvalId: string, approval: LiveApproval): Need | undefined {
  if (approval.status === "pending" && approval.edit === null) return undefined;
  const action = draft.state(actionStream(approval.action));
  if (action.phase === "none" || action.within === undefined) return undefined;
  const ref = workflowStream(action.within.workflow);
  const more = draft.need({ write: [ref] });
  if (more !== undefined) return more;
  const state = draft.state(ref);
  if (state.status === "none" || state.end !== null) return undefined;
  draft.append(ref, [{ type: "workflow.woken", tv: 1, body: { by: approvalId } }]);
  return undefined;
}

/** To be called at the end of every command that may have moved an approval. */
export function tellWorkflow(draft: Draft, approvalId: string): Need | undefined {
  const approval = draft.state(approvalStream(approvalId));
  if (approval.status === "none") return undefined;
  return approval.subject === undefined
    ? tellCaller(draft, approvalId, approval)
    : tellSubject(draft, approvalId, approval);
}
