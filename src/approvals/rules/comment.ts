/**
 * What is asked and answered before an approval is decided.
 *
 * K1. A comment decides nothing: no vote, binding or deadline is another one by it.
 * K2. It comes from somebody who may decide in one of the stages, or from whoever asked. Anybody else is refused, and that is
 *     recorded.
 * K3. There are only so many: of one principal, so that whoever asked cannot take the room from people, and of all.
 */
import type { Draft, Need } from "../../core/draft.ts";
import { recordRefusal } from "../../core/record-refusal.ts";
import type { RosterState } from "../../core/roster.ts";
import { approvalStream, ROSTER } from "../../core/stream.ts";
import { type ApprovalStatus, type CommentBody, type LiveApproval, stageRules } from "../state.ts";
import { actOn } from "./end.ts";
import { isEligible } from "./seats.ts";

export const MOST_COMMENTS = { each: 50, all: 100 } as const;

export type CommentCommand = CommentBody & { readonly approval: string };

export type CommentAnswer =
  | { readonly kind: "commented"; readonly status: ApprovalStatus }
  | {
      readonly kind: "comment_refused";
      readonly reason: string;
      readonly status: ApprovalStatus;
      readonly isRecorded: boolean;
    }
  | { readonly kind: "not_possible"; readonly reason: string; readonly status: ApprovalStatus }
  | { readonly kind: "unknown" };

function takesPart(approval: LiveApproval, roster: RosterState, by: string): boolean {
  if (by === approval.agent) return true;
  return stageRules(approval).some((_, index) => isEligible(approval, roster, by, index + 1));
}

function refused(draft: Draft, { approval: id, by, via }: CommentCommand): CommentAnswer {
  const reason = `${by} neither asks nor may decide this`;
  const ref = approvalStream(id);
  const event = { type: "approval.comment_refused", tv: 1, body: { by, reason, via } };
  const isRecorded = recordRefusal(draft, ref, draft.state(ref) as LiveApproval, event);
  return { kind: "comment_refused", reason, status: "pending", isRecorded };
}

/** Whose words leave no room for more. */
function whyFull({ comments }: LiveApproval, by: string): string | undefined {
  const { each, all } = MOST_COMMENTS;
  if (comments.length >= all) return `it has ${all} comments, and takes no more`;
  const own = comments.filter((one) => one.by === by).length;
  return own >= each ? `${by} has written ${each} comments, and each writes no more` : undefined;
}

/** Whether they could write one now. */
export const mayComment = (approval: LiveApproval, roster: RosterState, by: string): boolean =>
  approval.status === "pending" && takesPart(approval, roster, by) && whyFull(approval, by) === undefined;

function add(draft: Draft, approval: LiveApproval, command: CommentCommand): CommentAnswer {
  const { status } = approval;
  const { by, text, via } = command;
  if (status !== "pending") return { kind: "not_possible", status, reason: `it is ${status} already` };
  if (!takesPart(approval, draft.state(ROSTER), by)) return refused(draft, command);
  const full = whyFull(approval, by);
  if (full !== undefined) return { kind: "not_possible", status, reason: full };
  const body: CommentBody = { by, text, via };
  draft.append(approvalStream(command.approval), [{ type: "approval.commented", tv: 1, body }]);
  return { kind: "commented", status };
}

export function comment(draft: Draft, command: CommentCommand): Need | CommentAnswer {
  return actOn(draft, command.approval, (approval) => add(draft, approval, command));
}
