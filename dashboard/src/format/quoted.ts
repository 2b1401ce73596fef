/** Text among other values: in quotes where it could be taken for something else, or begins or ends with a blank. */
import type { Json } from "./json.ts";

/** What is not text, or reads like something that the page itself says. */
const LOOKS_LIKE =
  /^(-?[\d.,−]+([eE][+-]?\d+)?|true|false|null|yes|no|nothing \(null\)|empty text|–|["“].*)$/i;

export const needsQuotes = (text: string): boolean => text !== text.trim() || LOOKS_LIKE.test(text);

/** Items of one list: where one is no text, all texts are quoted. */
export function itemTexts(items: readonly Json[]): readonly string[] {
  const isAllText = items.every((item) => typeof item === "string");
  return items.map((item) =>
    typeof item === "string" && isAllText && item !== "" && !needsQuotes(item) ? item : JSON.stringify(item),
  );
}
