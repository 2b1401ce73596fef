/** Waits for the review of an edit by a process that has the tool, and returns its outcome. */
import type { Approval } from "../../approvals/contract.ts";
import { UNSEEN_PREVIEW } from "../../approvals/state.ts";
import { visible } from "../../kernel/text.ts";
import type { Context } from "../shell/command.ts";

/** Outcome of the review of an edit. */
export type Review =
  | { readonly kind: "accepted" }
  | { readonly kind: "refused"; readonly rule: string; readonly reason: string }
  /** Accepted, but the editor still has to vote: on the tool's new preview, or in a later stage. */
  | { readonly kind: "stands"; readonly isShown: boolean }
  /** A new approval was requested under a stricter rule. */
  | { readonly kind: "asks_again"; readonly reason: string }
  /** The approval ended before the edit was reviewed. */
  | { readonly kind: "moved_on" }
  /** No process with the tool is running. */
  | { readonly kind: "open" };

const REVIEW_WAIT_MS = 3_000;

export function readReview(approval: Approval, person: string): Review {
  const { edit, editRefused, status, decided, editor, preview } = approval;
  if (edit !== null) return { kind: "open" };
  if (editRefused?.rule === UNSEEN_PREVIEW && editRefused.by === person)
    return { kind: "stands", isShown: true };
  if (editRefused !== null) return { kind: "refused", rule: editRefused.rule, reason: editRefused.reason };
  // In a journal from before that status existed, policy cancelled it.
  const isSuperseded = status === "superseded" || (status === "cancelled" && decided?.by.includes("policy"));
  if (isSuperseded && decided !== null) return { kind: "asks_again", reason: decided.reason };
  const isMine = approval.votes.some((vote) => vote.by === person && vote.decision === "approve");
  if (isMine) return { kind: "accepted" };
  if (status === "pending" && editor === person) return { kind: "stands", isShown: preview !== undefined };
  return { kind: "moved_on" };
}

/** Waits briefly for a process that has the tool. */
export async function awaitReview({ hp, person, terminal }: Context, id: string): Promise<Review> {
  const look = async () => readReview(await hp.approvals.get(id), person);
  terminal.progress("Waiting for a running program to review the edit …");
  try {
    for await (const _ids of hp.approvals.follow(AbortSignal.timeout(REVIEW_WAIT_MS))) {
      const review = await look();
      if (review.kind !== "open") return review;
    }
    return await look();
  } finally {
    terminal.progress(null);
  }
}

type OpenReview = Exclude<Review, { kind: "accepted" | "refused" }>;

export function reviewText({ id, status }: Approval, review: OpenReview): string {
  switch (review.kind) {
    case "open":
      return "The edit is recorded; it will be reviewed when the program that has the tool runs again.";
    case "stands":
      return review.isShown
        ? `The edit stands, and people are asked about what the tool shows of it now, you too: \`holdpoint show ${id}\`, then \`holdpoint approve ${id}\`.`
        : "The edit stands, and people are asked about it from the first stage on; you are asked when yours comes.";
    case "moved_on":
      return `Nobody reviewed the edit: ${id} is ${status}.`;
    case "asks_again":
      return `The edit falls under another rule, so people are asked anew: ${visible(review.reason)}`;
  }
}
