/**
 * Views: the projections that a stream feeds, the row each makes from its state, and the checks of a query. Also which
 * version of a projection wrote a view's rows, while processes of several versions work on one store:
 * - A process whose rows are incompatible with the version in the store writes nothing.
 * - A process whose rows are compatible but older marks the view as stale before its first row; the next process of the
 *   newer version that opens the store rebuilds it. A process that does not know a view at all does the same.
 */

import { HoldpointError } from "../kernel/errors.ts";
import { STREAM_KINDS, type StreamKind } from "../kernel/registry.ts";
import type { RowKeys, StoredProjection, ViewQuery, ViewRow } from "./store.ts";

export type Projections = {
  readonly all: readonly StoredProjection[];
  of(kind: StreamKind): readonly StoredProjection[];
  named(view: string): StoredProjection;
};

export function projectionTable(projections: readonly StoredProjection[]): Projections {
  const byView = new Map<string, StoredProjection>();
  for (const projection of projections) {
    if (!/^[a-z][a-z0-9_]{0,40}$/.test(projection.view) || byView.has(projection.view)) {
      throw new HoldpointError(
        "broken_rule",
        `"${projection.view}" cannot be the name of a view, or is one already.`,
      );
    }
    byView.set(projection.view, projection);
  }
  const byKind = new Map(STREAM_KINDS.map((kind) => [kind, projections.filter((one) => one.kind === kind)]));
  return {
    all: projections,
    of: (kind) => byKind.get(kind) ?? [],
    named: (view) => {
      const projection = byView.get(view);
      if (projection === undefined) throw new HoldpointError("broken_rule", `There is no view "${view}".`);
      return projection;
    },
  };
}

/** The state that a stream's row was written from. `unknown`: the view is built again. */
export type StateBefore =
  | { readonly kind: "none" }
  | { readonly kind: "state"; readonly state: unknown }
  | { readonly kind: "unknown" };

/** What a commit does to a stream's row. `kept`: its bucket may change, but not its times, and so not their indexes. */
type RowChange =
  | { readonly kind: "none" }
  | { readonly kind: "gone" }
  | { readonly kind: "added" | "kept" | "moved"; readonly row: Omit<ViewRow, "stream"> };

const NO_CHANGE: RowChange = { kind: "none" };

/** A row that cannot exist is not removed, and one that no list shows differently is not made. */
export function rowChange(
  projection: StoredProjection,
  id: string,
  before: StateBefore,
  after: unknown,
): RowChange {
  if (before.kind === "state" && projection.isSame?.(before.state, after) === true) return NO_CHANGE;
  const row = projection.row(id, after);
  if (before.kind === "unknown") return row === undefined ? { kind: "gone" } : { kind: "moved", row };
  const was = before.kind === "none" ? undefined : keysIn(projection, id, before.state);
  if (row === undefined) return was === undefined ? NO_CHANGE : { kind: "gone" };
  if (was === undefined) return { kind: "added", row };
  return { kind: was.at === row.at && was.due === row.due ? "kept" : "moved", row };
}

const keysIn = (projection: StoredProjection, id: string, state: unknown): RowKeys | undefined =>
  projection.keys === undefined ? projection.row(id, state) : projection.keys(state);

type StoredView = {
  readonly version: number;
  /** The oldest version whose rows may coexist with these; null if not recorded. */
  readonly oldest: number | null;
  /** A process that writes older rows, or none, has used the store since the view was built. */
  readonly isStale: boolean;
};
export type StoredViews = ReadonlyMap<string, StoredView>;

type KnownProjections = readonly StoredProjection[];

export const oldestCompatible = ({ version, oldest = version }: StoredProjection): number => oldest;

/** The name of a view that only newer programs may write. */
export function newerView(found: StoredViews, known: KnownProjections): string | undefined {
  return known.find(({ view, version }) => {
    const there = found.get(view);
    return there !== undefined && there.version > version && (there.oldest ?? there.version) > version;
  })?.view;
}

/** Views that this program has to build. */
export function viewsToBuild(found: StoredViews, known: KnownProjections): readonly StoredProjection[] {
  return known.filter(({ view, version }) => {
    const there = found.get(view);
    return there === undefined || there.version < version || (there.version === version && there.isStale);
  });
}

/** Views that this program makes stale and that are not marked yet. */
export function viewsToMarkStale(found: StoredViews, known: KnownProjections): readonly string[] {
  const ours = new Map(known.map(({ view, version }) => [view, version]));
  return [...found]
    .filter(([view, there]) => !there.isStale && there.version > (ours.get(view) ?? 0))
    .map(([view]) => view);
}

export function checkViewQuery({ limit, after }: ViewQuery, exists: (stream: string) => boolean): void {
  if (!Number.isSafeInteger(limit) || limit < 1) {
    throw new HoldpointError("invalid_input", "A list's limit has to be a whole number from 1.");
  }
  if (after === undefined || exists(after.stream)) return;
  throw new HoldpointError(
    "invalid_input",
    `A list cannot go on after "${after.stream}": there is no such stream.`,
  );
}
