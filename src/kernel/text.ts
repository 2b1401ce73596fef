/**
 * Text for people: errors and invalid values as the journal and messages can hold them, and untrusted text made safe to
 * show. The result of `visible` has no control, bidi, zero-width or otherwise invisible character except the plain
 * space, and no mark that strikes a letter out. Nothing is lost: a backslash is doubled, so that an escape and a text
 * that looks like one differ. The terminal shows text that Holdpoint did not write itself only through it.
 */

/** Longest error text for the journal. */
const MOST_CHARACTERS = 2_000;

function messageOf(error: unknown): string {
  try {
    const text = error instanceof Error ? error.message : String(error);
    return typeof text === "string" && text !== "" ? text : "no reason given";
  } catch {
    return "something that cannot be read";
  }
}

/** `clean` removes secrets. It runs before the cut, which could leave half of one. */
export function errorText(error: unknown, clean: (text: string) => string = (text) => text): string {
  const text = clean(messageOf(error)).toWellFormed();
  if (text.length <= MOST_CHARACTERS) return text;
  return `${text.slice(0, MOST_CHARACTERS).toWellFormed()}… (${text.length} characters)`;
}

const MOST_SHOWN = 100;

/** An invalid value of any type and length, for a message about it. */
export function displayValue(value: unknown): string {
  const text = (value === "" ? "" : messageOf(value)).toWellFormed();
  return text.length <= MOST_SHOWN ? text : `${text.slice(0, MOST_SHOWN).toWellFormed()}…`;
}

/** Blank, although Unicode does not call it ignorable: an empty braille cell, a null notehead, a Khitan filler. */
const BLANK = "\u2800\u{1d159}\u{16fe4}";
/** Marks that strike a letter out or cover it with a sign: the text would read as withdrawn. */
const STRUCK = "\u0334-\u0338\u20d2\u20d3\u20d8-\u20da\u20dd-\u20e0\u20e2\u20e4-\u20e6\u20ea\u20eb";
const HIDDEN = new RegExp(
  `[\\p{Cc}\\p{Cf}\\p{Cs}\\p{Co}\\p{Cn}\\p{Zl}\\p{Zp}${BLANK}${STRUCK}]|(?! )\\p{Zs}|\\p{Default_Ignorable_Code_Point}`,
  "gu",
);
/** Stacked marks cover neighbouring lines, and a leading one would combine with Holdpoint's own text. */
const PILED = /(?<=\p{M}{3})\p{M}|^\p{M}/gu;
const SHORT = new Map([
  ["\n", "\\n"],
  ["\r", "\\r"],
  ["\t", "\\t"],
]);

function unit(code: number): string {
  return `\\u${code.toString(16).padStart(4, "0")}`;
}

function escaped(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  return SHORT.get(character) ?? (code > 0xffff ? `\\u{${code.toString(16)}}` : unit(code));
}

/** Printable ASCII without a backslash: most names and values, and every row of a list shows several. */
const PLAIN = /^[ -[\]-~]*$/;

/** Always one line. */
export function visible(text: string): string {
  if (PLAIN.test(text)) return text;
  return text.replaceAll("\\", "\\\\").replace(HIDDEN, escaped).replace(PILED, escaped);
}

/** A name that others chose, in a sentence. */
export const quotedName = (name: string): string => `"${visible(name)}"`;

/** Equivalent JSON text without hidden characters: they become JSON escapes. */
export function visibleJson(json: string): string {
  const units = (character: string) =>
    Array.from({ length: character.length }, (_, at) => unit(character.charCodeAt(at))).join("");
  return json
    .replace(/(?<=\p{M}{3})\p{M}|(?<=")\p{M}/gu, units)
    .replace(HIDDEN, (found) => (found === "\n" ? found : units(found)));
}

/** One line of JSON text that may have been cut, so it need not parse. */
export function visiblePreview(json: string): string {
  return visibleJson(json).replaceAll("\n", "\\n");
}

/** One unit that must not be split: an escape or a character. */
export const PIECES = /\\u\{[0-9a-f]+\}|\\u[0-9a-f]{4}|\\.|\P{M}\p{M}*|./gsu;

/** An escape for a hidden character, as `visible` and `visibleJson` write it; for colouring. */
export const ESCAPES = /(\\\\)|\\u\{[0-9a-f]+\}|\\u[0-9a-f]{4}|\\[nrt]/g;
