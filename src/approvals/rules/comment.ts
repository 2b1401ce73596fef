/**
 * Comments on a pending approval: a question before the decision, or its answer.
 *
 * - A comment decides nothing: it changes no vote, binding or deadline.
 * - It comes from a person who may decide in one of the stages, or from the requesting agent. Any other author is
 *   refused, and the refusal is recorded.
 * - Comments are limited per principal, so that the requester cannot crowd out people, and in total.
 */

import { ROSTER } from "../../kernel/stream.ts";
import type { Draft, Need } from "../../kernel/transaction.ts";
import type { RosterState } from "../../people/stream.ts";
import type { ApprovalStatus, CommentBody, LiveApproval } from "../state.ts";
import { type ActAnswer, actOn } from "./deadline.ts";
import { eligibleStages } from "./quorum.ts";
import { appendApprovalEvent, appendApprovalRefusal } from "./subject.ts";

export const MOST_COMMENTS = { each: 50, all: 100 } as const;

type CommentCommand = CommentBody & { readonly approval: string };
export type CommentAnswer = ActAnswer<
  { readonly kind: "commented"; readonly status: ApprovalStatus },
  "comment_refused"
>;

const takesPart = (approval: LiveApproval, roster: RosterState, by: string): boolean =>
  by === approval.agent || eligibleStages(approval, roster, by).length > 0;

/** Why this principal cannot add a comment. */
function whyFull({ comments }: LiveApproval, by: string): string | undefined {
  const { each, all } = MOST_COMMENTS;
  if (comments.length >= all) return `it has ${all} comments, and takes no more`;
  const own = comments.filter((one) => one.by === by).length;
  return own >= each ? `${by} has written ${each} comments, and each writes no more` : undefined;
}

/** Whether they could comment now. */
export const mayComment = (approval: LiveApproval, roster: RosterState, by: string): boolean =>
  approval.status === "pending" && takesPart(approval, roster, by) && whyFull(approval, by) === undefined;

function add(draft: Draft, approval: LiveApproval, command: CommentCommand): CommentAnswer {
  const { status } = approval;
  const { approval: id, ...remark } = command;
  const { by, via } = remark;
  if (status !== "pending") return { kind: "not_possible", status, reason: `it is ${status} already` };
  if (!takesPart(approval, draft.state(ROSTER), by)) {
    const reason = `${by} neither asks nor may decide this`;
    const isRecorded = appendApprovalRefusal(draft, id, "approval.comment_refused", { by, reason, via });
    return { kind: "comment_refused", reason, status, isRecorded };
  }
  const full = whyFull(approval, by);
  if (full !== undefined) return { kind: "not_possible", status, reason: full };
  appendApprovalEvent(draft, id, "approval.commented", remark);
  return { kind: "commented", status };
}

export function comment(draft: Draft, command: CommentCommand): Need | CommentAnswer {
  return actOn(draft, command.approval, (approval) => add(draft, approval, command));
}
