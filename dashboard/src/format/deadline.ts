/** How near a deadline is, for the eye; whether it is over is the server's to say. */
export type Nearness = "none" | "far" | "near" | "over";

const NEAR_MS = 10 * 60_000;
const NEAR_SHARE = 0.15;

type Span = { readonly requested_at: string; readonly decide_by: string | null };

export function nearnessOf({ requested_at, decide_by }: Span, now: number): Nearness {
  if (decide_by === null) return "none";
  const end = Date.parse(decide_by);
  const left = end - now;
  if (left <= 0) return "over";
  const whole = end - Date.parse(requested_at);
  return left < Math.min(NEAR_MS, whole / 2) || left < whole * NEAR_SHARE ? "near" : "far";
}

/** What is left, as a clock: 4:07, 1:02:09, 2 d 3:15:00. */
export function clockText(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1_000));
  const two = (count: number) => String(count).padStart(2, "0");
  const days = Math.floor(seconds / 86_400);
  const hours = Math.floor((seconds % 86_400) / 3_600);
  const rest = `${two(Math.floor((seconds % 3_600) / 60))}:${two(seconds % 60)}`;
  if (days > 0) return `${days} d ${hours}:${rest}`;
  return hours > 0 ? `${hours}:${rest}` : rest.replace(/^0/, "");
}

/** The part of the time that is over, from 0 to 1. */
export function shareOver({ requested_at, decide_by }: Span, now: number): number {
  if (decide_by === null) return 0;
  const from = Date.parse(requested_at);
  const whole = Date.parse(decide_by) - from;
  return whole <= 0 ? 1 : Math.min(1, Math.max(0, (now - from) / whole));
}
