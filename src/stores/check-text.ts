import { HoldpointError } from "../kernel/errors.ts";

/** Half a surrogate pair has no UTF-8: two such names would be one row in a database. */
export function checkText(what: string, text: string): string {
  if (text.length > 0 && text.isWellFormed()) return text;
  throw new HoldpointError("invalid_input", `A ${what} has to be valid Unicode and not empty.`);
}
