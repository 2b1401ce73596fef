/**
 * All prepared statements of one connection, and the writing of a plan with them, inside the transaction that the plan
 * was made in.
 */
import type { DatabaseSync } from "node:sqlite";
import type { Folds } from "../../states.ts";
import type { CacheLimit } from "../cache.ts";
import type { PlannedStream, TransactionPlan } from "../decision.ts";
import { foldOf, type Head } from "../head.ts";
import type { Projections } from "../views.ts";
import type { BusyRetry } from "./errors.ts";
import {
  prepareSqliteHeads,
  prepareSqliteSnapshots,
  type SqliteHeads,
  type SqliteSnapshots,
} from "./heads.ts";
import { prepareSqliteReads, prepareSqliteSeals, type SqliteReads, type SqliteSeals } from "./read.ts";
import {
  type Names,
  prepareNames,
  prepareSqliteArtifacts,
  prepareSqliteSecrets,
  prepareSqliteTenants,
  type SqliteArtifacts,
  type SqliteSecrets,
  type SqliteTenants,
} from "./tenant-tables.ts";
import { prepareSqliteViews, type SqliteViews } from "./views.ts";

type AppendTables = {
  readonly db: DatabaseSync;
  readonly folds: Folds;
  readonly heads: SqliteHeads;
  readonly names: Names;
  readonly artifacts: SqliteArtifacts;
  readonly snapshots: SqliteSnapshots;
  readonly views: SqliteViews;
  readonly marker: BatchMarker;
};

/** The last entry of a batch, which identifies a commit whose outcome is unknown. */
export type BatchMarker = {
  set(position: number, hash: string): void;
  last(): { readonly position: number; readonly hash: string } | undefined;
  clear(): void;
};

function createBatchMarker(): BatchMarker {
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

type WritePlan = (tid: number, plan: TransactionPlan<unknown>) => void;

function prepareSqliteAppend(tables: AppendTables): WritePlan {
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

/** A plan returns the head that it was given; one without a number is of a new stream. */
function sidOf(head: Head): number | undefined {
  return "sid" in head && typeof head.sid === "number" && head.sid > 0 ? head.sid : undefined;
}

const bytesOf = (hex: string | null): Buffer | null => (hex === null ? null : Buffer.from(hex, "hex"));

type SqliteJournalParts = {
  readonly db: DatabaseSync;
  readonly folds: Folds;
  readonly projections: Projections;
  readonly clock: { now(): number };
  readonly random: (bytes: number) => Uint8Array;
  readonly incarnation: string;
  readonly patience: BusyRetry;
  /** Limit of cached heads and states. */
  readonly mostHeads: CacheLimit;
};

export type SqliteJournal = SqliteJournalParts & {
  readonly tenants: SqliteTenants;
  readonly heads: SqliteHeads;
  readonly names: Names;
  readonly artifacts: SqliteArtifacts;
  readonly secrets: SqliteSecrets;
  readonly views: SqliteViews;
  readonly reads: SqliteReads;
  readonly seals: SqliteSeals;
  readonly marker: BatchMarker;
  readonly append: WritePlan;
};

export function prepareSqliteJournal(parts: SqliteJournalParts): SqliteJournal {
  const { db, folds, projections, mostHeads } = parts;
  const snapshots = prepareSqliteSnapshots(db);
  const heads = prepareSqliteHeads({ db, folds, snapshots, most: mostHeads });
  const names = prepareNames(db);
  const artifacts = prepareSqliteArtifacts(db);
  const views = prepareSqliteViews(db, projections);
  const marker = createBatchMarker();
  return {
    ...parts,
    heads,
    names,
    artifacts,
    views,
    marker,
    tenants: prepareSqliteTenants(db),
    secrets: prepareSqliteSecrets(db),
    reads: prepareSqliteReads(db, parts.patience),
    seals: prepareSqliteSeals(db),
    append: prepareSqliteAppend({ db, folds, heads, names, artifacts, snapshots, views, marker }),
  };
}
