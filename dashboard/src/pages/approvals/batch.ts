/** Which of several can be decided together, and what is sent for each. Whether it can is the server's word. */
import type { Batch, CardAnswer } from "../../api/approvals.ts";
import { sentence } from "./words.ts";

export type Said = "approve" | "reject";

/** Why one has to be decided by itself; null where it need not be. */
export function whyAlone({ approval, card: { you } }: CardAnswer, said: Said): string | null {
  if (approval.status !== "pending") return "It is decided already.";
  if (you.may.includes(said) && (said === "reject" || you.may_batch)) return null;
  if (!you.may.includes(said)) return sentence(you.why_not ?? "it is not yours to decide");
  return sentence(you.why_alone ?? "it is decided on its own page");
}

export function batchOf(answers: readonly CardAnswer[], said: Said, note: string): Batch {
  return answers
    .filter((answer) => whyAlone(answer, said) === null)
    .map(({ approval: { request_id, binding }, card: { shown } }) => ({
      ...{ request_id, binding, shown, decision: said },
      ...(note === "" ? {} : { note }),
    }));
}
