/**
 * Ends of an approval that are not votes: its deadline, a withdrawal, a revocation, a permission that no longer holds.
 *
 * - The consequences of a deadline are decided by the next command, on the store's clock. A sweep only announces them.
 * - The time of that command makes no difference: the next stage's time, and an extension, begin at the deadline.
 * - People added at half time may decide from then on, whether or not a sweep has run.
 * - A pending question is withdrawn by those who ask (the requester and the principals it acts for, the poster and the
 *   executor of the workflow), by a person who may decide now, or by an admin. It ends the question, so no other may.
 * - The question of an intent is withdrawn by those who may withdraw the intent. Without a roster, that is any person
 *   in good standing.
 */

import { channelField, isPerson, type Via } from "../../kernel/principal.ts";
import { approvalStream, ROSTER } from "../../kernel/stream.ts";
import { type Draft, isNeed, type Need } from "../../kernel/transaction.ts";
import {
  type ApprovalState,
  dueReminder,
  isGiven,
  type LiveApproval,
  nextAtDeadline,
  type Reminder,
  wideningAt,
} from "../state.ts";
import { isEligible, nextDecideBy, stageField } from "./seats.ts";
import { appendApprovalEvent, getLiveApproval, getSubjectPort, tellSubject, withAction } from "./subject.ts";

export function isApprovalOverdue(approval: LiveApproval, now: number): boolean {
  return approval.status === "pending" && approval.decideBy !== null && now >= approval.decideBy;
}

function lengthOf({ stages, stage, asked }: LiveApproval): number {
  return stages?.[stage - 1]?.decideWithinMs ?? (asked.decideBy ?? asked.at) - asked.at;
}

function handOver(draft: Draft, id: string, approval: LiveApproval, overdue: number): void {
  const { edit, stage } = approval;
  const reason = "the time of its stage was up before it was reviewed";
  if (edit !== null)
    appendApprovalEvent(draft, id, "approval.edit_refused", { by: edit.by, rule: "deadline", reason });
  appendApprovalEvent(draft, id, "approval.escalated", { stage, decideBy: nextDecideBy(approval, overdue) });
}

/** Adds the people who may decide from half time on. */
function widen(draft: Draft, id: string, approval: LiveApproval): void {
  const halfTime = wideningAt(approval);
  if (halfTime === undefined) return;
  const also = [...(approval.approvers.escalateAtHalf ?? [])];
  appendApprovalEvent(draft, id, "approval.widened", { also, halfTime, ...stageField(approval) });
}

function meetDeadline(draft: Draft, id: string, approval: LiveApproval, overdue: number): void {
  const next = nextAtDeadline(approval);
  if (next === "expire") appendApprovalEvent(draft, id, "approval.expired", { decideBy: overdue });
  if (next === "escalate") handOver(draft, id, approval, overdue);
  if (next !== "extend") return;
  widen(draft, id, approval);
  const more = { from: overdue, decideBy: overdue + lengthOf(approval), ...stageField(approval) };
  appendApprovalEvent(draft, id, "approval.extended", { by: "deadline", ...more, via: "policy" });
}

/** Applies the deadlines that have passed. The caller has locked the approval, and notifies its subject if it ended. */
export function passTime(draft: Draft, id: string): LiveApproval {
  for (;;) {
    const approval = getLiveApproval(draft, id);
    const { status, decideBy } = approval;
    if (status !== "pending") return approval;
    if (decideBy !== null && draft.now >= decideBy) meetDeadline(draft, id, approval, decideBy);
    else if (draft.now >= (wideningAt(approval) ?? Number.POSITIVE_INFINITY)) widen(draft, id, approval);
    else return approval;
  }
}

/** Actions on an approval other than deciding: with the roster, after applying the deadlines that have passed. */
export function actOn<Answer>(
  draft: Draft,
  id: string,
  act: (approval: LiveApproval) => Answer,
): Need | Answer | { readonly kind: "unknown" } {
  const before = withAction(draft, id);
  if (isNeed(before)) return before;
  if (before.status === "none") return { kind: "unknown" };
  const more = draft.need({ read: [ROSTER] });
  if (more !== undefined) return more;
  const approval = passTime(draft, id);
  const answer = act(approval);
  const isOver = before.status === "pending" && approval.status !== "pending";
  return (isOver ? tellSubject(draft, id) : undefined) ?? answer;
}

type EndAnswer = {
  readonly kind: "ended" | "not_possible";
  readonly status: ApprovalState["status"];
};
type DeadlineMoved = { readonly kind: "moved"; readonly status: "pending" };

/** Announces a deadline that has passed: the approval expired, the next stage is asked, or there is more time. */
export function expireIfDue(draft: Draft, id: string): Need | EndAnswer | DeadlineMoved {
  const state = withAction(draft, id);
  if ("kind" in state) return state;
  if (state.status === "none" || !isApprovalOverdue(state, draft.now))
    return { kind: "not_possible", status: state.status };
  if (passTime(draft, id).status === "pending") return { kind: "moved", status: "pending" };
  return tellSubject(draft, id) ?? { kind: "ended", status: "expired" };
}

type DueAnnouncement =
  | EndAnswer
  | DeadlineMoved
  | ({ readonly kind: "reminded"; readonly status: "pending" } & Pick<Reminder, "why"> &
      Pick<LiveApproval, "action" | "tool" | "decideBy">);

/** What a sweep announces about a pending question: it has expired, more people may decide, or a reminder. */
export function announceDue(draft: Draft, id: string): Need | DueAnnouncement {
  const answer = expireIfDue(draft, id);
  if (answer.kind === "need" || answer.status !== "pending") return answer;
  const approval = passTime(draft, id);
  const reminder = dueReminder(approval, draft.now);
  if (reminder === undefined) return answer;
  const { why, at: due } = reminder;
  const { action, tool, decideBy } = approval;
  appendApprovalEvent(draft, id, "approval.reminded", { why, due, decideBy, ...stageField(approval) });
  return { kind: "reminded", status: "pending", why, action, tool, decideBy };
}

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
  const { approval: id, by, reason } = command;
  const state = withAction(draft, id);
  if ("kind" in state) return state;
  if (state.status === "cancelled" && state.decided?.by.includes(by))
    return { kind: "ended", status: "cancelled" };
  if (state.status !== "pending") return { kind: "not_possible", status: state.status };
  if (passTime(draft, id).status === "expired")
    return tellSubject(draft, id) ?? { kind: "not_possible", status: "expired" };
  appendApprovalEvent(draft, id, "approval.cancelled", { by, reason, ...channelField(command) });
  return tellSubject(draft, id) ?? { kind: "ended", status: "cancelled" };
}

/** Revokes a decision before it is used. Repeating it gives the same answer. */
export function revokeApproval(draft: Draft, command: Withdrawal): Need | EndAnswer {
  const { approval: id, by, reason } = command;
  const state = withAction(draft, id);
  if ("kind" in state) return state;
  if (state.status === "revoked" && state.ended?.by.includes(by)) return { kind: "ended", status: "revoked" };
  if (!isGiven(state)) return { kind: "not_possible", status: state.status };
  appendApprovalEvent(draft, id, "approval.revoked", { by, reason, ...channelField(command) });
  return tellSubject(draft, id) ?? { kind: "ended", status: "revoked" };
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
export function mayTakeBack(draft: Draft, approval: LiveApproval, by: string): Need | boolean {
  if (approval.status !== "pending" || isSuspended(draft, by)) return false;
  return getSubjectPort(draft, approval).mayTakeBack(draft, approval, by);
}

export type TakeBackAnswer = EndAnswer | { readonly kind: "not_theirs"; readonly reason: string };

function take(draft: Draft, approval: LiveApproval, command: Withdrawal): Need | TakeBackAnswer {
  if (approval.status !== "pending") return cancelApproval(draft, command);
  const { by } = command;
  if (isSuspended(draft, by)) return { kind: "not_theirs", reason: `${by} is not in good standing` };
  const theirs = mayTakeBack(draft, approval, by);
  if (typeof theirs === "object") return theirs;
  return theirs
    ? cancelApproval(draft, command)
    : { kind: "not_theirs", reason: `${by} neither asks nor may decide` };
}

export function takeBackApproval(draft: Draft, command: Withdrawal): Need | TakeBackAnswer {
  const answer = actOn(draft, command.approval, (approval) => take(draft, approval, command));
  return answer.kind === "unknown" ? { kind: "not_possible", status: "none" } : answer;
}
