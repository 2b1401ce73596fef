/** How long people took, day by day. */
import type { Day } from "../../api/activity.ts";
import { spanText } from "../../format/times.ts";

export type Waited = { readonly day: string; readonly half: number; readonly most: number };

const HALF_SECOND = 0.5;

/** Days on which nothing was decided have none. On a scale of powers nothing is shorter than half a second. */
export function waitsOf(days: readonly Day[]): readonly Waited[] {
  return days.flatMap(({ day, waited_p50_seconds: half, waited_p90_seconds: most }) =>
    half === null || most === null
      ? []
      : [{ day, half: Math.max(HALF_SECOND, half), most: Math.max(HALF_SECOND, most) }],
  );
}

/** Spans that people know, in seconds. */
const MARKS = [1, 10, 60, 600, 3_600, 21_600, 86_400, 604_800];

/** Those that lie in the range, with one below and one above. */
export function marksFor(waits: readonly Waited[]): readonly number[] {
  const low = Math.min(...waits.map(({ half }) => half));
  const high = Math.max(...waits.map(({ most }) => most));
  const from = MARKS.findLastIndex((mark) => mark <= low);
  const to = MARKS.findIndex((mark) => mark >= high);
  return MARKS.slice(Math.max(0, from), to === -1 ? undefined : to + 1);
}

const inWords = (seconds: number): string => spanText(Math.round(seconds) * 1_000);

export function waitsText(days: readonly Day[]): string {
  const waits = waitsOf(days);
  const [only] = waits;
  if (only === undefined) return "nothing was decided";
  if (waits.length === 1)
    return `half within ${inWords(only.half)}, nine in ten within ${inWords(only.most)}`;
  const halves = waits.map(({ half }) => half).toSorted((a, b) => a - b);
  const middle = halves[Math.floor((halves.length - 1) / 2)] ?? 0;
  return `on a usual day half are decided within ${inWords(middle)}`;
}
