/** What a box for typing cannot show by itself. */
import { visible, visibleJson } from "../../../src/kernel/text.ts";
import { isSame, type Json } from "./json.ts";
import { holdsRightToLeft } from "./right-to-left.ts";

/** Text that is longer does not fit on one line of a box. */
export const LONG_LINE = 60;
const MOST_ROWS = 24;

/** Whether a box shows it otherwise than it is: hidden characters, blanks at its ends, letters that turn the order around. */
export const hasUnseen = (text: string): boolean =>
  text !== text.trim() ||
  holdsRightToLeft(text) ||
  text.split("\n").some((line) => visible(line) !== line.replaceAll("\\", "\\\\"));

/** So many lines as it takes. */
export function rowsFor(text: string): number {
  const rows = text
    .split("\n")
    .reduce((sum, line) => sum + Math.max(1, Math.ceil(line.length / LONG_LINE)), 0);
  return Math.min(MOST_ROWS, Math.max(2, rows));
}

/** Options of a choice; where one is no text, texts are quoted, so that `"1"` and `1` differ. */
export function optionTexts(options: readonly Json[]): readonly string[] {
  const isAllText = options.every((option) => typeof option === "string");
  return options.map((option) =>
    isAllText && typeof option === "string" ? visible(option) : visibleJson(JSON.stringify(option)),
  );
}

export const placeOf = (options: readonly Json[], value: Json): number =>
  options.findIndex((option) => isSame(option, value));
