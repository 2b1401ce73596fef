/** Verdicts from the freest to the strictest: the order in which they stand in charts, and the tone of each. */
import { type Tone, toneOf } from "../../ui/tone.ts";

const ORDER = ["approve", "revise", "escalate", "block"];

/** A verdict may be said with more: "escalate, revised". */
const bare = (verdict: string): string => verdict.split(",")[0] ?? "";

const rank = (verdict: string): number => {
  const at = ORDER.indexOf(bare(verdict));
  return at === -1 ? ORDER.length : at;
};

export const byStrictness = (one: string, other: string): number =>
  rank(one) - rank(other) || one.localeCompare(other);

export const verdictTone = (verdict: string): Tone => toneOf(bare(verdict));
