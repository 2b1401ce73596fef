/**
 * The heads and states of streams, from a bounded cache where it agrees with the database and from the journal otherwise.
 *
 * H1. A cached state counts only if the head row, read under the lock, has the same number and hash. So what a batch is
 *     about to write may enter the cache at once: if it is never committed, no row agrees with it.
 * H2. A stream that cannot be folded fails those who look at it, and nobody else.
 */

import { type StreamRef, streamName } from "../../kernel/stream.ts";
import type { Folds } from "../../states.ts";
import { type Cache, createCache, type Most } from "../cache.ts";
import { emptyHead, foldEntry, foldOf, type Head, isOver } from "../head.ts";
import { hexAt, numberAt, textAt } from "./ask.ts";
import { integers, longs } from "./encode.ts";
import type { Row, Step } from "./pipeline.ts";
import { prepareSnapshots, SNAPSHOT_EVERY, type Snapshots } from "./snapshots.ts";

/** A head row as it was found; `sid` and `seq` are 0 for a stream that does not exist. */
export type Found = {
  readonly stream: StreamRef;
  readonly name: string;
  readonly sid: number;
  readonly seq: number;
  readonly hash: string;
};

export type Seen = { readonly found: Found } & ({ readonly head: Head } | { readonly error: unknown });
export type Run = (steps: readonly Step[]) => Promise<readonly (readonly Row[])[]>;

export type Heads = {
  /** The heads with their states; `run` is asked for what the cache does not have. */
  resolve(tid: number, found: readonly Found[], run: Run): Promise<Map<string, Seen>>;
  remember(tid: number, stream: StreamRef, head: Head): void;
  /** Whether the stream was there when it was last looked at. */
  isKnown(tid: number, name: string): boolean;
};

type Options = { readonly schema: string; readonly folds: Folds; readonly most: Most };

export function prepareHeads({ schema, folds, most }: Options): Heads {
  const cache = createCache<Head>(most, ({ size }) => size);
  const loading = { cache, folds, snapshots: prepareSnapshots(schema), entries: entriesOf(schema) };
  return {
    isKnown: (tid, name) => cache.get(`${tid}/${name}`) !== undefined,
    remember(tid, stream, head) {
      const key = `${tid}/${streamName(stream)}`;
      if (isOver(folds, stream.kind, head)) cache.forget(key);
      else cache.set(key, head);
    },
    async resolve(tid, all, run) {
      const seen = new Map<string, Seen>();
      const missing: Missing[] = [];
      for (const found of all) {
        const head = known(loading, tid, found);
        if (head === undefined) missing.push({ tid, found, start: undefined });
        else seen.set(found.name, { found, head });
      }
      if (missing.length > 0)
        for (const one of await load(loading, missing, run)) seen.set(one.found.name, one);
      return seen;
    },
  };
}

type Loading = {
  readonly cache: Cache<Head>;
  readonly folds: Folds;
  readonly snapshots: Snapshots;
  entries(missing: readonly Missing[]): Step;
};
type Missing = { readonly tid: number; readonly found: Found; start: Head | undefined };

function known({ cache, folds }: Loading, tid: number, found: Found): Head | undefined {
  if (found.seq === 0) return emptyHead(folds, found.stream.kind);
  const cached = cache.get(`${tid}/${found.name}`);
  return cached !== undefined && cached.seq === found.seq && cached.hash === found.hash ? cached : undefined;
}

function entriesOf(schema: string): Loading["entries"] {
  const select = {
    name: "hp_newer_entries",
    text: `SELECT w.sid, e.header, e.hash, e.body FROM unnest($1::int8[], $2::int4[], $3::int4[]) w (sid, after, upto)
      CROSS JOIN LATERAL (
        SELECT * FROM ${schema}.hp_entries i WHERE i.sid = w.sid AND i.seq > w.after AND i.seq <= w.upto OFFSET 0
      ) e ORDER BY e.sid, e.seq`,
  };
  return (missing) => ({
    statement: select,
    values: [
      longs(missing.map(({ found }) => found.sid)),
      integers(missing.map(({ start }) => start?.seq ?? 0)),
      integers(missing.map(({ found }) => found.seq)),
    ],
  });
}

/** From the cached state or a snapshot, if there is an earlier one, else from the first entry. */
async function load(loading: Loading, missing: readonly Missing[], run: Run): Promise<readonly Seen[]> {
  for (const one of missing) {
    const cached = loading.cache.get(`${one.tid}/${one.found.name}`);
    if (cached !== undefined && cached.seq < one.found.seq) one.start = cached;
  }
  await startFromSnapshots(loading, missing, run);
  const loaded = await foldNewer(loading, missing, run);
  // A cached state of something that was never committed does not go on in the journal: then from the first entry.
  const broken = missing.filter(({ found, start }) => start !== undefined && "error" in pick(loaded, found));
  if (broken.length === 0) return loaded;
  const again = await foldNewer(
    loading,
    broken.map((one) => ({ ...one, start: undefined })),
    run,
  );
  const kept = loaded.filter(({ found }) => !broken.some((one) => one.found === found));
  return [...kept, ...again];
}

function pick(loaded: readonly Seen[], found: Found): Seen {
  return loaded.find((one) => one.found === found) ?? { found, error: new TypeError("not loaded") };
}

async function startFromSnapshots({ folds, snapshots }: Loading, missing: readonly Missing[], run: Run) {
  const long = missing.filter(({ found, start }) => start === undefined && found.seq >= SNAPSHOT_EVERY);
  if (long.length === 0) return;
  const wanted = long.map(({ found }) => ({
    sid: found.sid,
    version: foldOf(folds, found.stream.kind).version,
  }));
  const [rows = []] = await run([snapshots.find(wanted)]);
  const heads = new Map(rows.flatMap((row) => snapshots.head(row) ?? []).map(({ sid, head }) => [sid, head]));
  for (const one of long) one.start = heads.get(one.found.sid);
}

async function foldNewer(loading: Loading, missing: readonly Missing[], run: Run): Promise<readonly Seen[]> {
  const [rows = []] = await run([loading.entries(missing)]);
  const bySid = Map.groupBy(rows, (row) => numberAt(row, 0));
  return missing.map((one) => fold(loading, one, bySid.get(one.found.sid) ?? []));
}

function fold({ folds, cache }: Loading, { tid, found, start }: Missing, rows: readonly Row[]): Seen {
  const { stream, name } = found;
  try {
    let head = start ?? emptyHead(folds, stream.kind);
    for (const row of rows)
      head = foldEntry(folds, stream.kind, head, {
        header: textAt(row, 1),
        hash: hexAt(row, 2),
        salt: null,
        body: row[3] ?? null,
      });
    cache.set(`${tid}/${name}`, head);
    return { found, head };
  } catch (error) {
    return { found, error };
  }
}
