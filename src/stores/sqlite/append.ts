/** From a plan to its rows, seen at once by whoever decides next. */
import type { Folds } from "../../core/streams.ts";
import type { Plan } from "../plan.ts";
import type { Projections } from "../project.ts";
import type { Heads } from "./heads.ts";
import type { Names } from "./names.ts";
import type { Places } from "./places.ts";
import { type Rows, rowsOf } from "./rows.ts";

export type Tables = {
  readonly folds: Folds;
  readonly projections: Projections;
  readonly heads: Heads;
  readonly names: Names;
  readonly places: Places;
  readonly marker: Marker;
};

/** The last entry of a batch, by which a commit that failed half-way can be found again. */
export type Mark = { readonly position: number; readonly hash: string };
export type Marker = {
  set(mark: Mark): void;
  last(): Mark | undefined;
  clear(): void;
};

export function createMarker(): Marker {
  let last: Mark | undefined;
  return {
    set: (mark) => {
      last = mark;
    },
    last: () => last,
    clear: () => {
      last = undefined;
    },
  };
}

export type Append = (tid: number, plan: Plan<unknown>) => Rows;

export function prepareAppend(tables: Tables): Append {
  const { heads, names, marker } = tables;
  return (tid, plan) => {
    const { rows, moved } = rowsOf(tables, tid, plan);
    for (const one of moved) heads.moved(tid, one);
    for (const { name, stream } of rows.names) names.lead(tid, name, stream);
    const mark = markOf(rows);
    if (mark !== undefined) marker.set(mark);
    return rows;
  };
}

function markOf({ streams }: Rows): Mark | undefined {
  const last = streams.at(-1);
  const entry = last?.entries.at(-1);
  if (last === undefined || entry === undefined) return undefined;
  return { position: last.position + last.entries.length - 1, hash: entry.hash };
}
