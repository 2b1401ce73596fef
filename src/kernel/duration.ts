/** Durations as people write them: `90s`, `30m`, `24h`, `7d`, and in expressions also `1h30m` or `250ms`. */
const UNITS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};
const WHOLE = /^(?:\d{1,12}(?:\.\d{1,3})?(?:ms|s|m|h|d))+$/;
const PART = /(\d+(?:\.\d+)?)(ms|s|m|h|d)/g;
const LONGEST_TEXT = 64;
/** Some three hundred years, the limit of every deadline. */
const LONGEST_MS = 1e13;

/** In milliseconds; undefined if the text is no duration. */
export function durationMs(text: string): number | undefined {
  const negative = text.startsWith("-");
  const size = negative ? text.slice(1) : text;
  if (size.length > LONGEST_TEXT || !WHOLE.test(size)) return undefined;
  let total = 0;
  for (const [, amount = "", unit = ""] of size.matchAll(PART)) total += Number(amount) * (UNITS[unit] ?? 0);
  total = Math.round(total);
  if (total > LONGEST_MS) return undefined;
  return negative ? -total : total;
}
