/** Lengths of time as people type them: 45s, 30min, 2h, 3d, or several together: 1h30min. */
const UNITS: Readonly<Record<string, number>> = { d: 86_400_000, h: 3_600_000, min: 60_000, s: 1_000 };
const PART = /(\d{1,9})\s*(d|h|min|s)/g;
const WHOLE = /^(?:\d{1,9}\s*(?:d|h|min|s)\s*)+$/;

/** Milliseconds; undefined for what is no length of time. */
export function durationOf(given: string): number | undefined {
  const text = given.trim();
  if (!WHOLE.test(text)) return undefined;
  const parts = [...text.matchAll(PART)];
  return parts.reduce((sum, [, count, unit]) => sum + Number(count) * (UNITS[unit ?? ""] ?? 0), 0);
}
