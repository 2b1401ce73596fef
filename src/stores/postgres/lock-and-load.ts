/** The first round trip of a batch: locks and loads what its members depend on, then reads the time. */
import { type IndexKey, parseStreamRef, type StreamRef, streamName } from "../../kernel/stream.ts";
import { type IndexRow, MOST_INDEXED, type Needs } from "../../kernel/transaction.ts";
import { indexName } from "../decision.ts";
import { decodeText, encodeBooleans, encodeHalves, encodeTexts, indexKey } from "./encode.ts";
import type { FoundHead } from "./heads.ts";
import { type Lock, type LockSpace, lockOf, orderLocks } from "./locks.ts";
import {
  BEGIN,
  DATABASE_NOW,
  hexColumn,
  numberColumn,
  type QueryRunner,
  type QueryStep,
  type ResultRow,
  textColumn,
} from "./query.ts";
import { STREAM_NUMBERS } from "./tables.ts";
import { type PostgresViews, viewRow } from "./views.ts";

export type BatchNeeds = {
  readonly streams: Map<string, { readonly stream: StreamRef; write: boolean }>;
  readonly names: Set<string>;
  readonly index: Map<string, IndexKey>;
};

/** What was found. `xid` is the transaction's number, assigned after the locks; 0 without locks. */
export type LoadedBatch = {
  readonly found: readonly FoundHead[];
  readonly names: ReadonlyMap<string, StreamRef>;
  readonly index: ReadonlyMap<string, readonly IndexRow[]>;
  readonly clock: number;
  readonly layout: string;
  readonly base: number;
  readonly xid: number;
  /** Unused stream numbers. */
  readonly numbers: readonly number[];
};

export type LockAndLoad = {
  /** `fresh`: how many of the streams to write may be new, and need numbers. */
  locked(tid: number, wanted: BatchNeeds, fresh: number): readonly QueryStep[];
  /** Without locks: enough for members that write nothing, because it is one snapshot of the database. */
  looked(tid: number, wanted: BatchNeeds): readonly QueryStep[];
  /** More numbers for new streams. */
  numbers(many: number): QueryStep;
  standing(wanted: BatchNeeds, results: readonly (readonly ResultRow[])[]): LoadedBatch;
};

export function combineNeeds(needs: readonly Needs[]): BatchNeeds {
  const wanted: BatchNeeds = { streams: new Map(), names: new Set(), index: new Map() };
  const want = (stream: StreamRef, write: boolean) => {
    const name = streamName(stream);
    const known = wanted.streams.get(name);
    if (known === undefined) wanted.streams.set(name, { stream, write });
    else known.write ||= write;
  };
  for (const { write = [], read = [], names = [], index = [] } of needs) {
    for (const stream of write) want(stream, true);
    for (const stream of read) want(stream, false);
    for (const name of names) wanted.names.add(name);
    for (const key of index) wanted.index.set(indexName(key), key);
  }
  return wanted;
}

type LockAndLoadParts = {
  readonly enter: QueryRunner["enter"];
  readonly views: Pick<PostgresViews, "listing">;
  readonly schema: string;
  readonly space: LockSpace;
};

export function prepareLockAndLoad({ enter, views, schema, space }: LockAndLoadParts): LockAndLoad {
  const { lock, heads, names, now, nowAndNumbers, numbers } = statementsOf(schema);
  const headsOf = (tid: number, { streams }: BatchNeeds): QueryStep => ({
    statement: heads,
    values: [tid, encodeTexts([...streams.keys()].map(indexKey))],
  });
  const namesOf = (tid: number, wanted: BatchNeeds): QueryStep => ({
    statement: names,
    values: [tid, encodeTexts([...wanted.names].map(indexKey))],
  });
  const locksOf = (tid: number, wanted: BatchNeeds): QueryStep => {
    const locks: Lock[] = [];
    for (const [name, { write }] of wanted.streams)
      locks.push({ ...lockOf(space, "stream", tid, name), write });
    for (const name of wanted.names) locks.push({ ...lockOf(space, "name", tid, name), write: true });
    const all = orderLocks(locks);
    return { statement: lock, values: [encodeHalves(all), encodeBooleans(all.map(({ write }) => write))] };
  };
  const indexSteps = (tid: number, { index }: BatchNeeds): readonly QueryStep[] =>
    [...index.values()].map(({ view, key }) =>
      views.listing(tid, { view, bucket: key, order: "newest", limit: MOST_INDEXED }),
    );
  return {
    locked: (tid, wanted, fresh) => [
      { statement: BEGIN },
      enter(tid),
      locksOf(tid, wanted),
      ...indexSteps(tid, wanted),
      headsOf(tid, wanted),
      namesOf(tid, wanted),
      { statement: nowAndNumbers, values: [blocksFor(fresh)] },
    ],
    looked: (tid, wanted) => [
      enter(tid),
      ...indexSteps(tid, wanted),
      headsOf(tid, wanted),
      { statement: now },
    ],
    numbers: (many) => ({ statement: numbers, values: [blocksFor(many)] }),
    standing: readLoadedBatch,
  };
}

function statementsOf(schema: string) {
  const meta = (key: string) => `(SELECT value FROM ${schema}.hp_meta WHERE key = '${key}')`;
  const numbers = `array_to_string(ARRAY(SELECT nextval('${schema}.hp_sid') FROM generate_series(1, $1::int4)), ',')`;
  const now = `SELECT ${DATABASE_NOW}, ${meta("layout")}, ${meta("base")}`;
  return {
    // OFFSET prevents flattening of the inner SELECT: locks are taken one by one, in the order of the arrays.
    lock: {
      name: "hp_lock",
      text: `SELECT count(*) FROM (
        SELECT CASE WHEN write THEN pg_advisory_xact_lock(key) ELSE pg_advisory_xact_lock_shared(key) END
        FROM unnest($1::int8[], $2::bool[]) l (key, write) OFFSET 0) taken`,
    },
    heads: {
      name: "hp_heads",
      text: `SELECT key, sid, seq, hash FROM ${schema}.hp_streams WHERE tid = $1 AND key = ANY ($2::text[])`,
    },
    names: {
      name: "hp_names",
      text: `SELECT key, stream FROM ${schema}.hp_names WHERE tid = $1 AND key = ANY ($2::text[])`,
    },
    now: { name: "hp_now", text: now },
    nowAndNumbers: { name: "hp_now_and_numbers", text: `${now}, pg_current_xact_id()::text, ${numbers}` },
    numbers: { name: "hp_numbers", text: `SELECT ${numbers}` },
  };
}

/** Each number in the list begins a block. */
export const expandNumberBlocks = (list: string): readonly number[] =>
  list === ""
    ? []
    : list
        .split(",")
        .flatMap((first) => Array.from({ length: STREAM_NUMBERS }, (_, at) => Number(first) + at));

const blocksFor = (many: number): number => Math.ceil(many / STREAM_NUMBERS);

/** Steps before the index rows: three with locks, one without. */
const STEPS_BEFORE_INDEX = { locked: 3, looked: 1 };

/** The heads are the third last of the results, or the second last if no names were requested. */
function readLoadedBatch(wanted: BatchNeeds, results: readonly (readonly ResultRow[])[]): LoadedBatch {
  const last = results.at(-1)?.[0];
  const isLocked = results.length - wanted.index.size > 3;
  const indexed = results.slice(isLocked ? STEPS_BEFORE_INDEX.locked : STEPS_BEFORE_INDEX.looked);
  const index = new Map([...wanted.index.keys()].map((name, at) => [name, (indexed[at] ?? []).map(viewRow)]));
  const headRows = results.at(isLocked ? -3 : -2) ?? [];
  const nameRows = isLocked ? (results.at(-2) ?? []) : [];
  const heads = new Map(headRows.map((row) => [row[0], row]));
  const found = [...wanted.streams].map(([name, { stream }]): FoundHead => {
    const row = heads.get(indexKey(name));
    return { stream, name, sid: numberColumn(row, 1), seq: numberColumn(row, 2), hash: hexColumn(row, 3) };
  });
  const leads = new Map(nameRows.map((row) => [row[0], textColumn(row, 1)]));
  const names = new Map<string, StreamRef>();
  for (const name of leads.size === 0 ? [] : wanted.names) {
    const stream = leads.get(indexKey(name));
    if (stream !== undefined) names.set(name, parseStreamRef(decodeText(stream)));
  }
  return {
    found,
    names,
    index,
    clock: numberColumn(last, 0),
    layout: textColumn(last, 1),
    base: numberColumn(last, 2),
    xid: numberColumn(last, 3),
    numbers: expandNumberBlocks(textColumn(last, 4)),
  };
}
