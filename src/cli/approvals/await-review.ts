/** Waits for the review of an edit, which a process that has the tool performs, and says how it ended. */
import type { Approval } from "../../approvals/contract.ts";
import { UNSEEN_PREVIEW } from "../../approvals/state.ts";
import { visible } from "../../kernel/text.ts";
import type { Context } from "../shell/command.ts";

/** The outcome of an edit, which a process that has the tool reviews. */
export type EditReview =
  | { readonly kind: "accepted" }
  | { readonly kind: "refused"; readonly rule: string; readonly reason: string }
  /** It was accepted, and the editor still has to vote: on what the tool shows now, or in a later stage. */
  | { readonly kind: "stands"; readonly isShown: boolean }
  /** A new approval asks under a stricter rule. */
  | { readonly kind: "asks_again"; readonly reason: string }
  /** Somebody ended the question before the edit was reviewed. */
  | { readonly kind: "moved_on" }
  /** Nobody with the tool is running. */
  | { readonly kind: "open" };

const REVIEW_WAIT_MS = 3_000;

export function readReview(approval: Approval, person: string): EditReview {
  const { edit, editRefused, status, decided, editor, preview } = approval;
  if (edit !== null) return { kind: "open" };
  if (editRefused?.rule === UNSEEN_PREVIEW && editRefused.by === person)
    return { kind: "stands", isShown: true };
  if (editRefused !== null) return { kind: "refused", rule: editRefused.rule, reason: editRefused.reason };
  // A journal from before there was the status says that policy cancelled it.
  const isSuperseded = status === "superseded" || (status === "cancelled" && decided?.by.includes("policy"));
  if (isSuperseded && decided !== null) return { kind: "asks_again", reason: decided.reason };
  const isMine = approval.votes.some((vote) => vote.by === person && vote.decision === "approve");
  if (isMine) return { kind: "accepted" };
  if (status === "pending" && editor === person) return { kind: "stands", isShown: preview !== undefined };
  return { kind: "moved_on" };
}

/** Waits a moment for a process that has the tool. */
export async function awaitReview({ hp, person, terminal }: Context, id: string): Promise<EditReview> {
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

type OpenReview = Exclude<EditReview, { kind: "accepted" | "refused" }>;

export function reviewText({ id, status }: Approval, review: OpenReview): string {
  switch (review.kind) {
    case "open":
      return "The edit is recorded; it will be reviewed when the program that has the tool runs again.";
    case "stands":
      return review.isShown
        ? `The edit is accepted, but its preview changed. People are asked about the new one, and so are you: \`holdpoint show ${id}\`, then \`holdpoint approve ${id}\`.`
        : "The edit is accepted. People are asked about it from the first stage on; you are asked in your stage.";
    case "moved_on":
      return `The edit was not reviewed: ${id} is ${status}.`;
    case "asks_again":
      return `The edit falls under another rule, so people are asked again: ${visible(review.reason)}`;
  }
}
