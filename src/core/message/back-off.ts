/** How long a message waits before it is tried again: ten attempts within about three days. */
const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

const WAITS: readonly number[] = [
  5 * SECOND,
  30 * SECOND,
  2 * MINUTE,
  10 * MINUTE,
  HOUR,
  6 * HOUR,
  12 * HOUR,
  24 * HOUR,
  24 * HOUR,
];
/** The share of a wait that is left to chance, so that what failed together does not come back together. */
const JITTER = 0.2;

export const MOST_ATTEMPTS = WAITS.length + 1;

/** After so many attempts; null when that was the last. `chance` is from 0 to 1. */
export function waitAfter(attempts: number, chance: number): number | null {
  const wait = WAITS[attempts - 1];
  return wait === undefined ? null : Math.round(wait * (1 - JITTER / 2 + JITTER * chance));
}
