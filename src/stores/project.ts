/** Views: which projections a stream feeds, and the row each makes of its state. */

import { HoldpointError } from "../kernel/errors.ts";
import { STREAM_KINDS, type StreamKind, type StreamRef } from "../kernel/stream.ts";
import type { StateOf } from "../states.ts";

import type { Projection, ViewRow } from "./store.ts";

export type Projections = {
  readonly all: readonly Projection[];
  of(kind: StreamKind): readonly Projection[];
  named(view: string): Projection;
};

export function tableOf(projections: readonly Projection[]): Projections {
  const byView = new Map<string, Projection>();
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

/** Whether a row that stands would be written as it is. */
export function isSameRow(projection: Projection, before: unknown, after: unknown): boolean {
  return projection.isSame?.(before as StateOf<StreamKind>, after as StateOf<StreamKind>) === true;
}

/** `state` is of the projection's own kind: the caller found the projection by the stream's kind. */
export function rowOf(
  projection: Projection,
  stream: StreamRef,
  state: unknown,
): Omit<ViewRow, "stream"> | undefined {
  return projection.row(stream.id, state as StateOf<StreamKind>);
}
