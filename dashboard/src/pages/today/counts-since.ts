/** How many of the latest decisions fell since a moment, by what was decided. */

import type { Summary } from "../../api/approvals.ts";
import { statusWord } from "../approvals/words.ts";

type Ended = Pick<Summary, "status" | "about" | "edited" | "decided_at" | "requested_at">;

export type Counts = {
  readonly counts: readonly (readonly [string, number])[];
  /** False where all that were looked at fell into the time, and there are more. */
  readonly isAll: boolean;
};

/** A decision that was used was an approval. */
const wordOf = (row: Ended): string => {
  const word = statusWord(row);
  return word === "lapsed" ? "approved" : word;
};

/** `hasMore`: older ones were not looked at. */
export function countsSince(rows: readonly Ended[], since: number, hasMore: boolean): Counts {
  const recent = rows.filter(
    ({ decided_at, requested_at }) => Date.parse(decided_at ?? requested_at) >= since,
  );
  const counts = new Map<string, number>();
  for (const row of recent) counts.set(wordOf(row), (counts.get(wordOf(row)) ?? 0) + 1);
  return { counts: [...counts], isAll: !hasMore || recent.length < rows.length };
}
