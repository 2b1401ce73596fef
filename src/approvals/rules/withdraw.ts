/**
 * Ends of an approval that are neither a vote nor its deadline: a withdrawal, a revocation, a permission that lapses.
 *
 * - A pending question is withdrawn by those who ask (the requester and the principals it acts for, the poster and the
 *   executor of the workflow), by a person who may decide now, or by an admin. It ends the question, so no other may.
 * - The question of an intent is withdrawn by those who may withdraw the intent. Without a roster, that is any person
 *   in good standing.
 */

import { channelField, isPerson, type Via } from "../../kernel/principal.ts";
import { approvalStream, ROSTER } from "../../kernel/stream.ts";
import type { Draft, Need } from "../../kernel/transaction.ts";
import { isGiven, type LiveApproval } from "../state.ts";
import { actOn, type EndAnswer, passTime } from "./deadline.ts";
import { isEligible } from "./quorum.ts";
import { appendApprovalEvent, getSubjectPort, tellSubject, withAction } from "./subject.ts";

export function lapse(draft: Draft, id: string, reason: string): void {
  appendApprovalEvent(draft, id, "approval.lapsed", { reason });
}

/**
 * Ends an approval of something that will not run: a decision lapses, and an unanswered question is withdrawn. If its
 * deadline has passed, it has expired instead. The caller has locked the approval.
 */
export function withdrawApproval(
  draft: Draft,
  id: string,
  { by, reason }: { readonly by: string; readonly reason: string },
): void {
  const state = draft.state(approvalStream(id));
  if (isGiven(state)) lapse(draft, id, reason);
  if (state.status !== "pending" || passTime(draft, id).status !== "pending") return;
  appendApprovalEvent(draft, id, "approval.cancelled", { by, reason });
}

export type Withdrawal = Via & { readonly approval: string; readonly by: string; readonly reason: string };

/** Withdraws a pending question; the caller has checked that this is allowed. Repeating it gives the same answer. */
export function cancelApproval(draft: Draft, command: Withdrawal): Need | EndAnswer {
  const { approval: id } = command;
  const state = withAction(draft, id);
  if ("kind" in state) return state;
  if (state.status === "cancelled" && state.decided?.by.includes(command.by))
    return { kind: "ended", status: "cancelled" };
  if (state.status !== "pending") return { kind: "not_possible", status: state.status };
  if (passTime(draft, id).status === "expired")
    return tellSubject(draft, id) ?? { kind: "not_possible", status: "expired" };
  return endBy(draft, command, "cancelled");
}

/** Revokes a decision before it is used. Repeating it gives the same answer. */
export function revokeApproval(draft: Draft, command: Withdrawal): Need | EndAnswer {
  const state = withAction(draft, command.approval);
  if ("kind" in state) return state;
  if (state.status === "revoked" && state.ended?.by.includes(command.by))
    return { kind: "ended", status: "revoked" };
  return isGiven(state) ? endBy(draft, command, "revoked") : { kind: "not_possible", status: state.status };
}

function endBy(draft: Draft, command: Withdrawal, status: "cancelled" | "revoked"): Need | EndAnswer {
  const { approval: id, by, reason } = command;
  appendApprovalEvent(draft, id, `approval.${status}`, { by, reason, ...channelField(command) });
  return tellSubject(draft, id) ?? { kind: "ended", status };
}

/** Whether they ask, may decide, or are an admin. Without a roster, every principal qualifies. */
export function isAskerOrDecider(draft: Draft, approval: LiveApproval, by: string): boolean {
  const roster = draft.state(ROSTER);
  const { members } = roster;
  if (members.size === 0 || approval.requester.includes(by)) return true;
  return members.get(by)?.roles.includes("admin") === true || isEligible(approval, roster, by);
}

const isSuspended = (draft: Draft, by: string): boolean =>
  isPerson(by) && draft.state(ROSTER).suspended.includes(by);

/** Whether they could withdraw it now. The caller has locked the approval and read the roster. */
export function mayCancel(draft: Draft, approval: LiveApproval, by: string): Need | boolean {
  if (approval.status !== "pending" || isSuspended(draft, by)) return false;
  return getSubjectPort(draft, approval).mayCancel(draft, approval, by);
}

export type CancelDecision = EndAnswer | { readonly kind: "not_theirs"; readonly reason: string };

function take(draft: Draft, approval: LiveApproval, command: Withdrawal): Need | CancelDecision {
  if (approval.status !== "pending") return cancelApproval(draft, command);
  const { by } = command;
  if (isSuspended(draft, by)) return { kind: "not_theirs", reason: `${by} is not in good standing` };
  const theirs = mayCancel(draft, approval, by);
  if (typeof theirs === "object") return theirs;
  return theirs
    ? cancelApproval(draft, command)
    : { kind: "not_theirs", reason: `${by} neither asks nor may decide` };
}

export function cancelIfAllowed(draft: Draft, command: Withdrawal): Need | CancelDecision {
  const answer = actOn(draft, command.approval, (approval) => take(draft, approval, command));
  return answer.kind === "unknown" ? { kind: "not_possible", status: "none" } : answer;
}
