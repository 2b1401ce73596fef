/** An edit is reviewed by a process that has the tool: waits a moment for one. */
import { UNSEEN_PREVIEW } from "../approvals/state.ts";
import type { Approval } from "../index.ts";
import type { Context } from "./command.ts";

export type Reviewed =
  | { readonly kind: "accepted" }
  | { readonly kind: "refused"; readonly rule: string; readonly reason: string }
  /** It stands, and the editor's own word on it is still to come: of what the tool shows now, or in a later stage. */
  | { readonly kind: "stands"; readonly isShown: boolean }
  /** A new approval asks under a stricter rule. */
  | { readonly kind: "asks_again"; readonly reason: string }
  /** Somebody ended the question before the edit was reviewed. */
  | { readonly kind: "moved_on" }
  /** Nobody with the tool is running. */
  | { readonly kind: "open" };

const WAIT_MS = 3_000;

export function reviewOf(approval: Approval, person: string): Reviewed {
  const { edit, editRefused, status, decided, editor, preview } = approval;
  if (edit !== null) return { kind: "open" };
  if (editRefused?.rule === UNSEEN_PREVIEW && editRefused.by === person)
    return { kind: "stands", isShown: true };
  if (editRefused !== null) return { kind: "refused", rule: editRefused.rule, reason: editRefused.reason };
  if (status === "cancelled" && decided?.by.includes("policy"))
    return { kind: "asks_again", reason: decided.reason };
  const mine = approval.votes.some((vote) => vote.by === person && vote.decision === "approve");
  if (mine) return { kind: "accepted" };
  if (status === "pending" && editor === person) return { kind: "stands", isShown: preview !== undefined };
  return { kind: "moved_on" };
}

export async function awaitReview({ hp, person, terminal }: Context, id: string): Promise<Reviewed> {
  const look = async () => reviewOf(await hp.approvals.get(id), person);
  terminal.progress("Waiting for a running program to review the edit …");
  try {
    for await (const _ids of hp.approvals.follow(AbortSignal.timeout(WAIT_MS))) {
      const reviewed = await look();
      if (reviewed.kind !== "open") return reviewed;
    }
    return await look();
  } finally {
    terminal.progress(null);
  }
}
