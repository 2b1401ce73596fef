/** Spans of time and sums of money as people type them. */
import type { Money } from "../core/money.ts";
import { CommandError } from "./failure.ts";

const UNITS: { readonly [unit: string]: number } = {
  s: 1_000,
  min: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
};

/** `7d`, `12h`, `30min`; in milliseconds. */
export function spanOf(flag: string, given: string): number {
  const [, number = "", unit = ""] = /^(\d{1,6})\s*(s|min|h|d|w)$/.exec(given.trim()) ?? [];
  const size = UNITS[unit];
  if (size !== undefined && Number(number) > 0) return Number(number) * size;
  throw new CommandError(
    "usage",
    `--${flag} "${given}" is not a span of time.`,
    "Such as 30min, 12h, 7d or 2w.",
  );
}

/** `500 USD`, `12.50 EUR`. */
export function moneyFrom(flag: string, given: string): Money {
  const [, whole, rest = "", currency] =
    /^(\d{1,15})(?:\.(\d{1,6}))?\s+([A-Z]{3,8})$/.exec(given.trim()) ?? [];
  if (whole !== undefined && currency !== undefined)
    return { currency, micros: BigInt(whole + rest.padEnd(6, "0")) };
  throw new CommandError(
    "usage",
    `--${flag} "${given}" is not an amount of money.`,
    'Such as "500 USD": a number, and the letters of the currency.',
  );
}
