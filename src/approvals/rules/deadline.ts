/**
 * The deadline of an approval: what follows when it passes, and who moves it.
 *
 * - The consequences of a deadline are decided by the next command, on the store's clock. A sweep only announces them.
 * - The time of that command makes no difference: the next stage's time, and an extension, begin at the deadline.
 * - People added at half time may decide from then on, whether or not a sweep has run.
 * - Only a person who may decide now can extend: never the requester, and no person of another stage.
 * - The new deadline is a timestamp, not a duration: sending it twice extends once.
 * - No deadline is later than `LONGEST_MS`, however often it is moved: dates have a maximum.
 * - An extension does not change the binding, which holds the original terms. The journal records the extension.
 */

import { ROSTER } from "../../kernel/stream.ts";
import { type Draft, isNeed, type Need } from "../../kernel/transaction.ts";
import type { RosterState } from "../../people/stream.ts";
import { LONGEST_MS } from "../../policy/rules/stages.ts";
import {
  type ApprovalState,
  type ApprovalStatus,
  type DecidedBy,
  dueReminder,
  type LiveApproval,
  nextAtDeadline,
  type Reminder,
  wideningAt,
} from "../state.ts";
import { isEligible, nextDecideBy, stageField } from "./quorum.ts";
import {
  appendApprovalEvent,
  appendApprovalRefusal,
  getLiveApproval,
  tellSubject,
  withAction,
} from "./subject.ts";

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

/** What every act but a decision can lead to, beside being done. */
type Impossible =
  | { readonly kind: "not_possible"; readonly reason: string; readonly status: ApprovalStatus }
  | { readonly kind: "unknown" };
type Refused<Kind extends string> = {
  readonly kind: Kind;
  readonly reason: string;
  readonly status: ApprovalStatus;
  readonly isRecorded: boolean;
};
export type ActAnswer<Done, Kind extends string> = Done | Refused<Kind> | Impossible;

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

export type EndAnswer = {
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

type ExtendCommand = DecidedBy & {
  readonly approval: string;
  readonly until: number;
  /** The deadline that the person saw. null: the current one. */
  readonly seen: number | null;
};
export type ExtendAnswer =
  | { readonly kind: "extended" | "same"; readonly decideBy: number }
  | Omit<Refused<"extend_refused">, "status">
  | Impossible;

/** Whether they could extend it now. */
export const mayExtend = (approval: LiveApproval, roster: RosterState, by: string): boolean =>
  approval.status === "pending" && approval.decideBy !== null && isEligible(approval, roster, by);

type FromTo = { readonly from: number; readonly decideBy: number };

/** From which deadline to which, or why it cannot be moved. */
function moveDeadline({ status, decideBy: from }: LiveApproval, command: ExtendCommand): FromTo | string {
  const { seen, until } = command;
  if (status !== "pending") return `it is ${status} already`;
  if (from === null) return "it has no deadline";
  if (seen !== null && seen !== from) return "its deadline is another one by now";
  if (until <= from) return "it has that much time already";
  if (until > LONGEST_MS) return `no deadline is later than ${new Date(LONGEST_MS).toISOString()}`;
  return { from, decideBy: until };
}

function extendNow(draft: Draft, approval: LiveApproval, command: ExtendCommand): ExtendAnswer {
  const { approval: id, by, until, via } = command;
  const { extensions, decideBy, status } = approval;
  if (extensions.at(-1)?.by === by && decideBy === until) return { kind: "same", decideBy: until };
  if (!isEligible(approval, draft.state(ROSTER), by)) {
    const reason = `${by} may not decide this`;
    const isRecorded = appendApprovalRefusal(draft, id, "approval.extend_refused", { by, reason, via });
    return { kind: "extend_refused", reason, isRecorded };
  }
  const moved = moveDeadline(approval, command);
  if (typeof moved === "string") return { kind: "not_possible", status, reason: moved };
  appendApprovalEvent(draft, id, "approval.extended", { by, ...moved, via, ...stageField(approval) });
  return { kind: "extended", decideBy: until };
}

export function extend(draft: Draft, command: ExtendCommand): Need | ExtendAnswer {
  return actOn(draft, command.approval, (approval) => extendNow(draft, approval, command));
}
