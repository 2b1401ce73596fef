/**
 * The heads and states of streams, from a bounded cache if it agrees with the database and from the journal otherwise.
 * - A cached state is used only if the head row, read under the lock, has the same number and hash. So a batch may
 *   cache its state before the commit: if it is never committed, no row agrees with it.
 * - A stream that cannot be folded fails only the decisions that read it.
 * Snapshots store a state every so many entries, so that a long stream is not folded from its first entry. They are a
 * cache: losing one costs time.
 */

import { deserialize, serialize } from "node:v8";
import { type StreamRef, streamName } from "../../kernel/stream.ts";
import type { Folds } from "../../states.ts";
import type { PlannedStream } from "../decision.ts";
import { unpackEntries } from "../entry-rows.ts";
import {
  type Cache,
  type CacheLimit,
  createCache,
  emptyHead,
  foldEntry,
  foldOf,
  type Head,
  isStreamOver,
} from "../head.ts";
import { encodeBytes, encodeHexes, encodeIntegers, encodeLongs } from "./encode.ts";
import { bytesColumn, hexColumn, numberColumn, type QueryStep, type ResultRow } from "./query.ts";
import { POSTGRES_ENTRY_COLUMNS, postgresEntryRow } from "./read.ts";

const POSTGRES_SNAPSHOT_EVERY = 200;

export type PostgresSnapshot = {
  readonly sid: number;
  readonly version: number;
  readonly head: Head;
  readonly state: Buffer;
};
type WantedSnapshot = { readonly sid: number; readonly version: number };

type PostgresSnapshots = {
  /** Snapshots of these streams with the same version of the fold and a matching entry in the journal. */
  find(wanted: readonly WantedSnapshot[]): QueryStep;
  head(row: ResultRow): { readonly sid: number; readonly head: Head } | undefined;
  keep(tid: number, snapshots: readonly PostgresSnapshot[]): QueryStep;
};

export function preparePostgresSnapshots(schema: string): PostgresSnapshots {
  const select = {
    name: "hp_snapshots",
    text: `SELECT p.sid, p.seq, p.hash, p.state, ${POSTGRES_ENTRY_COLUMNS} FROM unnest($1::int8[], $2::int4[]) w (sid, version)
      CROSS JOIN LATERAL (SELECT * FROM ${schema}.hp_snapshots k WHERE k.sid = w.sid AND k.version = w.version OFFSET 0) p
      CROSS JOIN LATERAL (SELECT * FROM ${schema}.hp_entries i WHERE i.sid = p.sid AND i.seq = p.seq OFFSET 0) e
      WHERE e.hash = p.hash`,
  };
  const upsert = {
    name: "hp_keep_snapshots",
    text: `INSERT INTO ${schema}.hp_snapshots (sid, tid, seq, version, hash, state)
      SELECT sid, $1::int4, seq, version, hash, state
      FROM unnest($2::int8[], $3::int4[], $4::int4[], $5::bytea[], $6::bytea[]) p (sid, seq, version, hash, state)
      ON CONFLICT (sid) DO UPDATE
      SET seq = excluded.seq, version = excluded.version, hash = excluded.hash, state = excluded.state`,
  };
  return {
    find: (wanted) => ({
      statement: select,
      values: [
        encodeLongs(wanted.map(({ sid }) => sid)),
        encodeIntegers(wanted.map(({ version }) => version)),
      ],
    }),
    head: snapshotHead,
    keep: (tid, kept) => ({
      statement: upsert,
      values: [
        tid,
        encodeLongs(kept.map(({ sid }) => sid)),
        encodeIntegers(kept.map(({ head }) => head.seq)),
        encodeIntegers(kept.map(({ version }) => version)),
        encodeHexes(kept.map(({ head }) => head.hash)),
        encodeBytes(kept.map(({ state }) => state)),
      ],
    }),
  };
}

/** V8's own format supports big integers. A Node too old to read a newer one's bytes folds the stream again. */
const NO_PLACE = { tenant: "", stream: "" };

function snapshotHead(row: ResultRow): { readonly sid: number; readonly head: Head } | undefined {
  const packed = bytesColumn(row, 3);
  try {
    const head: Head = {
      seq: numberColumn(row, 1),
      hash: hexColumn(row, 2),
      at: unpackEntries(postgresEntryRow(row, 4), NO_PLACE).at(-1)?.at ?? 0,
      state: deserialize(packed),
      size: packed.length,
    };
    return { sid: numberColumn(row, 0), head };
  } catch {
    return undefined;
  }
}

/** Makes a snapshot if the stream has passed a multiple of the interval. */
export function snapshotIfDue(
  sid: number,
  version: number,
  { before, after }: PlannedStream,
): PostgresSnapshot | undefined {
  if (Math.floor(after.seq / POSTGRES_SNAPSHOT_EVERY) === Math.floor(before.seq / POSTGRES_SNAPSHOT_EVERY))
    return undefined;
  return { sid, version, head: after, state: serialize(after.state) };
}

/** A head row as found; `sid` and `seq` are 0 for a stream that does not exist. */
export type FoundHead = {
  readonly stream: StreamRef;
  readonly name: string;
  readonly sid: number;
  readonly seq: number;
  readonly hash: string;
};

export type LoadedHead = { readonly found: FoundHead } & (
  | { readonly head: Head }
  | { readonly error: unknown }
);

type RunSteps = (steps: readonly QueryStep[]) => Promise<readonly (readonly ResultRow[])[]>;

export type PostgresHeads = {
  /** The heads with their states; `run` loads those that the cache does not have. */
  resolve(tid: number, found: readonly FoundHead[], run: RunSteps): Promise<Map<string, LoadedHead>>;
  remember(tid: number, stream: StreamRef, head: Head): void;
  /** Whether the stream existed at its last lookup. */
  isKnown(tid: number, name: string): boolean;
};

type Options = { readonly schema: string; readonly folds: Folds; readonly most: CacheLimit };

export function preparePostgresHeads({ schema, folds, most }: Options): PostgresHeads {
  const cache = createCache<Head>(most, ({ size }) => size);
  const loading = { cache, folds, snapshots: preparePostgresSnapshots(schema), entries: entriesOf(schema) };
  return {
    isKnown: (tid, name) => cache.get(`${tid}/${name}`) !== undefined,
    remember(tid, stream, head) {
      const key = `${tid}/${streamName(stream)}`;
      if (isStreamOver(folds, stream.kind, head)) cache.forget(key);
      else cache.set(key, head);
    },
    async resolve(tid, all, run) {
      const seen = new Map<string, LoadedHead>();
      const missing: MissingHead[] = [];
      for (const found of all) {
        const head = cachedHead(loading, tid, found);
        if (head === undefined) missing.push({ tid, found, start: undefined });
        else seen.set(found.name, { found, head });
      }
      if (missing.length > 0)
        for (const one of await loadHeads(loading, missing, run)) seen.set(one.found.name, one);
      return seen;
    },
  };
}

type HeadLoading = {
  readonly cache: Cache<Head>;
  readonly folds: Folds;
  readonly snapshots: PostgresSnapshots;
  entries(missing: readonly MissingHead[]): QueryStep;
};
type MissingHead = { readonly tid: number; readonly found: FoundHead; start: Head | undefined };

function cachedHead({ cache, folds }: HeadLoading, tid: number, found: FoundHead): Head | undefined {
  if (found.seq === 0) return emptyHead(folds, found.stream.kind);
  const cached = cache.get(`${tid}/${found.name}`);
  return cached !== undefined && cached.seq === found.seq && cached.hash === found.hash ? cached : undefined;
}

function entriesOf(schema: string): HeadLoading["entries"] {
  const select = {
    name: "hp_newer_entries",
    text: `SELECT w.sid, ${POSTGRES_ENTRY_COLUMNS} FROM unnest($1::int8[], $2::int4[], $3::int4[]) w (sid, after, upto)
      CROSS JOIN LATERAL (
        SELECT * FROM ${schema}.hp_entries i WHERE i.sid = w.sid AND i.seq > w.after AND i.seq <= w.upto OFFSET 0
      ) e ORDER BY e.sid, e.seq`,
  };
  return (missing) => ({
    statement: select,
    values: [
      encodeLongs(missing.map(({ found }) => found.sid)),
      encodeIntegers(missing.map(({ start }) => start?.seq ?? 0)),
      encodeIntegers(missing.map(({ found }) => found.seq)),
    ],
  });
}

/** From an earlier cached state or a snapshot if there is one, else from the first entry. */
async function loadHeads(
  loading: HeadLoading,
  missing: readonly MissingHead[],
  run: RunSteps,
): Promise<readonly LoadedHead[]> {
  for (const one of missing) {
    const cached = loading.cache.get(`${one.tid}/${one.found.name}`);
    if (cached !== undefined && cached.seq < one.found.seq) one.start = cached;
  }
  await startFromSnapshots(loading, missing, run);
  const loaded = await foldNewer(loading, missing, run);
  // A cached state that was never committed does not continue in the journal: fold from the first entry then.
  const broken = missing.filter(
    ({ found, start }) => start !== undefined && "error" in pickHead(loaded, found),
  );
  if (broken.length === 0) return loaded;
  const again = await foldNewer(
    loading,
    broken.map((one) => ({ ...one, start: undefined })),
    run,
  );
  const kept = loaded.filter(({ found }) => !broken.some((one) => one.found === found));
  return [...kept, ...again];
}

function pickHead(loaded: readonly LoadedHead[], found: FoundHead): LoadedHead {
  return loaded.find((one) => one.found === found) ?? { found, error: new TypeError("not loaded") };
}

async function startFromSnapshots(
  { folds, snapshots }: HeadLoading,
  missing: readonly MissingHead[],
  run: RunSteps,
) {
  const long = missing.filter(
    ({ found, start }) => start === undefined && found.seq >= POSTGRES_SNAPSHOT_EVERY,
  );
  if (long.length === 0) return;
  const wanted = long.map(({ found }) => ({
    sid: found.sid,
    version: foldOf(folds, found.stream.kind).version,
  }));
  const [rows = []] = await run([snapshots.find(wanted)]);
  const heads = new Map(rows.flatMap((row) => snapshots.head(row) ?? []).map(({ sid, head }) => [sid, head]));
  for (const one of long) one.start = heads.get(one.found.sid);
}

async function foldNewer(
  loading: HeadLoading,
  missing: readonly MissingHead[],
  run: RunSteps,
): Promise<readonly LoadedHead[]> {
  const [rows = []] = await run([loading.entries(missing)]);
  const bySid = Map.groupBy(rows, (row) => numberColumn(row, 0));
  return missing.map((one) => foldRows(loading, one, bySid.get(one.found.sid) ?? []));
}

function foldRows(
  { folds, cache }: HeadLoading,
  { tid, found, start }: MissingHead,
  rows: readonly ResultRow[],
): LoadedHead {
  const { stream, name } = found;
  try {
    let head = start ?? emptyHead(folds, stream.kind);
    for (const row of rows) head = foldPostgresRow(folds, stream, head, row);
    cache.set(`${tid}/${name}`, head);
    return { found, head };
  } catch (error) {
    return { found, error };
  }
}

/** A row with the stream's number before the columns of the entries. A fold needs no header, so no tenant's name. */
export function foldPostgresRow(folds: Folds, stream: StreamRef, from: Head, row: ResultRow): Head {
  let head = from;
  for (const entry of unpackEntries(postgresEntryRow(row, 1), { tenant: "", stream: streamName(stream) }))
    if (entry.seq > from.seq) head = foldEntry(folds, stream.kind, head, entry);
  return head;
}
