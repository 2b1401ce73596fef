/**
 * The heads and states of streams, from a bounded cache if that is safe and from the file otherwise.
 * - A cached head is used without a read only while no other connection has committed (`PRAGMA data_version`).
 * - Otherwise the head row is read inside the transaction; the cached state is used only if the row is the same.
 * - Changes of a batch enter the cache after its commit, never before.
 * Snapshots store a state every so many entries, so that a long stream is not folded from its first entry. They are a
 * cache: losing one costs time.
 */
import type { DatabaseSync } from "node:sqlite";
import { deserialize, serialize } from "node:v8";
import type { StreamKind } from "../../kernel/registry.ts";
import { type StreamRef, streamName } from "../../kernel/stream.ts";
import type { Folds } from "../../states.ts";
import type { PlannedStream } from "../decision.ts";
import { unpackEntries } from "../entry-rows.ts";
import {
  type CacheLimit,
  createCache,
  emptyHead,
  foldEntry,
  foldOf,
  type Head,
  isStreamOver,
} from "../head.ts";
import { hex } from "./connect.ts";
import { SQLITE_ENTRY_COLUMNS, sqliteEntryRow } from "./read.ts";

export const SQLITE_SNAPSHOT_EVERY = 200;

type SqliteSnapshot = {
  readonly seq: number;
  /** Hash of the last folded entry: a snapshot is valid only if that entry exists. */
  readonly hash: string;
  readonly state: unknown;
  readonly size: number;
};

export type SqliteSnapshots = {
  /** Undefined if there is none, or if another version of the fold made it. */
  find(sid: number, version: number): SqliteSnapshot | undefined;
  /** Returns the state's size if it was stored. */
  keep(sid: number, version: number, planned: PlannedStream): number | undefined;
};

export function prepareSqliteSnapshots(db: DatabaseSync): SqliteSnapshots {
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
      if (Math.floor(after.seq / SQLITE_SNAPSHOT_EVERY) === Math.floor(before.seq / SQLITE_SNAPSHOT_EVERY))
        return undefined;
      const bytes = serialize(after.state);
      upsert.run(sid, after.seq, version, Buffer.from(after.hash, "hex"), bytes);
      return bytes.length;
    },
  };
}

/** V8's own format supports big integers. A Node too old to read a newer one's bytes folds the stream again. */
function unpack(bytes: Uint8Array): { readonly state: unknown } | undefined {
  try {
    return { state: deserialize(bytes) };
  } catch {
    return undefined;
  }
}

/** `sid` is 0 if the stream is not in the file. */
type SqliteHead = Head & { readonly sid: number };

export type SqliteHeads = {
  /** Inside a transaction, before its first head. */
  refresh(): void;
  /** Whether other processes wrote since this was last asked. A refresh for a read does not hide it from the writer. */
  othersWrote(): boolean;
  head(tid: number, stream: StreamRef, name: string): SqliteHead;
  moved(tid: number, stream: StreamRef, name: string, head: SqliteHead): void;
  committed(): void;
  rolledBack(): void;
  /** Discards everything cached. */
  clear(): void;
};

type Options = {
  readonly db: DatabaseSync;
  readonly folds: Folds;
  readonly snapshots: SqliteSnapshots;
  readonly most: CacheLimit;
};
type Cached = { readonly head: SqliteHead; readonly look: number };

export function prepareSqliteHeads({ db, folds, snapshots, most }: Options): SqliteHeads {
  const version = db.prepare("PRAGMA data_version");
  const load = prepareLoad({ db, folds, snapshots });
  const cache = createCache<Cached>(most, ({ head }) => head.size);
  const batch = new Map<string, { readonly kind: StreamKind; readonly head: SqliteHead }>();
  let seen = -1;
  let look = 0;
  let others = false;
  return {
    refresh() {
      const now = Number(version.get()?.["data_version"]);
      if (now === seen) return;
      look += 1;
      seen = now;
      others = true;
    },
    othersWrote() {
      const wrote = others;
      others = false;
      return wrote;
    },
    head(tid, stream, name) {
      const key = `${tid}/${name}`;
      const pending = batch.get(key);
      if (pending !== undefined) return pending.head;
      const cached = cache.get(key);
      if (cached?.look === look) return cached.head;
      const head = load(tid, stream, { name, cached: cached?.head });
      // Most switches never exist: that a stream is absent is worth caching too.
      cache.set(key, { head, look });
      return head;
    },
    moved: (tid, { kind }, name, head) => batch.set(`${tid}/${name}`, { kind, head }),
    committed() {
      for (const [key, { kind, head }] of batch) {
        if (isStreamOver(folds, kind, head)) cache.forget(key);
        else cache.set(key, { head, look });
      }
      batch.clear();
    },
    rolledBack: () => batch.clear(),
    clear() {
      cache.clear();
      seen = -1;
    },
  };
}

type Load = (
  tid: number,
  stream: StreamRef,
  from: { name: string; cached: SqliteHead | undefined },
) => SqliteHead;

function prepareLoad({ db, folds, snapshots }: Omit<Options, "most">): Load {
  const findStream = db.prepare("SELECT sid FROM hp_streams WHERE tid = ? AND name = ?");
  const last = db.prepare("SELECT seq, hash FROM hp_entries WHERE sid = ? ORDER BY seq DESC LIMIT 1");
  const newer = db.prepare(
    `SELECT ${SQLITE_ENTRY_COLUMNS} FROM hp_entries WHERE sid = ? AND seq > ? ORDER BY seq`,
  );
  const place = db.prepare(`SELECT ${SQLITE_ENTRY_COLUMNS} FROM hp_entries WHERE sid = ? AND seq = ?`);

  const start = (sid: number, stream: StreamRef): Head => {
    const snapshot = snapshots.find(sid, foldOf(folds, stream.kind).version);
    const row = snapshot && place.get(sid, snapshot.seq);
    if (snapshot === undefined || row === undefined || hex(row["hash"]) !== snapshot.hash)
      return emptyHead(folds, stream.kind);
    return {
      seq: snapshot.seq,
      hash: snapshot.hash,
      at: unpackEntries(sqliteEntryRow(row), NO_PLACE).at(-1)?.at ?? 0,
      state: snapshot.state,
      size: snapshot.size,
    };
  };
  return (tid, stream, { name, cached }) => {
    const sid = cached?.sid || Number(findStream.get(tid, name)?.["sid"] ?? 0);
    const row = sid === 0 ? undefined : last.get(sid);
    if (row === undefined) return { ...emptyHead(folds, stream.kind), sid };
    const seq = Number(row["seq"]);
    const hash = hex(row["hash"]);
    if (cached?.seq === seq && cached.hash === hash) return cached;
    let head = cached !== undefined && cached.seq < seq ? cached : start(sid, stream);
    for (const row of newer.iterate(sid, head.seq)) head = foldSqliteRow(folds, stream, head, row);
    return { ...head, sid };
  };
}

/** A fold needs no header, so neither the tenant's name. */
const NO_PLACE = { tenant: "", stream: "" };

export function foldSqliteRow(
  folds: Folds,
  stream: StreamRef,
  from: Head,
  row: Record<string, unknown>,
): Head {
  let head = from;
  for (const entry of unpackEntries(sqliteEntryRow(row), { tenant: "", stream: streamName(stream) }))
    if (entry.seq > from.seq) head = foldEntry(folds, stream.kind, head, entry);
  return head;
}
