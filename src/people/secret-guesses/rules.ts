/**
 * How much a person may write about actions with secrets. Each text is searched for secret values, and a writer who
 * learns the result can guess: one guess per position in the text.
 * - Charged in advance: the new characters, and a correct guess, which is refunded if nothing is found.
 * - Spent allowance is restored at a constant rate, all of it within an hour.
 * - Text that was there before or just written is already guessed: a writer who continues typing pays only for new
 *   text.
 */
import { diffJson, isJsonObject, type Json, type JsonChange } from "../../kernel/json.ts";

export const ALLOWED_CHARACTERS = 60_000;
export const ALLOWED_WITHIN_MS = 3_600_000;
/** Cost of a correct guess, in characters: ten of them use up the allowance. */
export const RIGHT_GUESS_COST = 6_000;
/** A change also makes new text together with the characters around it. */
const AROUND = 16;

/** `spent`: characters used as of `at`. */
export type Allowance = { readonly spent: number; readonly at: number };

export const NOTHING_SPENT: Allowance = { spent: 0, at: 0 };

function spentAt({ spent, at }: Allowance, now: number): number {
  return Math.max(0, spent - ((now - at) * ALLOWED_CHARACTERS) / ALLOWED_WITHIN_MS);
}

/** Whether the whole allowance is restored. */
export const isAllowanceWhole = (allowance: Allowance, now: number): boolean => spentAt(allowance, now) === 0;

export type Charged =
  | { readonly kind: "charged"; readonly allowance: Allowance }
  | { readonly kind: "too_soon"; readonly waitMs: number }
  | { readonly kind: "too_long"; readonly most: number };

/** Charges a text with so many new characters, including the cost of a correct guess. */
export function charge(allowance: Allowance, characters: number, now: number): Charged {
  const cost = characters + RIGHT_GUESS_COST;
  if (cost > ALLOWED_CHARACTERS) return { kind: "too_long", most: ALLOWED_CHARACTERS - RIGHT_GUESS_COST };
  const spent = spentAt(allowance, now) + cost;
  const over = spent - ALLOWED_CHARACTERS;
  if (over > 0)
    return { kind: "too_soon", waitMs: Math.ceil((over * ALLOWED_WITHIN_MS) / ALLOWED_CHARACTERS) };
  return { kind: "charged", allowance: { spent, at: now } };
}

/** Refund after a wrong guess: the text held no secret. */
export const giveBackWrongGuess = ({ spent, at }: Allowance): Allowance => ({
  spent: Math.max(0, spent - RIGHT_GUESS_COST),
  at,
});

/** The parts of a value that are searched: texts, numbers and field names. */
function textsIn(value: Json): readonly string[] {
  if (typeof value === "string") return [value];
  if (typeof value === "number") return [String(value)];
  if (Array.isArray(value)) return value.flatMap(textsIn);
  if (!isJsonObject(value)) return [];
  return Object.entries(value).flatMap(([key, part]) => [key, ...textsIn(part)]);
}

/** Length of the part between the common prefix and the common suffix. */
function changedPart(before: string, after: string): number {
  const most = Math.min(before.length, after.length);
  let start = 0;
  while (start < most && before[start] === after[start]) start += 1;
  let end = 0;
  while (end < most - start && before[before.length - 1 - end] === after[after.length - 1 - end]) end += 1;
  return after.length - start - end;
}

function newIn(before: Json, after: Json): number {
  const known = new Set(textsIn(before));
  const costOf = (text: string, was: Json | undefined) => {
    if (known.has(text)) return 0;
    const whole = text.length;
    return typeof was === "string" ? Math.min(whole, changedPart(was, text) + AROUND) : whole;
  };
  const costOfChange = ({ path, before: was, after: now }: JsonChange) => {
    const name = path.at(-1);
    const texts = [...(typeof name === "string" ? [name] : []), ...(now === undefined ? [] : textsIn(now))];
    return texts.reduce((sum, text) => sum + costOf(text, was), 0);
  };
  return diffJson(before, after).reduce((sum, change) => sum + costOfChange(change), 0);
}

/** How many characters of a value are in none of the earlier ones. */
export const newCharacters = (value: Json, before: readonly Json[]): number =>
  Math.min(...before.map((one) => newIn(one, value)), Number.MAX_SAFE_INTEGER);
