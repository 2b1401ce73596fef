/** Text among other values: in quotes where it could be taken for something else, or begins or ends with a blank. */
import type { Json } from "./json.ts";

/** Digits of any script, as people group them, with a sign, a per cent or a currency. */
const NUMBER = /^[-+−]?[\p{N}.,'’_\s−]+([eE][-+−]?\p{N}+)?( ?%| [A-Z]{3,5}( in small coin)?)?$/u;
/** What the page itself says for what is no text. */
const WORDS =
  /^(true|false|null|nan|[-+−]?(infinity|∞)|0x[0-9a-f]+|yes|no|nothing \(null\)|empty text|an empty (list|object)|not there|not set|no name|no arguments|–|["“].*|(a secret, put in when it runs|kept beside the journal).*)$/is;
/** What is longer reads like none of them. */
const MOST = 200;

/** Letters and digits of typesetting read like the plain ones. */
function readsLikeAnother(text: string): boolean {
  const plain = text.slice(0, MOST).normalize("NFKC");
  return WORDS.test(plain) || (text.length <= MOST && NUMBER.test(plain));
}

export const needsQuotes = (text: string): boolean => text !== text.trim() || readsLikeAnother(text);

/** Text beside what it replaces: `"40"` in the place of 40 is a change. */
export const isQuotedBeside = (value: Json | undefined, other: Json | undefined): boolean =>
  typeof value === "string" &&
  ((other !== undefined && typeof other !== "string") || value === "" || needsQuotes(value));

/** Items of one list: where one is no text, all texts are quoted. */
export function itemTexts(items: readonly Json[]): readonly string[] {
  const isAllText = items.every((item) => typeof item === "string");
  return items.map((item) =>
    typeof item === "string" && isAllText && item !== "" && !needsQuotes(item) ? item : JSON.stringify(item),
  );
}
