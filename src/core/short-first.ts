/** JSON of which perhaps only the beginning is shown. */
import { canonicalJson } from "./canonical-json.ts";

/** A field that is longer comes after those that are not: a mail's recipient before its text. */
const SHORT_CHARACTERS = 60;

/** Canonical but for the order of the fields. */
export function shortFirst(value: unknown): string {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return canonicalJson(value);
  const fields = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  const texts = fields.map(([name, field]) => canonicalJson({ [name]: field }).slice(1, -1));
  const isShort = (text: string): boolean => text.length <= SHORT_CHARACTERS;
  return `{${[...texts.filter(isShort), ...texts.filter((text) => !isShort(text))].join(",")}}`;
}
