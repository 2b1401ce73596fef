/** Timestamps and durations. Timestamp parts are in UTC unless a zone is given: `now.getHours("Europe/Berlin")`. */

import { durationMs } from "../../kernel/duration.ts";
import { defineFunction, type ExpressionFunction } from "./types.ts";
import {
  ExpressionError,
  type Meter,
  type MomentValue,
  makeMoment,
  makeSpan,
  type SpanValue,
  STEPS_PER_READING,
  spend,
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

export const TIME_FUNCTIONS: readonly ExpressionFunction[] = [
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
