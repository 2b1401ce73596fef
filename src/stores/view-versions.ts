/**
 * Which version of a projection wrote a view's rows, while processes of several versions work on one store.
 *
 * V1. A process whose rows may not stand beside those of the version that is there writes nothing.
 * V2. One whose rows may, says before its first row that the view has older ones: the next process of the newer version that
 *     opens the store builds it again. So does whoever does not know a view at all.
 */
import type { Projection } from "./store.ts";

export type FoundView = {
  readonly version: number;
  /** The oldest version whose rows may stand beside these; null where nobody has said. */
  readonly oldest: number | null;
  /** Somebody who writes older rows, or none, has been there since it was built. */
  readonly isStale: boolean;
};
export type FoundViews = ReadonlyMap<string, FoundView>;

type Known = readonly Projection[];

export const oldestOf = ({ version, oldest = version }: Projection): number => oldest;

/** The name of a view that only newer programs may write to. */
export function newerView(found: FoundViews, known: Known): string | undefined {
  return known.find(({ view, version }) => {
    const there = found.get(view);
    return there !== undefined && there.version > version && (there.oldest ?? there.version) > version;
  })?.view;
}

/** Views that this program is to build. */
export function unbuilt(found: FoundViews, known: Known): readonly Projection[] {
  return known.filter(({ view, version }) => {
    const there = found.get(view);
    return there === undefined || there.version < version || (there.version === version && there.isStale);
  });
}

/** Views that this program lets go stale, and of which nobody has said so. */
export function neglected(found: FoundViews, known: Known): readonly string[] {
  const ours = new Map(known.map(({ view, version }) => [view, version]));
  return [...found]
    .filter(([view, there]) => !there.isStale && there.version > (ours.get(view) ?? 0))
    .map(([view]) => view);
}
