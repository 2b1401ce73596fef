/** What people decided, as a list says it: whether what they permitted was used since is for the page of it. */
import type { Summary } from "../../api/approvals.ts";
import { statusWord } from "./words.ts";

export type Ended = Pick<Summary, "status" | "about" | "edited">;

export function decidedWord(row: Ended): string {
  const word = statusWord(row);
  if (word !== "consumed") return word;
  return row.edited ? "modified" : "approved";
}

const endOf = ({ decided_at, created_at }: Summary): string => decided_at ?? created_at;
/** The server lists by when it was asked; what is shown stands by when it was decided. */
export const lastDecidedFirst = (rows: readonly Summary[]): readonly Summary[] =>
  [...rows].sort((a, b) => endOf(b).localeCompare(endOf(a)));
