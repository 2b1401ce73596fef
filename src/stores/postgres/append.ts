/** The planned writes of a batch, and the statements that perform them. */

import type { Artifact } from "../../kernel/stored-value.ts";
import { type StreamRef, streamName } from "../../kernel/stream.ts";
import type { Folds } from "../../states.ts";
import type { PlannedStream, TransactionPlan } from "../decision.ts";
import { type PackedEntries, packEntries } from "../entry-rows.ts";
import { foldOf, type Head, stateBefore } from "../head.ts";
import {
  encodeBytes,
  encodeHexes,
  encodeIntegers,
  encodeLongs,
  encodeText,
  encodeTexts,
  fullTextOfKey,
  indexKey,
} from "./encode.ts";
import { type PostgresSnapshot, preparePostgresSnapshots, snapshotIfDue } from "./heads.ts";
import type { ParameterValue, QueryStep } from "./query.ts";
import type { PostgresArtifacts } from "./tenant-tables.ts";
import type { PlannedRow, PostgresViews } from "./views.ts";

/** Most entries in one transaction: the number of its positions. */
export const MOST_ENTRIES = 16_384;

type WrittenStream = {
  readonly sid: number;
  readonly stream: StreamRef;
  readonly name: string;
  readonly isNew: boolean;
  head: Head;
};
type WrittenName = { readonly stream: StreamRef; readonly isNew: boolean };
/** One row. `count`: the entries of the batch up to its last one, which determines its position. */
type WrittenRow = {
  readonly sid: number;
  readonly seq: number;
  readonly hash: string;
  readonly count: number;
} & PackedEntries;

export type BatchWrites = {
  readonly streams: Map<string, WrittenStream>;
  readonly entries: WrittenRow[];
  readonly names: Map<string, WrittenName>;
  readonly artifacts: Map<string, Artifact>;
  readonly snapshots: Map<number, PostgresSnapshot>;
  readonly rows: Map<string, PlannedRow>;
  /** Approximate size of all of it in bytes. */
  size: number;
};

export const noWrites = (): BatchWrites => ({
  streams: new Map(),
  entries: [],
  names: new Map(),
  artifacts: new Map(),
  snapshots: new Map(),
  rows: new Map(),
  size: 0,
});

export const isEmptyWrite = ({ entries, names, artifacts }: BatchWrites): boolean =>
  entries.length + names.size + artifacts.size === 0;

export const entryCount = ({ entries }: BatchWrites): number => entries.at(-1)?.count ?? 0;

export type PostgresAppend = {
  /** Adds a member's plan. If one of its rows cannot be made, throws and adds nothing. */
  add(writing: BatchWrites, plan: TransactionPlan<unknown>, place: StoredKeys): void;
  /** `first` is the position of the first entry. */
  steps(tid: number, writing: BatchWrites, first: number): readonly QueryStep[];
};

/** Where the database has a plan's streams and names. */
type StoredKeys = { sidOf(stream: string): number; isTaken(name: string): boolean };

type AppendParts = {
  readonly schema: string;
  readonly folds: Folds;
  readonly views: PostgresViews;
  readonly artifacts: PostgresArtifacts;
};

export function preparePostgresAppend(parts: AppendParts): PostgresAppend {
  const { folds, views, artifacts } = parts;
  const snapshots = preparePostgresSnapshots(parts.schema);
  const write = writeStatements(parts.schema);
  return {
    add(writing, plan, { sidOf, isTaken }) {
      const rows = plan.streams.flatMap(({ name, stream, before, after }) => {
        const isNew = writing.streams.get(name)?.isNew ?? before.seq === 0;
        const states = { before: stateBefore(before), after: after.state };
        return views.project({ sid: sidOf(name), isNew }, stream, states);
      });
      for (const planned of plan.streams) addStream(writing, folds, planned, sidOf(planned.name));
      for (const { name, stream } of plan.names) writing.names.set(name, { stream, isNew: !isTaken(name) });
      for (const artifact of plan.artifacts) writing.artifacts.set(artifact.hash, artifact);
      writing.size += planSize(plan);
      for (const row of rows) writing.rows.set(`${row.view}/${row.sid}`, row);
    },
    steps(tid, writing, first) {
      const streams = [...writing.streams.values()];
      const kept = [...writing.snapshots.values()];
      const put = [...writing.artifacts.values()];
      return [
        ...write.streams(tid, streams),
        ...write.entries(tid, writing.entries, first),
        ...write.names(tid, writing.names),
        ...views.write(tid, [...writing.rows.values()]),
        ...(kept.length > 0 ? [snapshots.keep(tid, kept)] : []),
        ...(put.length > 0 ? [artifacts.put(tid, put)] : []),
      ];
    },
  };
}

export function planSize({ streams, artifacts }: TransactionPlan<unknown>): number {
  let size = 0;
  for (const { entries } of streams) for (const { body } of entries) size += body?.length ?? 0;
  for (const { bytes } of artifacts) size += bytes.length;
  return size;
}

function addStream(writing: BatchWrites, folds: Folds, planned: PlannedStream, sid: number): void {
  const { name, stream, before, after } = planned;
  const known = writing.streams.get(name);
  if (known === undefined)
    writing.streams.set(name, { sid, stream, name, isNew: before.seq === 0, head: after });
  else known.head = after;
  const count = entryCount(writing) + planned.entries.length;
  writing.entries.push({ sid, seq: after.seq, hash: after.hash, count, ...packEntries(planned.entries) });
  const snapshot = snapshotIfDue(sid, foldOf(folds, stream.kind).version, planned);
  if (snapshot !== undefined) writing.snapshots.set(sid, snapshot);
}

type WriteStatements = {
  streams(tid: number, streams: readonly WrittenStream[]): readonly QueryStep[];
  entries(tid: number, all: readonly WrittenRow[], first: number): readonly QueryStep[];
  names(tid: number, leads: ReadonlyMap<string, WrittenName>): readonly QueryStep[];
};

/** Certainly new rows are inserted directly: a conflict check would cost half as much again. */
function insertOrUpsert<One extends { readonly isNew: boolean }>(
  all: readonly One[],
  step: (some: readonly One[], isNew: boolean) => QueryStep,
): readonly QueryStep[] {
  const fresh = all.filter(({ isNew }) => isNew);
  const known = all.filter(({ isNew }) => !isNew);
  return [
    ...(fresh.length > 0 ? [step(fresh, true)] : []),
    ...(known.length > 0 ? [step(known, false)] : []),
  ];
}

function writeStatements(schema: string): WriteStatements {
  const { newStreams, streams, entries, moves, newNames, names } = statementsOf(schema);
  return {
    streams: (tid, all) =>
      insertOrUpsert(all, (some, isNew) => ({
        statement: isNew ? newStreams : streams,
        values: [tid, ...streamColumns(some)],
      })),
    entries(tid, all, first) {
      if (all.length === 0) return [];
      const sids = encodeLongs([...new Set(all.map(({ sid }) => sid))]);
      return [
        { statement: entries, values: [tid, first, ...entryColumns(all)] },
        { statement: moves, values: [tid, first + (all.at(-1)?.count ?? 0) - 1, sids] },
      ];
    },
    names: (tid, leads) =>
      insertOrUpsert(
        [...leads].map(([name, led]) => ({ name, ...led })),
        (some, isNew) => ({
          statement: isNew ? newNames : names,
          values: [
            tid,
            encodeTexts(some.map(({ name }) => indexKey(name))),
            encodeTexts(some.map(({ stream }) => encodeText(streamName(stream)))),
          ],
        }),
      ),
  };
}

function streamColumns(written: readonly WrittenStream[]): readonly ParameterValue[] {
  const keys = written.map(({ name }) => indexKey(name));
  return [
    encodeLongs(written.map(({ sid }) => sid)),
    encodeIntegers(written.map(({ head }) => head.seq)),
    encodeHexes(written.map(({ head }) => head.hash)),
    encodeLongs(written.map(({ head }) => head.at)),
    encodeTexts(keys),
    encodeTexts(written.map(({ name }, at) => fullTextOfKey(name, keys[at] ?? ""))),
  ];
}

function entryColumns(all: readonly WrittenRow[]): readonly ParameterValue[] {
  return [
    encodeIntegers(all.map(({ count }) => count)),
    encodeLongs(all.map(({ sid }) => sid)),
    encodeIntegers(all.map(({ seq }) => seq)),
    encodeHexes(all.map(({ hash }) => hash)),
    encodeBytes(all.map(({ chain }) => chain)),
    encodeBytes(all.map(({ salt }) => salt)),
    encodeTexts(all.map(({ header }) => header)),
    encodeTexts(all.map(({ body }) => body)),
  ];
}

function statementsOf(schema: string) {
  const streams = `INSERT INTO ${schema}.hp_streams (tid, sid, seq, hash, at, key, whole)
    SELECT $1::int4, s.* FROM unnest($2::int8[], $3::int4[], $4::bytea[], $5::int8[], $6::text[], $7::text[]) s`;
  const names = `INSERT INTO ${schema}.hp_names (tid, key, stream)
    SELECT $1::int4, n.* FROM unnest($2::text[], $3::text[]) n`;
  return {
    newStreams: { name: "hp_new_streams", text: streams },
    streams: {
      name: "hp_move_streams",
      text: `${streams}
        ON CONFLICT (sid) DO UPDATE SET seq = excluded.seq, hash = excluded.hash, at = excluded.at`,
    },
    entries: {
      name: "hp_append",
      text: `INSERT INTO ${schema}.hp_entries (tid, position, sid, seq, hash, chain, salt, header, body)
        SELECT $1::int4, $2::int8 + e.count - 1, e.sid, e.seq, e.hash, e.chain, e.salt, e.header, e.body
        FROM unnest($3::int4[], $4::int8[], $5::int4[], $6::bytea[], $7::bytea[], $8::bytea[], $9::text[], $10::text[])
          e (count, sid, seq, hash, chain, salt, header, body)`,
    },
    moves: {
      name: "hp_moved",
      text: `INSERT INTO ${schema}.hp_moves (tid, position, sids) VALUES ($1, $2, $3)`,
    },
    newNames: { name: "hp_new_names", text: names },
    names: {
      name: "hp_lead_names",
      text: `${names}
        ON CONFLICT (key, tid) DO UPDATE SET stream = excluded.stream`,
    },
  };
}
