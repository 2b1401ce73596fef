/**
 * Values of expressions: JSON, timestamps and durations. Numbers are JSON numbers, always finite; there is no other
 * kind. A value is reached by its own keys only; nothing inherited, computed or callable is ever seen. Equality is by
 * data, keys in any order. Work is charged in steps: work proportional to its input is charged before it is done, or
 * right after if only doing it shows the amount. So the work of a verdict is bounded for any arguments and history. A
 * step takes about 8 ns on a usual machine; all the steps of a verdict take about 20 ms.
 */
import type { Json } from "../../kernel/json.ts";

/** Symbols cannot occur in JSON, so no argument can imitate one of these. */
const MOMENT = Symbol("moment");
const SPAN = Symbol("span");

export type MomentValue = { readonly kind: typeof MOMENT; readonly ms: number };
export type SpanValue = { readonly kind: typeof SPAN; readonly ms: number };
export type Value =
  | null
  | boolean
  | number
  | string
  | readonly Value[]
  | ValueObject
  | MomentValue
  | SpanValue;
type ValueObject = { readonly [key: string]: Value };

export type ExpressionKind = "null" | "bool" | "number" | "string" | "list" | "object" | "moment" | "span";

/** Year 1 to 9999. */
const EARLIEST = -62_135_596_800_000;
const LATEST = 253_402_300_799_999;

export const makeMoment = (ms: number): MomentValue => {
  if (!(ms >= EARLIEST && ms <= LATEST))
    throw new ExpressionError("the time is not between the years 1 and 9999");
  return { kind: MOMENT, ms };
};
export const makeSpan = (ms: number): SpanValue => ({ kind: SPAN, ms: requireFinite(ms) });

/** An expression that cannot be evaluated. Its rule blocks. */
export class ExpressionError extends Error {
  override readonly name = "ExpressionError";
}

/** The only error that no other part of an expression can recover from. */
export class TooCostly extends ExpressionError {}

export function kindOf(value: Value): ExpressionKind {
  switch (typeof value) {
    case "string":
      return "string";
    case "number":
      return "number";
    case "boolean":
      return "bool";
    default:
      if (value === null) return "null";
      if (Array.isArray(value)) return "list";
      return timeKind(value as { readonly kind?: unknown });
  }
}

function timeKind(value: { readonly kind?: unknown }): ExpressionKind {
  if (value.kind === MOMENT) return "moment";
  return value.kind === SPAN ? "span" : "object";
}

export const isMoment = (value: Value): value is MomentValue => kindOf(value) === "moment";
export const isSpan = (value: Value): value is SpanValue => kindOf(value) === "span";
export const isList = (value: Value): value is readonly Value[] => Array.isArray(value);
export const isObject = (value: Value): value is ValueObject => kindOf(value) === "object";

const SPOKEN: Readonly<Record<ExpressionKind, string>> = {
  null: "null",
  bool: "true or false",
  number: "a number",
  string: "text",
  list: "a list",
  object: "an object",
  moment: "a time",
  span: "a duration",
};
export const kindText = (kind: ExpressionKind): string => SPOKEN[kind];

export function requireFinite(number: number): number {
  if (Number.isFinite(number)) return number;
  throw new ExpressionError("the result is not a finite number");
}

export const STEPS_PER_VERDICT = 2_500_000;
/** An error that another side or item recovers from: throwing is slow. */
export const STEPS_PER_ERROR = 1_200;
/** Reading or writing a time as text, or rounding a number by its text. */
export const STEPS_PER_READING = 200;
/** Converting a number to text or text to a number. */
export const STEPS_PER_NUMBER = 80;
/** Listing the keys of an object is slower than walking a list. */
const STEPS_PER_KEY = 6;
/** Characters that are processed in one step. */
const CHARACTERS_PER_STEP = 8;
const CHARACTERS_COUNTED_PER_STEP = 2;
export const LONGEST_TEXT = 262_144;
export const LONGEST_LIST = 10_000;

export type Meter = { left: number };

export function spend(meter: Meter, steps: number): void {
  meter.left -= steps;
  if (meter.left < 0)
    throw new TooCostly(`the policy takes more than ${STEPS_PER_VERDICT} steps over this action`);
}

export function spendText(meter: Meter, characters: number): void {
  spend(meter, 1 + characters / CHARACTERS_PER_STEP);
}

/** For text that is processed character by character. */
export function spendCharacters(meter: Meter, characters: number): void {
  spend(meter, 1 + characters / CHARACTERS_COUNTED_PER_STEP);
}

export function spendKeys(meter: Meter, keys: number): void {
  spend(meter, 1 + STEPS_PER_KEY * keys);
}

/** For text that an expression creates. */
export function payForText(meter: Meter, characters: number): void {
  if (characters > LONGEST_TEXT) throw new ExpressionError(`the text is over ${LONGEST_TEXT} characters`);
  spendText(meter, characters);
}

/** For a list that an expression creates. */
export function payForList(meter: Meter, items: number): void {
  if (items > LONGEST_LIST) throw new ExpressionError(`the list has over ${LONGEST_LIST} items`);
  spend(meter, 1 + items);
}

export function isTrue(value: Value): boolean {
  if (typeof value === "boolean") return value;
  throw new ExpressionError(`true or false is needed, and this is ${kindText(kindOf(value))}`);
}

function equalLists(a: readonly Value[], b: readonly Value[], meter: Meter): boolean {
  return a.length === b.length && a.every((part, index) => equalValues(part, b[index] ?? null, meter));
}

function equalObjects(a: ValueObject, b: ValueObject, meter: Meter): boolean {
  const keys = Object.keys(a);
  spendKeys(meter, keys.length);
  const others = Object.keys(b).length;
  spendKeys(meter, others);
  if (keys.length !== others) return false;
  return keys.every((key) => Object.hasOwn(b, key) && equalValues(a[key] ?? null, b[key] ?? null, meter));
}

export function equalValues(a: Value, b: Value, meter: Meter): boolean {
  spend(meter, 1);
  if (typeof a === "string" && typeof b === "string") {
    if (a.length !== b.length) return false;
    spendText(meter, a.length);
    return a === b;
  }
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return a === b;
  const kind = kindOf(a);
  if (kind !== kindOf(b)) return false;
  if (isList(a) && isList(b)) return equalLists(a, b, meter);
  if (isObject(a) && isObject(b)) return equalObjects(a, b, meter);
  return (a as MomentValue).ms === (b as MomentValue).ms;
}

export function toJson(value: Value, meter: Meter): Json {
  if (isMoment(value) || isSpan(value))
    throw new ExpressionError(`${kindText(kindOf(value))} is not JSON; use string(…)`);
  spend(meter, 1);
  if (isList(value)) return value.map((part) => toJson(part, meter));
  if (value === null || typeof value !== "object") return value;
  const entries = Object.entries(value as ValueObject);
  spendKeys(meter, 2 * entries.length);
  return Object.fromEntries(entries.map(([key, part]) => [key, toJson(part, meter)]));
}

/** Negative, zero or positive. Text is ordered by its UTF-16 units. */
export function compareValues(a: Value, b: Value, meter: Meter): number {
  if (typeof a === "number" && typeof b === "number") return a - b;
  if (typeof a === "string" && typeof b === "string") {
    spendText(meter, Math.min(a.length, b.length));
    if (a === b) return 0;
    return a < b ? -1 : 1;
  }
  if ((isMoment(a) && isMoment(b)) || (isSpan(a) && isSpan(b))) return a.ms - b.ms;
  throw new ExpressionError(`${kindText(kindOf(a))} and ${kindText(kindOf(b))} is nothing`);
}
