/**
 * Which of several can be decided together, and what is sent for each. Whether it can is the server's word.
 *
 * W1. What is decided is what stood in the row when the dialogue was opened. What has changed since, or was decided, is left out and
 *     says so: no row changes under somebody who reads it, and nobody agrees to what they did not read.
 */
import type { Batch, CardAnswer } from "../../api/approvals.ts";
import { endWords, sentence } from "./words.ts";

export type Said = "approve" | "reject";

/** One of them as it was when the dialogue was opened, and as it stands. */
export type Batched = { readonly seen: CardAnswer; readonly now: CardAnswer };

/** Why one has to be decided by itself; null where it need not be. */
export function whyAlone({ approval, card: { you } }: CardAnswer, said: Said): string | null {
  if (approval.status !== "pending") return "It is decided already.";
  if (!you.may.includes(said)) return sentence(you.why_not ?? "it is not yours to decide");
  const why = said === "approve" ? you.why_alone : you.why_reject_alone;
  return why === null ? null : sentence(why);
}

/** What a rejection of all of them does. */
export const rejectionWords = (batched: readonly Batched[]): string =>
  batched.every(({ seen }) => seen.card.you.rejection_ends === true)
    ? "None of them runs then. It is recorded, and told to whoever asked."
    : "It is recorded for each. Those that your rejection ends do not run; to the others people can still agree.";

/** Names in it are strangers' text. */
export function whyLeftOut({ seen, now }: Batched, said: Said): string | null {
  const alone = whyAlone(seen, said);
  if (alone !== null) return alone;
  if (now.approval.status !== "pending") return `Since you opened this: ${endWords(now.approval)}`;
  if (now.approval.binding !== seen.approval.binding)
    return "It has changed since you opened this: look at it on its own page.";
  return whyAlone(now, said);
}

/** What was shown is the row: the card has more, and its digest would say that this was seen. */
export function batchOf(batched: readonly Batched[], said: Said, note: string): Batch {
  return batched
    .filter((one) => whyLeftOut(one, said) === null)
    .map(({ seen: { approval, card } }) => ({
      ...{ request_id: approval.request_id, binding: approval.binding, decision: said },
      ...(card.shown_row === null ? {} : { shown: card.shown_row }),
      ...(note === "" ? {} : { note }),
    }));
}
