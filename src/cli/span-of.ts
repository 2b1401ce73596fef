/** Spans of time and sums of money as people type them. */

import { durationMs } from "../kernel/duration.ts";
import type { Money } from "../kernel/money.ts";

import { CommandError } from "./failure.ts";

/** `7d`, `12h`, `30m`; in milliseconds. */
export function spanOf(flag: string, given: string): number {
  const ms = durationMs(given.trim());
  if (ms !== undefined && ms > 0) return ms;
  throw new CommandError("usage", `--${flag} "${given}" is not a span of time.`, "Such as 30m, 12h or 7d.");
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
