/**
 * The heads and states of streams, from a bounded cache where that is safe and from the file otherwise.
 *
 * H1. A cached head is used without a read only while no other connection has committed (`PRAGMA data_version`).
 * H2. Otherwise the head row is read inside the transaction; the cached state counts only if the row is the same.
 * H3. What a batch moved enters the cache after its commit, never before.
 */
import type { DatabaseSync } from "node:sqlite";
import type { StreamKind, StreamRef } from "../../kernel/stream.ts";
import type { Folds } from "../../states.ts";
import { createCache, type Most } from "../cache.ts";
import { emptyHead, foldEntry, foldOf, type Head, isOver } from "../head.ts";
import { hex } from "./hex.ts";
import type { Snapshots } from "./snapshots.ts";

/** `sid` is 0 while the stream is not in the file. */
export type SqliteHead = Head & { readonly sid: number };

export type Heads = {
  /** Inside the transaction, before the first head: did others write since the last time? */
  refresh(): boolean;
  head(tid: number, stream: StreamRef, name: string): SqliteHead;
  moved(tid: number, stream: StreamRef, name: string, head: SqliteHead): void;
  committed(): void;
  rolledBack(): void;
  /** Trusts nothing that was seen before. */
  clear(): void;
};

type Options = {
  readonly db: DatabaseSync;
  readonly folds: Folds;
  readonly snapshots: Snapshots;
  readonly most: Most;
};
type Cached = { readonly head: SqliteHead; readonly look: number };

export function prepareHeads({ db, folds, snapshots, most }: Options): Heads {
  const version = db.prepare("PRAGMA data_version");
  const load = prepareLoad({ db, folds, snapshots });
  const cache = createCache<Cached>(most, ({ head }) => head.size);
  const batch = new Map<string, { readonly kind: StreamKind; readonly head: SqliteHead }>();
  let seen = -1;
  let look = 0;
  return {
    refresh() {
      const now = Number(version.get()?.["data_version"]);
      const others = now !== seen;
      if (others) look += 1;
      seen = now;
      return others;
    },
    head(tid, stream, name) {
      const key = `${tid}/${name}`;
      const pending = batch.get(key);
      if (pending !== undefined) return pending.head;
      const cached = cache.get(key);
      if (cached?.look === look) return cached.head;
      const head = load(tid, stream, { name, cached: cached?.head });
      if (head.seq > 0) cache.set(key, { head, look });
      return head;
    },
    moved: (tid, { kind }, name, head) => batch.set(`${tid}/${name}`, { kind, head }),
    committed() {
      for (const [key, { kind, head }] of batch) {
        if (isOver(folds, kind, head)) cache.forget(key);
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
    "SELECT header, hash, body FROM hp_entries WHERE sid = ? AND seq > ? ORDER BY seq",
  );
  const place = db.prepare("SELECT header, hash FROM hp_entries WHERE sid = ? AND seq = ?");

  const start = (sid: number, stream: StreamRef): Head => {
    const snapshot = snapshots.find(sid, foldOf(folds, stream.kind).version);
    const row = snapshot && place.get(sid, snapshot.seq);
    if (snapshot === undefined || row === undefined || hex(row["hash"]) !== snapshot.hash)
      return emptyHead(folds, stream.kind);
    return {
      seq: snapshot.seq,
      hash: snapshot.hash,
      at: JSON.parse(String(row["header"])).at,
      state: snapshot.state,
      size: snapshot.size,
    };
  };
  return (tid, stream, { name, cached }) => {
    const sid = cached?.sid ?? Number(findStream.get(tid, name)?.["sid"] ?? 0);
    const row = sid === 0 ? undefined : last.get(sid);
    if (row === undefined) return { ...emptyHead(folds, stream.kind), sid };
    const seq = Number(row["seq"]);
    const hash = hex(row["hash"]);
    if (cached?.seq === seq && cached.hash === hash) return cached;
    let head = cached !== undefined && cached.seq < seq ? cached : start(sid, stream);
    for (const entry of newer.iterate(sid, head.seq)) head = foldRow(folds, stream, head, entry);
    return { ...head, sid };
  };
}

function foldRow(folds: Folds, stream: StreamRef, head: Head, row: Record<string, unknown>): Head {
  const body = row["body"] === null ? null : String(row["body"]);
  return foldEntry(folds, stream.kind, head, {
    header: String(row["header"]),
    hash: hex(row["hash"]),
    salt: null,
    body,
  });
}
