/** Moments and spans in words. */
const UNITS: readonly (readonly [string, number])[] = [
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["min", 60_000],
  ["s", 1_000],
];

/** The two largest units: "2 d 3 h", "4 min 10 s"; under an hour and over a minute the minutes alone. */
export function spanText(ms: number): string {
  const whole = Math.max(0, ms);
  const at = UNITS.findIndex(([, unit]) => whole >= unit);
  const [name, unit] = UNITS[at] ?? ["s", 1_000];
  const count = Math.floor(whole / unit);
  const [finer, part] = UNITS[at + 1] ?? ["", 0];
  const rest = part === 0 || count >= 10 ? 0 : Math.floor((whole - count * unit) / part);
  return rest === 0 || name === "min" ? `${count} ${name}` : `${count} ${name} ${rest} ${finer}`;
}

export const agoText = (at: string, now: number): string => {
  const ms = now - Date.parse(at);
  return ms < 1_000 ? "now" : `${spanText(ms)} ago`;
};

export const untilText = (at: string, now: number): string => {
  const ms = Date.parse(at) - now;
  return ms <= 0 ? "over" : `in ${spanText(ms)}`;
};

const FULL = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });
const SHORT = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });

export const momentText = (at: string): string => SHORT.format(new Date(at));
export const exactText = (at: string): string => `${FULL.format(new Date(at))} (${at})`;
