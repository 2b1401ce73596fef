/** Reads the journal in pages, the changes since a position, and the seals of a tenant. */

import type { DatabaseSync } from "node:sqlite";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { Seal, SealDraft } from "../../journal/seal.ts";
import { checkSeal, draftSeal, type LastSeal } from "../../journal/seal.ts";
import { findStreamRef } from "../../kernel/stream.ts";
import { type EntryRow, unpackEntries } from "../entry-rows.ts";
import type { JournalEntry, StoreChanges } from "../store.ts";
import { hex } from "./connect.ts";
import { type BusyRetry, retryWhileBusy } from "./errors.ts";

type TenantNumber = { readonly tid: number; readonly tenant: string };

export type SqliteReads = {
  stream(
    tenant: TenantNumber,
    name: string,
    options: { fromSeq: number; limit: number },
  ): Promise<readonly JournalEntry[]>;
  log(tenant: TenantNumber, after: number, limit: number): Promise<readonly JournalEntry[]>;
  position(): number;
  moved(after: number): StoreChanges;
};

const PAGE = 256;
/** A follower that slept for long gets its changes in portions. */
const MOST_MOVES = 20_000;
export const SQLITE_ENTRY_COLUMNS = "position, seq, header, hash, chain, salt, body";
/** Number of entries in a row. */
const COUNT = "coalesce(length(chain) / 64, 1)";

export function prepareSqliteReads(db: DatabaseSync, patience: BusyRetry): SqliteReads {
  const stream = db.prepare(
    `SELECT ${SQLITE_ENTRY_COLUMNS}, ? AS tenant, ? AS name FROM hp_entries
     WHERE sid = (SELECT sid FROM hp_streams WHERE tid = ? AND name = ?) AND seq > ? ORDER BY seq LIMIT ?`,
  );
  const log = db.prepare(
    `SELECT e.position, e.seq, e.header, e.hash, e.chain, e.salt, e.body, s.name FROM hp_entries e
     CROSS JOIN hp_streams s ON s.sid = e.sid WHERE e.tid = ? AND e.position > ? ORDER BY e.position LIMIT ?`,
  );
  const position = db.prepare("SELECT coalesce(max(position), 0) AS position FROM hp_entries");
  return {
    stream: ({ tid, tenant }, name, { fromSeq, limit }) =>
      paged({ patience, tenant, place: "seq", after: fromSeq - 1, limit }, (after, many) =>
        stream.all(tenant, name, tid, name, after, many),
      ),
    log: ({ tid, tenant }, after, limit) =>
      paged({ patience, tenant, place: "position", after, limit }, (place, many) =>
        log.all(tid, place, many),
      ),
    position: () => Number(position.get()?.["position"]),
    moved: prepareMoved(db),
  };
}

type Paging = {
  readonly patience: BusyRetry;
  readonly tenant: string;
  readonly place: "seq" | "position";
  readonly after: number;
  readonly limit: number;
};
type Row = Record<string, unknown>;

/** Yields between two pages, and no page keeps a snapshot of the file open. A page may begin inside a row. */
async function paged(
  { patience, tenant, place, after: start, limit }: Paging,
  page: (after: number, many: number) => readonly Row[],
): Promise<readonly JournalEntry[]> {
  const entries: JournalEntry[] = [];
  for (let after = start; entries.length < limit; await nextTurn()) {
    const wanted = Math.min(PAGE, limit - entries.length);
    const rows = await retryWhileBusy(patience, () => page(after, wanted));
    for (const row of rows)
      for (const entry of unpackEntries(sqliteEntryRow(row), { tenant, stream: String(row["name"]) }))
        if (entry[place] > start) entries.push(entry);
    if (rows.length < wanted) break;
    after = Number(rows.at(-1)?.[place]);
  }
  return entries.length > limit ? entries.slice(0, limit) : entries;
}

const bytes = (value: unknown): Buffer | null =>
  value instanceof Uint8Array ? Buffer.from(value.buffer, value.byteOffset, value.byteLength) : null;

export function sqliteEntryRow(row: Row): EntryRow {
  return {
    position: Number(row["position"]),
    seq: Number(row["seq"]),
    header: String(row["header"]),
    hash: hex(row["hash"]),
    chain: bytes(row["chain"]),
    salt: bytes(row["salt"]),
    body: row["body"] === null ? null : String(row["body"]),
  };
}

function prepareMoved(db: DatabaseSync): (after: number) => StoreChanges {
  const last = db.prepare(
    "SELECT max(position) AS position FROM (SELECT position FROM hp_entries WHERE position > ? ORDER BY position LIMIT ?)",
  );
  const moves = db.prepare(
    `SELECT t.tenant, s.name FROM (SELECT DISTINCT sid FROM hp_entries WHERE position > ? AND position <= ?) e
     JOIN hp_streams s ON s.sid = e.sid JOIN hp_tenants t ON t.tid = s.tid`,
  );
  return (after) => {
    const position = last.get(after, MOST_MOVES)?.["position"];
    if (typeof position !== "number") return { position: after, streams: [] };
    const rows = moves.all(after, position);
    const streams = rows.flatMap((row) => {
      const stream = findStreamRef(String(row["name"]));
      return stream === undefined ? [] : [{ tenant: String(row["tenant"]), stream }];
    });
    return { position, streams };
  };
}

type SqliteSealing = {
  readonly tid: number;
  readonly tenant: string;
  readonly incarnation: string;
  readonly now: number;
};

type SignedSeal = { readonly seal: Seal; keep(): void };

export type SqliteSeals = {
  /** Whether there are entries after the last seal. Needs no transaction. */
  isBehind(tid: number): boolean;
  /** Inside a write transaction: signs what moved; `keep` writes the seal. */
  sign(sealing: SqliteSealing, sign: (draft: SealDraft) => Seal): SignedSeal | undefined;
  list(tid: number, after: number): readonly Seal[];
  over(tid: number, position: number | "last"): Seal | undefined;
};

/** NOT INDEXED: for the grouping SQLite would read the whole journal in stream order, at every seal. */
export const LEAVES = `SELECT s.name, e.seq, e.hash FROM
  (SELECT sid, max(seq) AS seq FROM hp_entries NOT INDEXED WHERE tid = ? AND position > ? GROUP BY sid) m
  CROSS JOIN hp_entries e ON e.sid = m.sid AND e.seq = m.seq CROSS JOIN hp_streams s ON s.sid = m.sid`;

export function prepareSqliteSeals(db: DatabaseSync): SqliteSeals {
  const last = db.prepare(
    "SELECT n, at, position, entries, jws FROM hp_seals WHERE tid = ? ORDER BY n DESC LIMIT 1",
  );
  const span = db.prepare(
    `SELECT coalesce(sum(${COUNT}), 0) AS entries, max(position) AS position FROM hp_entries WHERE tid = ? AND position > ?`,
  );
  const leaves = db.prepare(LEAVES);
  const insert = db.prepare(
    "INSERT INTO hp_seals (tid, n, at, position, entries, jws, leaves) VALUES (?, ?, ?, ?, ?, ?, ?)",
  );
  const list = db.prepare("SELECT n, jws, leaves FROM hp_seals WHERE tid = ? AND n > ? ORDER BY n");
  const over = db.prepare(
    "SELECT n, jws, leaves FROM hp_seals WHERE tid = ? AND position >= ? ORDER BY position LIMIT 1",
  );
  const newest = db.prepare("SELECT n, jws, leaves FROM hp_seals WHERE tid = ? ORDER BY n DESC LIMIT 1");
  const behind = db.prepare(
    `SELECT 1 FROM hp_entries WHERE tid = ? AND position >
       coalesce((SELECT max(position) FROM hp_seals WHERE tid = ?), 0) LIMIT 1`,
  );
  return {
    isBehind: (tid) => behind.get(tid, tid) !== undefined,
    sign({ tid, ...sealing }, sign) {
      const before = lastSealFromRow(last.get(tid));
      const moved = span.get(tid, before?.position ?? 0);
      if (moved?.["entries"] === 0) return undefined;
      const draft = draftSeal({
        ...sealing,
        last: before,
        position: Number(moved?.["position"]),
        entries: Number(moved?.["entries"]),
        leaves: leaves.all(tid, before?.position ?? 0).map(leafFromRow),
      });
      const seal = checkSeal(draft, sign(draft));
      const { n, at, position, entries } = draft;
      return {
        seal,
        keep: () => void insert.run(tid, n, at, position, entries, seal.jws, JSON.stringify(seal.leaves)),
      };
    },
    list: (tid, after) => list.all(tid, after).map(sealFromRow),
    over(tid, position) {
      const row = position === "last" ? newest.get(tid) : over.get(tid, position);
      return row === undefined ? undefined : sealFromRow(row);
    },
  };
}

function lastSealFromRow(row: Record<string, unknown> | undefined): LastSeal | undefined {
  if (row === undefined) return undefined;
  const number = (column: string) => Number(row[column]);
  return {
    n: number("n"),
    at: number("at"),
    position: number("position"),
    entries: number("entries"),
    jws: String(row["jws"]),
  };
}

const leafFromRow = (row: Record<string, unknown>) => ({
  stream: String(row["name"]),
  seq: Number(row["seq"]),
  hash: hex(row["hash"]),
});

const sealFromRow = (row: Record<string, unknown>): Seal => ({
  n: Number(row["n"]),
  jws: String(row["jws"]),
  leaves: JSON.parse(String(row["leaves"])),
});
