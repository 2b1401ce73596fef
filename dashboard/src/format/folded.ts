/** Long text, folded: the beginning, and how much is left out. Nothing is cut without saying so. */
export type Folded = { readonly shown: string; readonly more: number };

const MOST_CHARACTERS = 1_500;
const MOST_LINES = 16;
/** Less than this is not worth a press. */
const LEAST = 200;

export function folded(text: string, lines = MOST_LINES): Folded {
  const byLines = text.split("\n").slice(0, lines).join("\n");
  const cut = byLines.slice(0, MOST_CHARACTERS);
  // No character is torn in two.
  const shown = /[\uD800-\uDBFF]$/.test(cut) ? cut.slice(0, -1) : cut;
  const more = text.length - shown.length;
  const isLittle = more < LEAST && text.split("\n").length <= lines * 2;
  return isLittle ? { shown: text, more: 0 } : { shown, more };
}
