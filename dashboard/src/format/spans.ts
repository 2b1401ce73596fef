/** How long something is to last, as it is chosen. */
const DAY = 86_400;

export type Span = { readonly seconds: number; readonly words: string };

export const SPANS: readonly Span[] = [
  { seconds: 3_600, words: "1 hour" },
  { seconds: DAY, words: "1 day" },
  { seconds: 7 * DAY, words: "7 days" },
  { seconds: 30 * DAY, words: "30 days" },
  { seconds: 90 * DAY, words: "90 days" },
  { seconds: 365 * DAY, words: "1 year" },
];

/** Those that are offered, with one more where that was given and is none of them. */
export function spansWith(given: number, most = Number.POSITIVE_INFINITY): readonly Span[] {
  const offered = SPANS.filter(({ seconds }) => seconds <= most);
  if (offered.some(({ seconds }) => seconds === given)) return offered;
  const words = given % DAY === 0 ? `${given / DAY} days` : `${given} seconds`;
  return [...offered, { seconds: given, words }].toSorted((one, other) => one.seconds - other.seconds);
}
