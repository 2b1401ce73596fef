/** The moment that `--since` names: so long ago, a day, or a time. */
import { type Context, flag } from "../command.ts";
import { CommandError } from "../failure.ts";
import { timeOf } from "../moment-of.ts";

const SPAN = /^(\d{1,6})(m|h|d|w)$/;
const UNITS: { readonly [unit: string]: number } = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 };
const DAY = /^\d{4}-\d{2}-\d{2}$/;

const MOST = 999_999_999;

export function momentSince(given: string, now: number): number | undefined {
  const [, count, unit = ""] = SPAN.exec(given.trim()) ?? [];
  if (count !== undefined) return now - Number(count) * (UNITS[unit] ?? 0);
  return timeOf(DAY.test(given.trim()) ? `${given.trim()}T00:00:00Z` : given);
}

export function sinceOf(context: Pick<Context, "values" | "now">): { readonly since?: number } {
  const given = flag(context, "since");
  if (given === undefined) return {};
  const since = momentSince(given, context.now);
  if (since !== undefined) return { since };
  throw new CommandError(
    "usage",
    `--since "${given}" is neither a span nor a day nor a time.`,
    "Such as --since 7d, --since 12h, --since 2026-05-04 or --since 2026-05-04T10:00:00Z",
  );
}

/** A whole number that a flag gives. */
export function countOf(context: Pick<Context, "values">, name: string, least: number): number | undefined {
  const given = flag(context, name);
  if (given === undefined) return undefined;
  const count = /^\d{1,9}$/.test(given) ? Number(given) : -1;
  if (count >= least) return count;
  const what = `--${name} "${given}" is not a whole number from ${least} to ${MOST}.`;
  throw new CommandError("usage", what, `Such as --${name} ${Math.max(least, 10)}`);
}

export const SINCE = {
  value: "<when>",
  summary: "only actions proposed since then: 7d, 12h, a day or a time; all of them unless set",
} as const;
