/** States kept every so many entries, so that a long stream is not folded from its first. A cache: losing it costs time. */
import { deserialize, serialize } from "node:v8";
import type { Head } from "../head.ts";
import type { PlannedStream } from "../plan.ts";
import { bytesAt, hexAt, numberAt, textAt } from "./ask.ts";
import { bytes, hexes, integers, longs } from "./encode.ts";
import type { Row, Step } from "./pipeline.ts";

export const SNAPSHOT_EVERY = 200;

export type Snapshot = {
  readonly sid: number;
  readonly version: number;
  readonly head: Head;
  readonly state: Buffer;
};
export type Wanted = { readonly sid: number; readonly version: number };

export type Snapshots = {
  /** Of these streams, where there is one of the same version of the fold that stands on an entry of the journal. */
  find(wanted: readonly Wanted[]): Step;
  head(row: Row): { readonly sid: number; readonly head: Head } | undefined;
  keep(tid: number, snapshots: readonly Snapshot[]): Step;
};

export function prepareSnapshots(schema: string): Snapshots {
  const select = {
    name: "hp_snapshots",
    text: `SELECT p.sid, p.seq, p.hash, p.state, e.header FROM unnest($1::int8[], $2::int4[]) w (sid, version)
      CROSS JOIN LATERAL (SELECT * FROM ${schema}.hp_snapshots k WHERE k.sid = w.sid AND k.version = w.version OFFSET 0) p
      CROSS JOIN LATERAL (SELECT * FROM ${schema}.hp_entries i WHERE i.sid = p.sid AND i.seq = p.seq OFFSET 0) e
      WHERE e.hash = p.hash`,
  };
  const upsert = {
    name: "hp_keep_snapshots",
    text: `INSERT INTO ${schema}.hp_snapshots (sid, tid, seq, version, hash, state)
      SELECT sid, $1::int4, seq, version, hash, state
      FROM unnest($2::int8[], $3::int4[], $4::int4[], $5::bytea[], $6::bytea[]) p (sid, seq, version, hash, state)
      ON CONFLICT (sid) DO UPDATE
      SET seq = excluded.seq, version = excluded.version, hash = excluded.hash, state = excluded.state`,
  };
  return {
    find: (wanted) => ({
      statement: select,
      values: [longs(wanted.map(({ sid }) => sid)), integers(wanted.map(({ version }) => version))],
    }),
    head: snapshotHead,
    keep: (tid, kept) => ({
      statement: upsert,
      values: [
        tid,
        longs(kept.map(({ sid }) => sid)),
        integers(kept.map(({ head }) => head.seq)),
        integers(kept.map(({ version }) => version)),
        hexes(kept.map(({ head }) => head.hash)),
        bytes(kept.map(({ state }) => state)),
      ],
    }),
  };
}

/** V8's own format knows big integers; a Node too old for what a newer one wrote simply folds the stream again. */
function snapshotHead(row: Row): { readonly sid: number; readonly head: Head } | undefined {
  const packed = bytesAt(row, 3);
  try {
    const head: Head = {
      seq: numberAt(row, 1),
      hash: hexAt(row, 2),
      at: JSON.parse(textAt(row, 4)).at,
      state: deserialize(packed),
      size: packed.length,
    };
    return { sid: numberAt(row, 0), head };
  } catch {
    return undefined;
  }
}

/** When a stream passes a place where its state is kept. */
export function snapshotOf(
  sid: number,
  version: number,
  { before, after }: PlannedStream,
): Snapshot | undefined {
  if (Math.floor(after.seq / SNAPSHOT_EVERY) === Math.floor(before.seq / SNAPSHOT_EVERY)) return undefined;
  return { sid, version, head: after, state: serialize(after.state) };
}
