/** States kept every so many entries, so that a long stream is not folded from its first. A cache: losing it costs time. */
import type { DatabaseSync } from "node:sqlite";
import { deserialize, serialize } from "node:v8";
import type { PlannedStream } from "../plan.ts";

export const SNAPSHOT_EVERY = 200;

export type Snapshot = { readonly seq: number; readonly state: unknown };

export type Snapshots = {
  /** undefined when there is none, or when it was made by another version of the fold. */
  find(sid: number, version: number): Snapshot | undefined;
  keep(sid: number, version: number, planned: PlannedStream): void;
};

export function prepareSnapshots(db: DatabaseSync): Snapshots {
  const select = db.prepare("SELECT seq, state FROM hp_snapshots WHERE sid = ? AND version = ?");
  const upsert = db.prepare(
    "INSERT OR REPLACE INTO hp_snapshots (sid, seq, version, state) VALUES (?, ?, ?, ?)",
  );
  return {
    find(sid, version) {
      const row = select.get(sid, version);
      if (row === undefined || !(row["state"] instanceof Uint8Array)) return undefined;
      const state = unpack(row["state"]);
      return state && { seq: Number(row["seq"]), state: state.state };
    },
    keep(sid, version, { before, after }) {
      if (Math.floor(after.seq / SNAPSHOT_EVERY) === Math.floor(before.seq / SNAPSHOT_EVERY)) return;
      upsert.run(sid, after.seq, version, serialize(after.state));
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
