/** Which of several can be decided together, and what is sent for each. */
import type { Batch, CardAnswer } from "../../api/approvals.ts";

export type Said = "approve" | "reject";

/** Why one has to be decided by itself; null where it need not be. */
export function whyAlone({ approval, card }: CardAnswer, said: Said): string | null {
  if (approval.status !== "pending") return "it is decided already.";
  if (!card.you.may_decide) return `${card.you.why_not ?? "it is not yours to decide"}.`;
  if (said === "reject") return null;
  if (card.you.why_not !== null) return `${card.you.why_not}.`;
  if (card.confirm !== null) return "it cannot be taken back, so it is approved on its own page.";
  return approval.about === "question" ? "it wants an answer of its own." : null;
}

export function batchOf(answers: readonly CardAnswer[], said: Said, note: string): Batch {
  return answers
    .filter((answer) => whyAlone(answer, said) === null)
    .map(({ approval: { request_id, binding } }) => ({
      ...{ request_id, binding, decision: said },
      ...(note === "" ? {} : { note }),
    }));
}
