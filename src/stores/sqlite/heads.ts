/**
 * The heads and states of streams, from a bounded cache where that is safe and from the file otherwise.
 *
 * H1. A cached head is used without a read only while nobody else has appended: no other connection has committed
 *     (`PRAGMA data_version`), or the last position in the file is the last that this process gave out.
 * H2. Otherwise the head row is read inside the transaction; the cached state counts only if the row is the same.
 * H3. What a batch moved enters the cache after its commit, never before. Until then only those who are decided after it
 *     see it, and they count for nothing if it fails.
 */
import type { DatabaseSync } from "node:sqlite";
import type { StreamKind, StreamRef } from "../../core/stream.ts";
import type { Folds } from "../../core/streams.ts";
import { createCache, type Most } from "../cache.ts";
import { emptyHead, foldEntry, foldOf, type Head, isOver } from "../head.ts";
import { hex } from "./hex.ts";
import { createLayers } from "./layers.ts";
import type { Places } from "./places.ts";
import type { Snapshots } from "./snapshots.ts";

/** `sid` is 0 while the stream is not in the file. */
export type SqliteHead = Head & { readonly sid: number };

export type MovedHead = { readonly stream: StreamRef; readonly name: string; readonly head: SqliteHead };

export type Heads = {
  /** Inside the transaction, before the first head: what was committed since the last time? */
  refresh(): "nothing" | "own" | "others";
  head(tid: number, stream: StreamRef, name: string): SqliteHead;
  moved(tid: number, moved: MovedHead): void;
  written(): void;
  launch(): void;
  landed(): void;
  drop(): void;
  /** Trusts nothing that was seen before. */
  clear(): void;
};

type Options = {
  readonly db: DatabaseSync;
  readonly folds: Folds;
  readonly snapshots: Snapshots;
  readonly most: Most;
  readonly places: Places;
};
type Pending = { readonly kind: StreamKind; readonly head: SqliteHead };
type Cached = { readonly head: SqliteHead; readonly look: number };

export function prepareHeads({ db, folds, snapshots, most, places }: Options): Heads {
  const version = db.prepare("PRAGMA data_version");
  const load = prepareLoad({ db, folds, snapshots });
  const cache = createCache<Cached>(most, ({ head }) => head.size);
  const layers = createLayers<Pending>();
  let seen = -1;
  let look = 0;
  const enter = (moved: ReadonlyMap<string, Pending>) => {
    for (const [key, { kind, head }] of moved) {
      if (isOver(folds, kind, head)) cache.forget(key);
      else cache.set(key, { head, look });
    }
  };
  return {
    refresh() {
      const now = Number(version.get()?.["data_version"]);
      if (now === seen) return "nothing";
      seen = now;
      if (places.areCurrent()) return "own";
      look += 1;
      return "others";
    },
    head(tid, stream, name) {
      const key = `${tid}/${name}`;
      const pending = layers.get(key);
      if (pending !== undefined) return pending.head;
      const cached = cache.get(key);
      if (cached?.look === look) return cached.head;
      const head = load(tid, stream, { name, cached: cached?.head });
      if (head.seq > 0) cache.set(key, { head, look });
      return head;
    },
    moved: (tid, { stream, name, head }) => layers.set(`${tid}/${name}`, { kind: stream.kind, head }),
    written: () => enter(layers.written()),
    launch: layers.launch,
    landed: () => enter(layers.landed()),
    drop: layers.drop,
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

function prepareLoad({ db, folds, snapshots }: Omit<Options, "most" | "places">): Load {
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
