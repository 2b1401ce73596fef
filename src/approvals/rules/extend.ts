/**
 * A person gives a pending question more time.
 *
 * E1. Only somebody who may decide it now: never the requester, and nobody of another stage.
 * E2. The new deadline is a moment, not a length: saying it twice gives the time once.
 * E3. No deadline is later than `LONGEST_MS`, however often it is moved: dates end somewhere.
 * E4. The binding is not touched. It holds the terms as they were asked; how long they were extended is in the journal.
 */
import type { Draft, Need } from "../../core/draft.ts";
import { recordRefusal } from "../../core/record-refusal.ts";
import type { RosterState } from "../../core/roster.ts";
import { LONGEST_MS } from "../../core/stages.ts";
import { approvalStream, ROSTER } from "../../core/stream.ts";
import type { ApprovalQuestion, ApprovalStatus, LiveApproval } from "../state.ts";
import { actOn, type EndAnswer, expireIfDue } from "./end.ts";
import { isEligible } from "./seats.ts";
import { dueReminder, passTime, type ReminderWhy, stageField } from "./time.ts";

export type ExtendCommand = {
  readonly approval: string;
  readonly by: string;
  readonly until: number;
  /** The deadline that the person saw; null trusts what stands now. */
  readonly seen: number | null;
  readonly via: string;
};

export type ExtendAnswer =
  | { readonly kind: "extended" | "same"; readonly decideBy: number }
  | { readonly kind: "extend_refused"; readonly reason: string; readonly isRecorded: boolean }
  | { readonly kind: "not_possible"; readonly status: ApprovalStatus; readonly reason: string }
  | { readonly kind: "unknown" };

/** Whether they could give it more time now. */
export const mayExtend = (approval: LiveApproval, roster: RosterState, by: string): boolean =>
  approval.status === "pending" && approval.decideBy !== null && isEligible(approval, roster, by);

function isRepeat({ extensions, decideBy }: LiveApproval, { by, until }: ExtendCommand): boolean {
  return extensions.at(-1)?.by === by && decideBy === until;
}

function whyNot(approval: LiveApproval, { seen, until }: ExtendCommand): string | undefined {
  const { status, decideBy } = approval;
  if (status !== "pending") return `it is ${status} already`;
  if (decideBy === null) return "it has no deadline";
  if (seen !== null && seen !== decideBy) return "its deadline is another one by now";
  if (until <= decideBy) return "it has that much time already";
  return until > LONGEST_MS ? `no deadline is later than ${new Date(LONGEST_MS).toISOString()}` : undefined;
}

function extendNow(draft: Draft, command: ExtendCommand, approval: LiveApproval): ExtendAnswer {
  const ref = approvalStream(command.approval);
  const { by, until, via } = command;
  if (isRepeat(approval, command)) return { kind: "same", decideBy: until };
  if (!isEligible(approval, draft.state(ROSTER), by)) {
    const reason = `${by} may not decide this`;
    const refused = { type: "approval.extend_refused", tv: 1, body: { by, reason, via } };
    return { kind: "extend_refused", reason, isRecorded: recordRefusal(draft, ref, approval, refused) };
  }
  const reason = whyNot(approval, command);
  if (reason !== undefined) return { kind: "not_possible", status: approval.status, reason };
  const body = { by, from: approval.decideBy, decideBy: until, via, ...stageField(approval) };
  draft.append(ref, [{ type: "approval.extended", tv: 1, body }]);
  return { kind: "extended", decideBy: until };
}

export function extend(draft: Draft, command: ExtendCommand): Need | ExtendAnswer {
  return actOn(draft, command.approval, (approval) => extendNow(draft, command, approval));
}

/** What a sweeper says of a pending question when its time has come: it is over, others may decide, or people are reminded. */

export type Reminded = {
  readonly kind: "reminded";
  readonly status: "pending";
  readonly why: ReminderWhy;
} & Pick<ApprovalQuestion, "action" | "tool" | "decideBy">;

export type Announced = EndAnswer | Reminded | { readonly kind: "moved"; readonly status: "pending" };

export function announceDue(draft: Draft, id: string): Need | Announced {
  const answer = expireIfDue(draft, id);
  if (answer.kind === "need" || answer.status !== "pending") return answer;
  const approval = passTime(draft, id);
  const reminder = dueReminder(approval, draft.now);
  if (reminder === undefined) return answer;
  const { why, at: due } = reminder;
  const { action, tool, decideBy } = approval;
  const body = { why, due, decideBy, ...stageField(approval) };
  draft.append(approvalStream(id), [{ type: "approval.reminded", tv: 1, body }]);
  return { kind: "reminded", status: "pending", why, action, tool, decideBy };
}
