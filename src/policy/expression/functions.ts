/**
 * Functions, methods and operators of expressions: what each takes, gives and does. Parts of a time are in UTC unless a zone is
 * given: `now.getHours("Europe/Berlin")`.
 */

import { durationMs } from "../../kernel/duration.ts";
import { noPattern } from "./pattern.ts";
import { defineFunction, type ExpressionFunction } from "./types.ts";
import {
  ExpressionError,
  type Meter,
  type MomentValue,
  makeMoment,
  makeSpan,
  payForList,
  payForText,
  requireFinite,
  type SpanValue,
  STEPS_PER_NUMBER,
  STEPS_PER_READING,
  spend,
  spendCharacters,
  spendKeys,
  spendText,
  type Value,
} from "./values.ts";

const ISO = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[-+]\d\d:\d\d))?$/;
const ZONE_STEPS = 10_000;
const MOST_ZONES = 600;
const WEEKDAYS = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"];

function parseMoment(text: string): MomentValue {
  const ms = text.length <= 40 && ISO.test(text) ? new Date(text).getTime() : Number.NaN;
  if (Number.isNaN(ms)) throw new ExpressionError('the text is not a time like "2026-03-01T09:00:00Z"');
  return makeMoment(ms);
}

function parseSpan(text: string): SpanValue {
  const ms = durationMs(text);
  if (ms === undefined) throw new ExpressionError('the text is not a length of time like "90s" or "1h30m"');
  return makeSpan(ms);
}

const zones = new Map<string, Intl.DateTimeFormat>();

function formatter(zone: string): Intl.DateTimeFormat {
  const known = zones.get(zone);
  if (known !== undefined) return known;
  try {
    const made = new Intl.DateTimeFormat("en-US", {
      timeZone: zone,
      hourCycle: "h23",
      year: "numeric",
      month: "numeric",
      day: "numeric",
      weekday: "short",
      hour: "numeric",
      minute: "numeric",
      second: "numeric",
    });
    if (zones.size < MOST_ZONES) zones.set(zone, made);
    return made;
  } catch (error) {
    throw new ExpressionError("the time zone is not known", { cause: error });
  }
}

type Part = "year" | "month" | "day" | "weekday" | "hour" | "minute" | "second";

function zonedPart(at: MomentValue, zone: string, part: Part): number {
  if (zone.length > 64) throw new ExpressionError("the time zone is not known");
  const text =
    formatter(zone)
      .formatToParts(at.ms)
      .find(({ type }) => type === part)?.value ?? "";
  return part === "weekday" ? WEEKDAYS.indexOf(text) : Number(text);
}

const UTC: Readonly<Record<Part, (date: Date) => number>> = {
  year: (date) => date.getUTCFullYear(),
  month: (date) => date.getUTCMonth() + 1,
  day: (date) => date.getUTCDate(),
  weekday: (date) => date.getUTCDay(),
  hour: (date) => date.getUTCHours(),
  minute: (date) => date.getUTCMinutes(),
  second: (date) => date.getUTCSeconds(),
};

/** As in CEL: getMonth and getDayOfMonth start at 0, getDate at 1, and Sunday is 0. */
const PARTS: readonly (readonly [string, Part, number])[] = [
  ["getFullYear", "year", 0],
  ["getMonth", "month", -1],
  ["getDate", "day", 0],
  ["getDayOfMonth", "day", -1],
  ["getDayOfWeek", "weekday", 0],
  ["getHours", "hour", 0],
  ["getMinutes", "minute", 0],
  ["getSeconds", "second", 0],
];

const partIn =
  (part: Part, offset: number) =>
  (meter: Meter, at: MomentValue, zone?: string): number => {
    if (zone === undefined) return UTC[part](new Date(at.ms)) + offset;
    spend(meter, ZONE_STEPS);
    return zonedPart(at, zone, part) + offset;
  };

const LENGTHS: readonly (readonly [string, number])[] = [
  ["getHours", 3_600_000],
  ["getMinutes", 60_000],
  ["getSeconds", 1_000],
  ["getMilliseconds", 1],
];

/** For times that are read from text or written as text. */
const paid =
  <Given>(run: (given: Given) => Value) =>
  (meter: Meter, given: Given): Value => {
    spend(meter, STEPS_PER_READING);
    return run(given);
  };

const TIME_FUNCTIONS: readonly ExpressionFunction[] = [
  defineFunction("timestamp(string): moment", paid(parseMoment)),
  defineFunction("timestamp(moment): moment", (_, at: MomentValue) => at),
  defineFunction("timestamp(number): moment", (_, seconds: number) =>
    makeMoment(Math.round(seconds * 1_000)),
  ),
  defineFunction("duration(string): span", paid(parseSpan)),
  defineFunction(
    "string(moment): string",
    paid(({ ms }: MomentValue) => new Date(ms).toISOString()),
  ),
  defineFunction("string(span): string", (_, { ms }: SpanValue) => `${ms / 1_000}s`),
  ...PARTS.flatMap(([name, part, offset]) => [
    defineFunction(`moment.${name}(): number`, partIn(part, offset)),
    defineFunction(`moment.${name}(string): number`, partIn(part, offset)),
  ]),
  ...LENGTHS.map(([name, unit]) =>
    defineFunction(`span.${name}(): number`, (_, { ms }: SpanValue) => Math.trunc(ms / unit) + 0),
  ),
];

/** A prefix or suffix check is cheap. A search may, at worst, compare the whole wanted text at each position. */
const SEEN_AT_ONCE = 16;
const COMPARED_PER_STEP = 16;

function paySearch(meter: Meter, text: string, wanted: string): void {
  spendText(meter, wanted.length);
  if (wanted.length > 1) spendCharacters(meter, text.length);
  else spendText(meter, text.length);
  if (wanted.length > SEEN_AT_ONCE) spend(meter, (text.length * wanted.length) / COMPARED_PER_STEP);
}

const search =
  <Answer>(run: (text: string, wanted: string) => Answer) =>
  (meter: Meter, text: string, wanted: string): Answer => {
    paySearch(meter, text, wanted);
    return run(text, wanted);
  };

/** Pays for the last operand. */
const ofTexts =
  <Answer>(run: (...texts: string[]) => Answer) =>
  (meter: Meter, ...texts: string[]): Answer => {
    spendText(meter, texts.at(-1)?.length ?? 0);
    return run(...texts);
  };

const isHigh = (code: number): boolean => code >= 0xd800 && code <= 0xdbff;
const isLow = (code: number): boolean => code >= 0xdc00 && code <= 0xdfff;

/** Counts a surrogate pair once. Uses char codes: an iterator takes several times as long. */
function sizeOfText(meter: Meter, text: string): number {
  spendCharacters(meter, text.length);
  let count = text.length;
  for (let at = 1; at < text.length; at++)
    if (isLow(text.charCodeAt(at)) && isHigh(text.charCodeAt(at - 1))) count -= 1;
  return count;
}

const sizeOfList = (_: Meter, list: readonly Value[]): number => list.length;

function sizeOfObject(meter: Meter, object: object): number {
  const { length } = Object.keys(object);
  spendKeys(meter, length);
  return length;
}

function split(meter: Meter, text: string, separator: string): readonly string[] {
  paySearch(meter, text, separator);
  payForText(meter, text.length);
  const parts = text.split(separator);
  payForList(meter, parts.length);
  return parts;
}

function join(meter: Meter, list: readonly Value[], separator = ""): string {
  spend(meter, list.length);
  let length = 0;
  for (const part of list) {
    if (typeof part !== "string") throw new ExpressionError("join takes a list of text");
    length += part.length + separator.length;
  }
  payForText(meter, length);
  return list.join(separator);
}

function substring(meter: Meter, text: string, start: number, end = text.length): string {
  if (!(Number.isInteger(start) && Number.isInteger(end) && start >= 0 && start <= end && end <= text.length))
    throw new ExpressionError("substring is asked for a place outside of the text");
  payForText(meter, text.length);
  return text.slice(start, end).toWellFormed();
}

function readNumber(meter: Meter, text: string): number {
  spendText(meter, text.length);
  spend(meter, STEPS_PER_NUMBER);
  if (text.length > 40 || !/^-?\d+(?:\.\d+)?(?:[eE][-+]?\d{1,3})?$/.test(text))
    throw new ExpressionError("the text is not a number");
  return requireFinite(Number(text));
}

const truncate = (number: number): number => Math.trunc(number) + 0;

/** The result for a list of numbers, from left to right. */
const overNumbers =
  (combine: (a: number, b: number) => number, empty?: number) =>
  (meter: Meter, list: readonly Value[]): number => {
    spend(meter, list.length);
    if (!list.every((one) => typeof one === "number"))
      throw new ExpressionError("the list is not one of numbers");
    const first = empty ?? (list as readonly number[])[0];
    if (first === undefined) throw new ExpressionError("the list is empty");
    return requireFinite((list as readonly number[]).reduce((a, b) => combine(a, b), first));
  };

const MOST_DIGITS = 12;

/** Rounds half away from zero by the decimal text: 1.005 to two digits is 1.01, as expected for money. */
function round(meter: Meter, number: number, digits = 0): number {
  spend(meter, STEPS_PER_READING);
  if (!Number.isInteger(digits) || digits < 0 || digits > MOST_DIGITS)
    throw new ExpressionError(`round takes 0 to ${MOST_DIGITS} digits`);
  const [mantissa, exponent = "0"] = String(Math.abs(number)).split("e");
  const scaled = Math.round(Number(`${mantissa}e${Number(exponent) + digits}`));
  const [whole, power = "0"] = String(scaled).split("e");
  return Math.sign(number) * requireFinite(Number(`${whole}e${Number(power) - digits}`)) + 0;
}

/** For text that is searched for runs of letters. */
const STEPS_PER_LETTER = 6;
const isAscii = (text: string): boolean => !/[^\0-\x7f]/.test(text);

/** Changes ASCII letters only; text with other characters is converted run by run. */
const cased =
  (all: (text: string) => string, runs: RegExp) =>
  (meter: Meter, text: string): string => {
    spendText(meter, text.length);
    if (isAscii(text)) return all(text);
    spend(meter, STEPS_PER_LETTER * text.length);
    return text.replace(runs, all);
  };

function writeNumber(meter: Meter, number: number): string {
  spend(meter, STEPS_PER_NUMBER);
  return String(number);
}

const same = (_: Meter, value: Value): Value => value;
const upper = (text: string): string => text.toUpperCase();
const lower = (text: string): string => text.toLowerCase();

export const FUNCTIONS: readonly ExpressionFunction[] = [
  defineFunction("size(string): number", sizeOfText),
  defineFunction("size(list): number", sizeOfList),
  defineFunction("size(object): number", sizeOfObject),
  defineFunction("string.size(): number", sizeOfText),
  defineFunction("list.size(): number", sizeOfList),
  defineFunction("object.size(): number", sizeOfObject),
  defineFunction(
    "string.contains(string): bool",
    search((a, b) => a.includes(b)),
  ),
  defineFunction(
    "string.startsWith(string): bool",
    ofTexts((a = "", b = "") => a.startsWith(b)),
  ),
  defineFunction(
    "string.endsWith(string): bool",
    ofTexts((a = "", b = "") => a.endsWith(b)),
  ),
  defineFunction("string.matches(string): bool", noPattern),
  defineFunction("matches(string, string): bool", noPattern),
  defineFunction(
    "string.indexOf(string): number",
    search((a, b) => a.indexOf(b)),
  ),
  defineFunction("string.lowerAscii(): string", cased(lower, /[A-Z]+/g)),
  defineFunction("string.upperAscii(): string", cased(upper, /[a-z]+/g)),
  defineFunction(
    "string.trim(): string",
    ofTexts((text = "") => text.trim()),
  ),
  defineFunction("string.substring(number): string", substring),
  defineFunction("string.substring(number, number): string", substring),
  defineFunction("string.split(string): list<string>", split),
  defineFunction("list.join(): string", join),
  defineFunction("list.join(string): string", join),
  defineFunction("string(string): string", same),
  defineFunction("string(number): string", writeNumber),
  defineFunction("string(bool): string", (_, bool: boolean) => String(bool)),
  defineFunction("double(number): number", same),
  defineFunction("double(string): number", readNumber),
  defineFunction("int(number): number", (_, number: number) => truncate(number)),
  defineFunction("int(string): number", (meter, text: string) => truncate(readNumber(meter, text))),
  defineFunction("abs(number): number", (_, number: number) => Math.abs(number)),
  defineFunction("round(number): number", round),
  defineFunction("round(number, number): number", round),
  defineFunction("min(number, number): number", (_, a: number, b: number) => Math.min(a, b)),
  defineFunction("max(number, number): number", (_, a: number, b: number) => Math.max(a, b)),
  defineFunction("min(list): number", overNumbers(Math.min)),
  defineFunction("max(list): number", overNumbers(Math.max)),
  defineFunction(
    "sum(list): number",
    overNumbers((a, b) => a + b, 0),
  ),
  ...TIME_FUNCTIONS,
];

function joinTexts(meter: Meter, a: string, b: string): string {
  payForText(meter, a.length + b.length);
  return a + b;
}

function joinLists(meter: Meter, a: readonly Value[], b: readonly Value[]): readonly Value[] {
  payForList(meter, a.length + b.length);
  return [...a, ...b];
}

const calculate =
  (run: (a: number, b: number) => number) =>
  (_: Meter, a: number, b: number): number =>
    requireFinite(run(a, b));

function divide(run: (a: number, b: number) => number) {
  return calculate((a, b) => {
    if (b === 0) throw new ExpressionError("division by zero");
    return run(a, b);
  });
}

type Time = MomentValue | SpanValue;
const add = (make: (ms: number) => Value) => (_: Meter, a: Time, b: Time) => make(a.ms + b.ms);
const subtract = (make: (ms: number) => Value) => (_: Meter, a: Time, b: Time) => make(a.ms - b.ms);

const OPERATORS: readonly ExpressionFunction[] = [
  defineFunction(
    "+(number, number): number",
    calculate((a, b) => a + b),
  ),
  defineFunction("+(string, string): string", joinTexts),
  defineFunction("+(list, list): list", joinLists),
  defineFunction("+(moment, span): moment", add(makeMoment)),
  defineFunction("+(span, moment): moment", add(makeMoment)),
  defineFunction("+(span, span): span", add(makeSpan)),
  defineFunction(
    "-(number, number): number",
    calculate((a, b) => a - b),
  ),
  defineFunction("-(moment, moment): span", subtract(makeSpan)),
  defineFunction("-(moment, span): moment", subtract(makeMoment)),
  defineFunction("-(span, span): span", subtract(makeSpan)),
  defineFunction(
    "*(number, number): number",
    calculate((a, b) => a * b),
  ),
  defineFunction(
    "/(number, number): number",
    divide((a, b) => a / b),
  ),
  // The remainder of a negative number may be -0, which JSON does not have.
  defineFunction(
    "%(number, number): number",
    divide((a, b) => (a % b) + 0),
  ),
];

const keyOf = (name: string, isMethod: boolean): string => `${isMethod ? "." : ""}${name}`;
const byName = Map.groupBy([...FUNCTIONS, ...OPERATORS], ({ name, method }) => keyOf(name, method));

export function functionsNamed(name: string, isMethod: boolean): readonly ExpressionFunction[] {
  return byName.get(keyOf(name, isMethod)) ?? [];
}

export function namesOfFunctions(isMethod: boolean): Iterable<string> {
  return new Set(FUNCTIONS.filter(({ method }) => method === isMethod).map(({ name }) => name));
}
