/** The subject of a mail: our words, then a name that may be anybody's, on one line and never without saying what is missing. */
import { visible } from "../../kernel/text.ts";

const MOST = 80;

export function cutTitle(words: string, name: string): string {
  const text = visible(name);
  const left = text.length - MOST;
  return left > 0 ? `${words}: ${text.slice(0, MOST).toWellFormed()}… (${left} more)` : `${words}: ${text}`;
}
