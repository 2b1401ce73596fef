/** Long text, folded: the beginning, and how much is left out. Nothing is cut without saying so. */
import { visible } from "../../../src/kernel/text.ts";

export type Folded = { readonly shown: string; readonly more: number };

const MOST_CHARACTERS = 1_500;
const MOST_LINES = 16;
/** Less than this is not worth a press. */
const LEAST = 200;
/** What cannot be seen is written out, and long then: a text of tabs or backslashes is twice as long at most. */
const WRITTEN_OUT = 2;

/** As much as fits once it is written out. */
function fitting(text: string): string {
  let left = MOST_CHARACTERS * WRITTEN_OUT;
  if (visible(text).length <= left) return text;
  let end = 0;
  for (const character of text) {
    left -= visible(character).length;
    if (left < 0) break;
    end += character.length;
  }
  return text.slice(0, end);
}

const isLittle = (left: string): boolean => left.length < LEAST && visible(left).length < LEAST * WRITTEN_OUT;

export function folded(text: string, lines = MOST_LINES): Folded {
  const byLines = text.split("\n").slice(0, lines).join("\n");
  const cut = fitting(byLines.slice(0, MOST_CHARACTERS));
  // No character is torn in two.
  const shown = /[\uD800-\uDBFF]$/.test(cut) ? cut.slice(0, -1) : cut;
  const left = text.slice(shown.length);
  const isWhole = isLittle(left) && text.split("\n").length <= lines * 2;
  return isWhole ? { shown: text, more: 0 } : { shown, more: left.length };
}
