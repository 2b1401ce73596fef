/** Verdicts before and after, drawn as bands: how high each stands and where it goes. All in shares of the height. */
import { byStrictness } from "./trial-figures.ts";

type Change = { readonly from: string; readonly to: string; readonly count: number };

export type FlowEnd = {
  readonly verdict: string;
  readonly count: number;
  readonly top: number;
  readonly height: number;
};
export type Band = Change & { readonly fromTop: number; readonly toTop: number; readonly height: number };
export type Flow = {
  readonly before: readonly FlowEnd[];
  readonly after: readonly FlowEnd[];
  readonly bands: readonly Band[];
};

const GAP = 0.08;

const sum = (changes: readonly Change[]): number => changes.reduce((all, { count }) => all + count, 0);

function endsOf(changes: readonly Change[], side: "from" | "to", unit: number): readonly FlowEnd[] {
  const verdicts = [...new Set(changes.map((change) => change[side]))].toSorted(byStrictness);
  const ends: FlowEnd[] = [];
  let top = 0;
  for (const verdict of verdicts) {
    const count = sum(changes.filter((change) => change[side] === verdict));
    ends.push({ verdict, count, top, height: count * unit });
    top += count * unit + GAP;
  }
  return ends;
}

/** Where a band touches an end: below those that were put there before it. */
function stacked(ends: readonly FlowEnd[]): (verdict: string, height: number) => number {
  const next = new Map(ends.map(({ verdict, top }) => [verdict, top]));
  return (verdict, height) => {
    const top = next.get(verdict) ?? 0;
    next.set(verdict, top + height);
    return top;
  };
}

export function flowOf(changes: readonly Change[]): Flow {
  const shown = changes.filter(({ count }) => count > 0);
  const sides = (["from", "to"] as const).map((side) => new Set(shown.map((change) => change[side])).size);
  const unit = (1 - GAP * (Math.max(1, ...sides) - 1)) / Math.max(1, sum(shown));
  const before = endsOf(shown, "from", unit);
  const after = endsOf(shown, "to", unit);
  const [leave, arrive] = [stacked(before), stacked(after)];
  const ordered = shown.toSorted(
    (one, other) => byStrictness(one.from, other.from) || byStrictness(one.to, other.to),
  );
  const bands = ordered.map(({ from, to, count }) => {
    const height = count * unit;
    return { from, to, count, height, fromTop: leave(from, height), toTop: arrive(to, height) };
  });
  return { before, after, bands };
}
