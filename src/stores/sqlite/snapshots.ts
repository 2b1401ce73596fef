/** States kept every so many entries, so that a long stream is not folded from its first. A cache: losing it costs time. */
import type { DatabaseSync } from "node:sqlite";
import { deserialize, serialize } from "node:v8";
import type { PlannedStream } from "../plan.ts";
import { hex } from "./hex.ts";

export const SNAPSHOT_EVERY = 200;

export type Snapshot = {
  readonly seq: number;
  /** Of the entry that the state was folded up to: a snapshot counts only where that entry is. */
  readonly hash: string;
  readonly state: unknown;
  readonly size: number;
};

export type Snapshots = {
  /** undefined when there is none, or when it was made by another version of the fold. */
  find(sid: number, version: number): Snapshot | undefined;
};

export type SnapshotRow = {
  readonly seq: number;
  readonly version: number;
  readonly hash: string;
  readonly state: Uint8Array;
};

/** null while it is not time for the next one. */
export function snapshotOf(version: number, { before, after }: PlannedStream): SnapshotRow | null {
  if (Math.floor(after.seq / SNAPSHOT_EVERY) === Math.floor(before.seq / SNAPSHOT_EVERY)) return null;
  return { seq: after.seq, version, hash: after.hash, state: serialize(after.state) };
}

export function prepareSnapshots(db: DatabaseSync): Snapshots {
  const select = db.prepare("SELECT seq, hash, state FROM hp_snapshots WHERE sid = ? AND version = ?");
  return {
    find(sid, version) {
      const row = select.get(sid, version);
      if (row === undefined || !(row["state"] instanceof Uint8Array)) return undefined;
      const state = unpack(row["state"]);
      const size = row["state"].length;
      return state && { seq: Number(row["seq"]), hash: hex(row["hash"]), state: state.state, size };
    },
  };
}

/** V8's own format knows big integers; a Node too old for what a newer one wrote simply folds the stream again. */
function unpack(bytes: Uint8Array): { readonly state: unknown } | undefined {
  try {
    return { state: deserialize(bytes) };
  } catch {
    return undefined;
  }
}
