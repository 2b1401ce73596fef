/**
 * What plans write, as data: the same rows can be written on this thread or on another.
 */
import type { StoredEntry } from "../../core/entry.ts";
import { streamName } from "../../core/stream.ts";
import type { Folds } from "../../core/streams.ts";
import type { Artifact } from "../../core/transaction.ts";
import { foldOf, type Head } from "../head.ts";
import type { Plan, PlannedStream } from "../plan.ts";
import { type Projections, rowOf } from "../project.ts";
import type { ViewRow } from "../store.ts";
import type { MovedHead } from "./heads.ts";
import type { Places } from "./places.ts";
import { type SnapshotRow, snapshotOf } from "./snapshots.ts";

export type ViewChange = { readonly view: string; readonly sid: number } & (
  | { readonly kind: "remove" }
  /** `isInPlace`: the row's times stay as they were. */
  | {
      readonly kind: "write";
      readonly tid: number;
      readonly bucket: string;
      readonly at: number;
      readonly due: number | null;
      readonly data: string;
      readonly isInPlace: boolean;
    }
);

export type StreamRows = {
  readonly sid: number;
  /** The stream's name when it is new. */
  readonly name: string | null;
  /** Of the first entry; the others follow. */
  readonly position: number;
  readonly seq: number;
  readonly entries: readonly StoredEntry[];
  readonly snapshot: SnapshotRow | null;
  readonly views: readonly ViewChange[];
};

export type Rows = {
  readonly tid: number;
  readonly streams: readonly StreamRows[];
  readonly names: readonly { readonly name: string; readonly stream: string }[];
  readonly artifacts: readonly Artifact[];
};

export type PlanRows = { readonly rows: Rows; readonly moved: readonly MovedHead[] };

type Parts = { readonly folds: Folds; readonly projections: Projections; readonly places: Places };

/** A projection that throws leaves no numbers taken. */
export function rowsOf(parts: Parts, tid: number, plan: Plan<unknown>): PlanRows {
  const drawn = plan.streams.map((planned) => drawRows(parts, planned));
  const written = drawn.map((drawn) => numbered(parts.places, tid, drawn));
  const names = plan.names.map(({ name, stream }) => ({ name, stream: streamName(stream) }));
  return {
    rows: { tid, streams: written.map(({ rows }) => rows), names, artifacts: plan.artifacts },
    moved: written.map(({ moved }) => moved),
  };
}

type Drawn = {
  readonly planned: PlannedStream;
  readonly snapshot: SnapshotRow | null;
  readonly changes: readonly Change[];
};
type Change = { readonly view: string; readonly row: Row; readonly was: Row; readonly data: string };

function drawRows({ folds, projections }: Parts, planned: PlannedStream): Drawn {
  const { stream, before, after } = planned;
  const changes = projections.of(stream.kind).map((projection): Change => {
    const row = rowOf(projection, stream, after.state);
    const was = before.seq === 0 ? undefined : rowOf(projection, stream, before.state);
    return { view: projection.view, row, was, data: JSON.stringify(row?.data ?? null) };
  });
  return { planned, snapshot: snapshotOf(foldOf(folds, stream.kind).version, planned), changes };
}

function numbered(places: Places, tid: number, { planned, snapshot, changes }: Drawn) {
  const { stream, name, before, after, entries } = planned;
  const known = sidOf(before);
  const sid = known ?? places.takeSid();
  const rows: StreamRows = {
    sid,
    name: known === undefined ? name : null,
    position: places.takePositions(entries.length),
    seq: before.seq + 1,
    entries,
    snapshot,
    views: changes.map((change) => viewChange({ tid, sid }, change)),
  };
  const { seq, hash, at, state } = after;
  const head = { seq, hash, at, state, sid, size: snapshot?.state.length ?? after.size };
  return { rows, moved: { stream, name, head } };
}

type Place = { readonly tid: number; readonly sid: number };
type Row = Omit<ViewRow, "stream"> | undefined;

export function viewChange({ tid, sid }: Place, { view, row, was, data }: Change): ViewChange {
  if (row === undefined) return { kind: "remove", view, sid };
  const { bucket, at, due } = row;
  const isInPlace = was !== undefined && was.at === at && was.due === due;
  return { kind: "write", view, sid, tid, bucket, at, due, data, isInPlace };
}

/** A plan hands back the head that it was given; one that has no number yet is of a new stream. */
function sidOf(head: Head): number | undefined {
  return "sid" in head && typeof head.sid === "number" && head.sid > 0 ? head.sid : undefined;
}
