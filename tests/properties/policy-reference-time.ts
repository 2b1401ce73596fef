/** Times the slow and obvious way. Shares nothing with `src/policy`. */
import type { Json } from "../../src/kernel/json.ts";

export const ERROR: unique symbol = Symbol("error");
export type Outcome = Json | typeof ERROR;

/** No argument has such a key. */
const MOMENT = "\u0000moment";
const SPAN = "\u0000span";

export const momentOf = (ms: number): Outcome =>
  ms >= Date.UTC(2000) - 2000 * 366 * 86_400_000 && Math.abs(ms) < 8e15 ? { [MOMENT]: ms } : ERROR;
const spanOf = (ms: number): Outcome => ({ [SPAN]: ms });

function msOf(value: unknown, key: string): number | undefined {
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, key)) return undefined;
  return (value as Record<string, number>)[key];
}

export function readMoment(text: string): Outcome {
  const ms = new Date(text).getTime();
  return /^\d{4}-/.test(text) && !Number.isNaN(ms) ? momentOf(ms) : ERROR;
}

const UNIT: Readonly<Record<string, number>> = { ms: 1, s: 1e3, m: 6e4, h: 36e5, d: 864e5 };

export function readSpan(text: string): Outcome {
  let rest = text;
  let ms = 0;
  while (rest !== "") {
    const [whole, amount, unit] = /^(\d+)(ms|s|m|h|d)/.exec(rest) ?? [];
    if (whole === undefined || unit === undefined) return ERROR;
    ms += Number(amount) * (UNIT[unit] ?? 0);
    rest = rest.slice(whole.length);
  }
  return text === "" ? ERROR : spanOf(ms);
}

const ORDERS: Readonly<Record<string, (a: number, b: number) => boolean>> = {
  "<": (a, b) => a < b,
  "<=": (a, b) => a <= b,
  ">": (a, b) => a > b,
  ">=": (a, b) => a >= b,
  "==": (a, b) => a === b,
  "!=": (a, b) => a !== b,
};

/** Undefined where neither is a time. */
export function calculateTime(op: string, a: unknown, b: unknown): Outcome | undefined {
  const [moment, other] = [msOf(a, MOMENT), msOf(b, MOMENT)];
  const [span, more] = [msOf(a, SPAN), msOf(b, SPAN)];
  const order = ORDERS[op];
  if (moment !== undefined && other !== undefined) {
    if (op === "-") return spanOf(moment - other);
    return order === undefined ? ERROR : order(moment, other);
  }
  if (span !== undefined && more !== undefined && order !== undefined) return order(span, more);
  if (moment !== undefined && more !== undefined) return momentOf(op === "+" ? moment + more : moment - more);
  return moment === undefined && other === undefined && span === undefined && more === undefined
    ? undefined
    : ERROR;
}

const WHOLE: Readonly<Record<string, number>> = {
  getHours: 36e5,
  getMinutes: 6e4,
  getSeconds: 1e3,
  getMilliseconds: 1,
};
const DAYS = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];

/** As a wall clock and a calendar in that zone show it. */
function shown(ms: number, timeZone: string, part: Intl.DateTimeFormatOptions): string {
  return new Intl.DateTimeFormat("en-GB", { timeZone, hourCycle: "h23", ...part }).format(ms);
}

const WALL: Readonly<Record<string, (ms: number, zone: string) => number>> = {
  getFullYear: (ms, zone) => Number(shown(ms, zone, { year: "numeric" })),
  getMonth: (ms, zone) => Number(shown(ms, zone, { month: "numeric" })) - 1,
  getDate: (ms, zone) => Number(shown(ms, zone, { day: "numeric" })),
  getDayOfMonth: (ms, zone) => Number(shown(ms, zone, { day: "numeric" })) - 1,
  getDayOfWeek: (ms, zone) => DAYS.indexOf(shown(ms, zone, { weekday: "long" })),
  getHours: (ms, zone) => Number(shown(ms, zone, { hour: "numeric" })),
  getMinutes: (ms, zone) => Number(shown(ms, zone, { minute: "numeric" })),
  getSeconds: (ms, zone) => Number(shown(ms, zone, { second: "numeric" })),
};

export function partOf(part: string, zone: string | null, of: unknown): Outcome {
  const span = msOf(of, SPAN);
  if (span !== undefined && zone === null) return Math.trunc(span / (WHOLE[part] ?? 1)) + 0;
  const moment = msOf(of, MOMENT);
  if (moment === undefined) return ERROR;
  try {
    return WALL[part]?.(moment, zone ?? "UTC") ?? ERROR;
  } catch {
    return ERROR;
  }
}
