/** Writes a plan. Runs inside the transaction that the plan was made in. */
import type { DatabaseSync } from "node:sqlite";
import type { Folds } from "../../states.ts";
import { foldOf, type Head } from "../head.ts";
import type { Plan, PlannedStream } from "../plan.ts";
import type { Artifacts } from "./artifacts.ts";
import type { Heads } from "./heads.ts";
import type { Names } from "./names.ts";
import type { Snapshots } from "./snapshots.ts";
import type { Views } from "./views.ts";

export type Tables = {
  readonly db: DatabaseSync;
  readonly folds: Folds;
  readonly heads: Heads;
  readonly names: Names;
  readonly artifacts: Artifacts;
  readonly snapshots: Snapshots;
  readonly views: Views;
  readonly marker: Marker;
};

/** The last entry of a batch, by which a commit that failed half-way can be found again. */
export type Marker = {
  set(position: number, hash: string): void;
  last(): { readonly position: number; readonly hash: string } | undefined;
  clear(): void;
};

export function createMarker(): Marker {
  let last: { position: number; hash: string } | undefined;
  return {
    set: (position, hash) => {
      last = { position, hash };
    },
    last: () => last,
    clear: () => {
      last = undefined;
    },
  };
}

export type WritePlan = (tid: number, plan: Plan<unknown>) => void;

export function prepareAppend(tables: Tables): WritePlan {
  const { db, folds, heads, names, artifacts, snapshots, views, marker } = tables;
  const insertStream = db.prepare("INSERT INTO hp_streams (tid, name) VALUES (?, ?)");
  const insertEntry = db.prepare(
    "INSERT INTO hp_entries (tid, sid, seq, header, hash, salt, body) VALUES (?, ?, ?, ?, ?, ?, ?)",
  );
  const writeStream = (tid: number, planned: PlannedStream) => {
    const { stream, name, before, after } = planned;
    const sid = sidOf(before) ?? Number(insertStream.run(tid, name).lastInsertRowid);
    let seq = before.seq;
    for (const { header, hash, salt, body } of planned.entries) {
      const { lastInsertRowid } = insertEntry.run(
        tid,
        sid,
        ++seq,
        header,
        bytesOf(hash),
        bytesOf(salt),
        body,
      );
      marker.set(Number(lastInsertRowid), hash);
    }
    const size = snapshots.keep(sid, foldOf(folds, stream.kind).version, planned) ?? after.size;
    const states = before.seq === 0 ? { after: after.state } : { before: before.state, after: after.state };
    views.write({ tid, sid }, stream, states);
    heads.moved(tid, stream, name, { ...after, sid, size });
  };
  return (tid, plan) => {
    for (const planned of plan.streams) writeStream(tid, planned);
    for (const name of plan.names) names.lead(tid, name);
    for (const artifact of plan.artifacts) artifacts.put(tid, artifact);
  };
}

/** A plan hands back the head that it was given; one that has no number yet is of a new stream. */
function sidOf(head: Head): number | undefined {
  return "sid" in head && typeof head.sid === "number" && head.sid > 0 ? head.sid : undefined;
}

const bytesOf = (hex: string | null): Buffer | null => (hex === null ? null : Buffer.from(hex, "hex"));
