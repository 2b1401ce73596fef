/** Moments and spans in people's words. */
const UNITS = [
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["min", 60_000],
  ["s", 1_000],
] as const;

/** The two largest units would be noise: one is enough for an age. */
export function span(ms: number): string {
  const [name, size] = UNITS.find(([, unit]) => ms >= unit) ?? ["s", 1_000];
  return `${Math.max(0, Math.floor(ms / size))} ${name}`;
}

/** RFC 3339; a time that no calendar has is shown as the number that it is. */
export function moment(at: number): string {
  const date = new Date(at);
  return Number.isNaN(date.getTime()) ? String(at) : date.toISOString();
}

export function ago(at: number, now: number): string {
  return `${moment(at)} (${at <= now ? `${span(now - at)} ago` : `in ${span(at - now)}`})`;
}

/** How long is left of a deadline, for a list. */
export function left(deadline: number | null, now: number): string {
  if (deadline === null) return "-";
  return deadline <= now ? "passed" : `in ${span(deadline - now)}`;
}
