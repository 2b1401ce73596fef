/**
 * The journal of one connection: all its prepared statements, and a decision with them. The plan of a decision is made
 * and written in one transaction. A tenant has a number, names that lead to its streams, and values outside its entries:
 * artifacts and encrypted secrets.
 */
import type { DatabaseSync, StatementSync } from "node:sqlite";
import { setImmediate as nextTurn } from "node:timers/promises";
import { deflateRawSync, inflateRawSync } from "node:zlib";
import { sha256 } from "../../kernel/canonical-json.ts";
import { HoldpointError } from "../../kernel/errors.ts";
import type { Artifact } from "../../kernel/stored-value.ts";
import { parseStreamRef, type StreamRef, streamName } from "../../kernel/stream.ts";
import { type Decide, MOST_INDEXED, type Needs } from "../../kernel/transaction.ts";
import type { Folds } from "../../states.ts";
import {
  checkStoredText,
  isRead,
  type PlannedName,
  type PlannedStream,
  planAtOnce,
  planReadOnly,
  type TransactionContext,
  type TransactionPlan,
} from "../decision.ts";
import { packEntries } from "../entry-rows.ts";
import { type CacheLimit, emptyHead, foldOf, type Head, stateBefore } from "../head.ts";
import type { Projections } from "../views.ts";
import { type BusyRetry, retryWhileBusy } from "./errors.ts";
import { type BatchMarker, createBatchMarker, type PreparedWrite, type Writer } from "./group-commit.ts";
import {
  prepareSqliteHeads,
  prepareSqliteSnapshots,
  type SqliteHeads,
  type SqliteSnapshots,
} from "./heads.ts";
import { prepareSqliteReads, prepareSqliteSeals, type SqliteReads, type SqliteSeals } from "./read.ts";
import { prepareSqliteViews, type SqliteViews } from "./views.ts";

type SqliteTenants = {
  /** Undefined if nothing was ever written for this tenant. */
  find(tenant: string): number | undefined;
  ensure(tenant: string): number;
  name(tid: number): string;
  /** After a rollback: numbers assigned in it are not in the file. */
  forget(): void;
  withEntries(): readonly string[];
};

function prepareSqliteTenants(db: DatabaseSync): SqliteTenants {
  const select = db.prepare("SELECT tid FROM hp_tenants WHERE tenant = ?");
  const insert = db.prepare("INSERT INTO hp_tenants (tenant) VALUES (?)");
  const byNumber = db.prepare("SELECT tenant FROM hp_tenants WHERE tid = ?");
  const list = db.prepare(
    "SELECT tenant FROM hp_tenants t WHERE EXISTS (SELECT 1 FROM hp_streams s WHERE s.tid = t.tid)",
  );
  const known = new Map<string, number>();
  const find = (tenant: string): number | undefined => {
    const cached = known.get(tenant);
    if (cached !== undefined) return cached;
    const row = select.get(tenant);
    if (row === undefined) return undefined;
    known.set(tenant, Number(row["tid"]));
    return Number(row["tid"]);
  };
  return {
    find,
    ensure(tenant) {
      const found = find(tenant);
      if (found !== undefined) return found;
      const tid = Number(insert.run(tenant).lastInsertRowid);
      known.set(tenant, tid);
      return tid;
    },
    name: (tid) => String(byNumber.get(tid)?.["tenant"]),
    forget: () => known.clear(),
    withEntries: () =>
      list
        .all()
        .map((row) => String(row["tenant"]))
        .sort(),
  };
}

type Names = {
  find(tid: number, name: string): StreamRef | undefined;
  lead(tid: number, planned: PlannedName): void;
};

function prepareNames(db: DatabaseSync): Names {
  const select = db.prepare("SELECT stream FROM hp_names WHERE tid = ? AND name = ?");
  const upsert = db.prepare("INSERT OR REPLACE INTO hp_names (tid, name, stream) VALUES (?, ?, ?)");
  return {
    find(tid, name) {
      const row = select.get(tid, name);
      return row === undefined ? undefined : parseStreamRef(String(row["stream"]));
    },
    lead(tid, { name, stream }) {
      upsert.run(tid, name, streamName(stream));
    },
  };
}

type AppendTables = {
  readonly db: DatabaseSync;
  readonly folds: Folds;
  readonly heads: SqliteHeads;
  readonly names: Names;
  readonly artifacts: SqliteArtifacts;
  readonly snapshots: SqliteSnapshots;
  readonly views: SqliteViews;
  readonly marker: BatchMarker;
  readonly positions: SqlitePositions;
};

/** Positions of entries: a row has that of its last one. */
type SqlitePositions = {
  /** Inside the write transaction: the last of the next positions. */
  take(count: number): number;
  /** Others wrote, or this transaction was rolled back: look again. */
  forget(): void;
};

function preparePositions(db: DatabaseSync): SqlitePositions {
  const last = db.prepare("SELECT coalesce(max(position), 0) AS position FROM hp_entries");
  let known: number | undefined;
  return {
    take(count) {
      known = (known ?? Number(last.get()?.["position"])) + count;
      return known;
    },
    forget() {
      known = undefined;
    },
  };
}

type WritePlan = (tid: number, plan: TransactionPlan<unknown>) => void;

function prepareSqliteAppend(tables: AppendTables): WritePlan {
  const { db, folds, heads, names, artifacts, snapshots, views, marker, positions } = tables;
  const insertStream = db.prepare("INSERT INTO hp_streams (tid, name) VALUES (?, ?)");
  const insertEntry = db.prepare(
    "INSERT INTO hp_entries (position, tid, sid, seq, header, hash, chain, salt, body) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
  );
  const writeStream = (tid: number, planned: PlannedStream) => {
    const { stream, name, before, after } = planned;
    const sid = sidOf(before) ?? Number(insertStream.run(tid, name).lastInsertRowid);
    const { header, chain, salt, body } = packEntries(planned.entries);
    const position = positions.take(planned.entries.length);
    insertEntry.run(position, tid, sid, after.seq, header, bytesOf(after.hash), chain, salt, body);
    marker.set(position, after.hash);
    const size = snapshots.keep(sid, foldOf(folds, stream.kind).version, planned) ?? after.size;
    views.write({ tid, sid }, stream, { before: stateBefore(before), after: after.state });
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

const bytesOf = (hex: string): Buffer => Buffer.from(hex, "hex");

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
  readonly positions: SqlitePositions;
  readonly append: WritePlan;
  readonly beginRead: StatementSync;
  readonly endRead: StatementSync;
};

export function prepareSqliteJournal(parts: SqliteJournalParts): SqliteJournal {
  const { db, folds, projections, mostHeads } = parts;
  const snapshots = prepareSqliteSnapshots(db);
  const heads = prepareSqliteHeads({ db, folds, snapshots, most: mostHeads });
  const names = prepareNames(db);
  const artifacts = prepareSqliteArtifacts(db);
  const views = prepareSqliteViews(db, projections);
  const marker = createBatchMarker();
  const positions = preparePositions(db);
  return {
    ...parts,
    heads,
    names,
    artifacts,
    views,
    marker,
    positions,
    tenants: prepareSqliteTenants(db),
    secrets: prepareSqliteSecrets(db),
    reads: prepareSqliteReads(db, parts.patience),
    seals: prepareSqliteSeals(db),
    append: prepareSqliteAppend({ db, folds, heads, names, artifacts, snapshots, views, marker, positions }),
    beginRead: db.prepare("BEGIN"),
    endRead: db.prepare("ROLLBACK"),
  };
}

type WritingJournal = { readonly journal: SqliteJournal; readonly writer: Writer };

export async function transactSqlite<Result>(
  { journal, writer }: WritingJournal,
  tenant: string,
  needs: Needs,
  decide: Decide<Result>,
): Promise<Result> {
  checkStoredText("tenant", tenant);
  if (isRead(needs)) {
    // A caller that reads in a loop must not keep the process from everything else.
    await nextTurn();
    const read = await retryWhileBusy(journal.patience, () => readOnly(journal, tenant, needs, decide));
    if (read !== undefined) return read.result;
  }
  return new Promise((resolve, refuse) => {
    const prepare = (): PreparedWrite => {
      const plan = planAtOnce(sqliteContext(journal, tenant), needs, decide);
      return { write: () => writeSqlitePlan(journal, tenant, plan), answer: () => resolve(plan.result) };
    };
    writer.submit({ prepare, refuse });
  });
}

/** A read sees one snapshot and waits for no writer, of this process or another. */
function readOnly<Result>(
  journal: SqliteJournal,
  tenant: string,
  needs: Needs,
  decide: Decide<Result>,
): TransactionPlan<Result> | undefined {
  const { db, heads, beginRead, endRead } = journal;
  // The writer's transaction is open only while it runs, so a decision itself has asked: it is made in its turn.
  if (db.isTransaction) return undefined;
  beginRead.run();
  try {
    heads.refresh();
    return planReadOnly(sqliteContext(journal, tenant), needs, decide);
  } finally {
    if (db.isTransaction) endRead.run();
  }
}

export function sqliteContext(journal: SqliteJournal, tenant: string): TransactionContext {
  const { tenants, heads, names, views, folds, clock, random } = journal;
  const tid = tenants.find(tenant);
  return {
    tenant,
    folds,
    random,
    now: () => clock.now(),
    head: (stream: StreamRef, name: string) =>
      tid === undefined ? emptyHead(folds, stream.kind) : heads.head(tid, stream, name),
    name: (name: string) => (tid === undefined ? undefined : names.find(tid, name)),
    // The index includes rows of earlier members of the batch.
    index: ({ view, key }) =>
      tid === undefined ? [] : views.query(tid, { view, bucket: key, order: "newest", limit: MOST_INDEXED }),
  };
}

export function writeSqlitePlan(
  { tenants, append }: SqliteJournal,
  tenant: string,
  plan: TransactionPlan<unknown>,
): void {
  if (plan.streams.length + plan.names.length + plan.artifacts.length === 0) return;
  append(tenants.ensure(tenant), plan);
}

type SqliteArtifacts = {
  find(tid: number, hash: string): Uint8Array | undefined;
  /** Existing bytes are not written again: the hash is the key. */
  put(tid: number, artifact: Artifact): void;
};

function prepareSqliteArtifacts(db: DatabaseSync): SqliteArtifacts {
  const select = db.prepare("SELECT packed, bytes FROM hp_artifacts WHERE tid = ? AND hash = ?");
  const insert = db.prepare("INSERT INTO hp_artifacts (tid, hash, packed, bytes) VALUES (?, ?, ?, ?)");
  const exists = db.prepare("SELECT 1 FROM hp_artifacts WHERE tid = ? AND hash = ?");
  return {
    find(tid, hash) {
      if (!/^[0-9a-f]{64}$/.test(hash)) return undefined;
      const row = select.get(tid, Buffer.from(hash, "hex"));
      if (row === undefined || !(row["bytes"] instanceof Uint8Array)) return undefined;
      return unpacked(hash, row["packed"] === 1, row["bytes"]);
    },
    put(tid, { hash, bytes }) {
      const key = Buffer.from(hash, "hex");
      if (exists.get(tid, key) !== undefined) return;
      const packed = deflateRawSync(bytes, { level: 1 });
      const smaller = packed.length < bytes.length;
      insert.run(tid, key, smaller ? 1 : 0, smaller ? packed : bytes);
    },
  };
}

function unpacked(hash: string, packed: boolean, bytes: Uint8Array): Uint8Array {
  const plain = new Uint8Array(packed ? inflated(hash, bytes) : bytes);
  if (sha256(plain) === hash) return plain;
  throw new HoldpointError("store_corrupt", `The artifact ${hash} is not what was stored.`);
}

function inflated(hash: string, bytes: Uint8Array): Uint8Array {
  try {
    return inflateRawSync(bytes);
  } catch (error) {
    throw unreadable(hash, error);
  }
}

function unreadable(hash: string, cause: unknown): HoldpointError {
  return new HoldpointError("store_corrupt", `The artifact ${hash} cannot be unpacked.`, { cause });
}

type SqliteSecrets = {
  find(tid: number, id: string): Uint8Array | undefined;
  put(tid: number, id: string, sealed: Uint8Array): void;
};

function prepareSqliteSecrets(db: DatabaseSync): SqliteSecrets {
  const select = db.prepare("SELECT sealed FROM hp_secrets WHERE tid = ? AND id = ?");
  const upsert = db.prepare("INSERT OR REPLACE INTO hp_secrets (tid, id, sealed) VALUES (?, ?, ?)");
  return {
    find(tid, id) {
      const sealed = select.get(tid, id)?.["sealed"];
      return sealed instanceof Uint8Array ? sealed : undefined;
    },
    put(tid, id, sealed) {
      upsert.run(tid, id, sealed);
    },
  };
}
