/** The names of all that somebody can do with an approval. */

/** `take_back`: a seat that was handed over; `cancel`: the question; `revoke`: a decision that was not used yet. */
export const MOVES = [
  ...(["approve", "reject", "edit", "extend", "delegate"] as const),
  ...(["take_back", "cancel", "revoke", "comment"] as const),
] as const;
export type Move = (typeof MOVES)[number];
