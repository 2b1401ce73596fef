/**
 * How much somebody may write about actions with secrets. Whether a secret's value stands in a text is looked up, and whoever
 * hears of it can guess with it: as many guesses as the text has places.
 *
 * A1. A text is charged by what is new in it, and for being right, before it is looked at; that it was wrong is given back.
 * A2. What was spent comes back evenly, all of it within an hour.
 * A3. What stood there before, or was written a moment ago, was guessed already: whoever types on pays for what they typed.
 */
import { diffJson, isJsonObject, type Json, type JsonChange } from "../../kernel/json.ts";

export const ALLOWED_CHARACTERS = 60_000;
export const ALLOWED_WITHIN_MS = 3_600_000;
/** As if so much had been written: ten times, and nothing is left. */
export const RIGHT_GUESS_COST = 6_000;
/** A change also makes something new of what is around it. */
const AROUND = 16;

/** `spent` at the time `at`. */
export type Allowance = { readonly spent: number; readonly at: number };

export const NOTHING_SPENT: Allowance = { spent: 0, at: 0 };

function spentAt({ spent, at }: Allowance, now: number): number {
  return Math.max(0, spent - ((now - at) * ALLOWED_CHARACTERS) / ALLOWED_WITHIN_MS);
}

/** Whether everything has come back. */
export const isAllowanceWhole = (allowance: Allowance, now: number): boolean => spentAt(allowance, now) === 0;

export type Charged =
  | { readonly kind: "charged"; readonly allowance: Allowance }
  | { readonly kind: "too_soon"; readonly waitMs: number }
  | { readonly kind: "too_long"; readonly most: number };

/** What is charged for a text with so many new characters, until it is known to be wrong. */
export function charge(allowance: Allowance, characters: number, now: number): Charged {
  const cost = characters + RIGHT_GUESS_COST;
  if (cost > ALLOWED_CHARACTERS) return { kind: "too_long", most: ALLOWED_CHARACTERS - RIGHT_GUESS_COST };
  const spent = spentAt(allowance, now) + cost;
  const over = spent - ALLOWED_CHARACTERS;
  if (over > 0)
    return { kind: "too_soon", waitMs: Math.ceil((over * ALLOWED_WITHIN_MS) / ALLOWED_CHARACTERS) };
  return { kind: "charged", allowance: { spent, at: now } };
}

/** It was wrong: nothing was found in it. */
export const giveBackWrongGuess = ({ spent, at }: Allowance): Allowance => ({
  spent: Math.max(0, spent - RIGHT_GUESS_COST),
  at,
});

/** What a value is read for, part by part: texts, numbers and names of fields. */
function textsIn(value: Json): readonly string[] {
  if (typeof value === "string") return [value];
  if (typeof value === "number") return [String(value)];
  if (Array.isArray(value)) return value.flatMap(textsIn);
  if (!isJsonObject(value)) return [];
  return Object.entries(value).flatMap(([key, part]) => [key, ...textsIn(part)]);
}

/** Between what both begin with and what both end with. */
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

/** How many characters of a value stood in none of those before it. */
export const newCharacters = (value: Json, before: readonly Json[]): number =>
  Math.min(...before.map((one) => newIn(one, value)), Number.MAX_SAFE_INTEGER);
