/** Verdicts from the freest to the strictest: the order in which they stand in charts. */
const ORDER = ["approve", "revise", "escalate", "block"];

const rank = (verdict: string): number => {
  const at = ORDER.indexOf(verdict);
  return at === -1 ? ORDER.length : at;
};

export const byStrictness = (one: string, other: string): number =>
  rank(one) - rank(other) || one.localeCompare(other);
