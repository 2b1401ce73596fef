/** What can be done about a doubt, by what the tool promises. */
export const ASK_WORDS: { readonly [effectClass: string]: string } = {
  once: "The tool promises nothing, so it was not sent again. Look at the receiver: its own list, statement or log.",
  keyed:
    "The receiver knows it by our key. Ask it for that key; Holdpoint did not send again because the key may be forgotten by now.",
  probed: "Holdpoint asks the receiver by itself and has no final answer yet. You may look there yourself.",
  idempotent: "Repeating does no harm, but every attempt went unanswered. Look at the receiver.",
  read: "It only reads: whatever it was, nothing has changed outside.",
  transactional: "It stands or falls with its transaction. Look at the database.",
};

export type Word = "applied" | "not_applied";

/** What follows from each word, before it is given. */
export const FOLLOWS: {
  readonly [word in Word]: { readonly title: string; readonly lines: readonly string[] };
} = {
  applied: {
    title: "It happened",
    lines: [
      "It is never sent again, whoever asks for it under the same request id.",
      "What was reserved for it counts as spent.",
      "A workflow that waits for it goes on as after a success, without a result. Sent back later, it would be taken back.",
      "The receipt says applied, on your word.",
    ],
  },
  not_applied: {
    title: "It did not happen",
    lines: [
      "Holdpoint does not send it by itself. The agent is told, and may ask again as a new action.",
      "What was reserved for it is free again.",
      "A workflow that waits for it goes on as after a failure.",
      "The receipt says not applied, on your word. If it did happen after all, it may now happen twice.",
    ],
  },
};
