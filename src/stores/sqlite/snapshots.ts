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
  /** Answers the state's size when it was kept. */
  keep(sid: number, version: number, planned: PlannedStream): number | undefined;
};

export function prepareSnapshots(db: DatabaseSync): Snapshots {
  const select = db.prepare("SELECT seq, hash, state FROM hp_snapshots WHERE sid = ? AND version = ?");
  const upsert = db.prepare(
    "INSERT OR REPLACE INTO hp_snapshots (sid, seq, version, hash, state) VALUES (?, ?, ?, ?, ?)",
  );
  return {
    find(sid, version) {
      const row = select.get(sid, version);
      if (row === undefined || !(row["state"] instanceof Uint8Array)) return undefined;
      const state = unpack(row["state"]);
      const size = row["state"].length;
      return state && { seq: Number(row["seq"]), hash: hex(row["hash"]), state: state.state, size };
    },
    keep(sid, version, { before, after }) {
      if (Math.floor(after.seq / SNAPSHOT_EVERY) === Math.floor(before.seq / SNAPSHOT_EVERY))
        return undefined;
      const bytes = serialize(after.state);
      upsert.run(sid, after.seq, version, Buffer.from(after.hash, "hex"), bytes);
      return bytes.length;
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
