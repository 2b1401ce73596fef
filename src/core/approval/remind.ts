/** What a sweeper says of a pending question when its time has come: it is over, others may decide, or people are reminded. */
import type { Draft, Need } from "../draft.ts";
import { approvalStream } from "../stream.ts";
import { passTime, stageField } from "./deadline.ts";
import { type EndAnswer, expireIfDue } from "./end.ts";
import type { ApprovalQuestion } from "./events.ts";
import { dueReminder, type ReminderWhy } from "./reminders.ts";

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
