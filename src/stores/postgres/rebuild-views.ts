/**
 * Folds every stream again into the views, one page of streams per transaction. `hp_views.built` keeps the position:
 * after a crash the next open resumes there, and two processes share the work. Streams written since are up to date,
 * because a page locks its streams.
 */

import { isHoldpointError } from "../../kernel/errors.ts";
import { findStreamRef, type StreamRef } from "../../kernel/stream.ts";
import { emptyHead, type Head } from "../head.ts";
import type { Rebuilt } from "../store.ts";
import type { Projections } from "../views.ts";
import type { Client } from "./connect.ts";
import {
  decodeText,
  encodeBooleans,
  encodeHalves,
  encodeIntegers,
  encodeLongs,
  encodeTexts,
} from "./encode.ts";
import { retryWhileUnavailable } from "./errors.ts";
import { foldPostgresRow } from "./heads.ts";
import type { PostgresJournal } from "./journal.ts";
import { lockOf, orderLocks } from "./locks.ts";
import { postgresViewTable } from "./migrations.ts";
import {
  BEGIN,
  COMMIT,
  numberColumn,
  type ParameterValue,
  type QueryStep,
  type ResultRow,
  ROLLBACK,
  sendPipeline,
  textColumn,
} from "./query.ts";
import { POSTGRES_ENTRY_COLUMNS } from "./read.ts";

/** Skips views that another version has built or is building. */
const isOurs = (first: number): string =>
  `(view, version) IN (SELECT * FROM unnest($${first}::text[], $${first + 1}::int4[]))`;

function rebuildStatements(schema: string, projections: Projections) {
  const ours = encodeTexts(projections.all.map(({ view }) => view));
  const versions = encodeIntegers(projections.all.map(({ version }) => version));
  const step = (name: string, text: string, ...values: readonly ParameterValue[]): QueryStep => ({
    statement: { name: `hp_rebuild_${name}`, text },
    values,
  });
  return {
    lock: {
      name: "hp_rebuild_lock",
      text: `SELECT count(*) FROM (SELECT CASE WHEN write THEN pg_advisory_xact_lock(key) END
        FROM unnest($1::int8[], $2::bool[]) l (key, write) OFFSET 0) taken`,
    },
    /** Also makes processes that write older rows check the views again, and mark them stale. */
    mark: () => [
      step(
        "mark",
        `UPDATE ${schema}.hp_views SET built = 0, stale = false WHERE ${isOurs(1)}`,
        ours,
        versions,
      ),
      step("moved", `UPDATE ${schema}.hp_meta SET value = (value::int8 + 1)::text WHERE key = 'layout'`),
    ],
    place: () =>
      step("place", `SELECT min(built) FROM ${schema}.hp_views WHERE ${isOurs(1)}`, ours, versions),
    total: () => step("total", `SELECT count(*) FROM ${schema}.hp_streams`),
    tenants: () => step("tenants", `SELECT tid FROM ${schema}.hp_tenants`),
    removeStrangers: () =>
      projections.all.map(({ view, kind }) =>
        step(
          `strangers_${view}`,
          `DELETE FROM ${schema}.${postgresViewTable(view)} v WHERE NOT EXISTS
            (SELECT 1 FROM ${schema}.hp_streams s WHERE s.sid = v.sid AND starts_with(coalesce(s.whole, s.key), $1))`,
          `${kind}/`,
        ),
      ),
    page: (after: number, many: number) =>
      step(
        "page",
        `SELECT sid, tid, coalesce(whole, key) FROM ${schema}.hp_streams WHERE sid > $1 ORDER BY sid LIMIT $2`,
        after,
        many,
      ),
    entries: (sids: Buffer) =>
      step(
        "entries",
        `SELECT e.sid, ${POSTGRES_ENTRY_COLUMNS} FROM unnest($1::int8[]) w (sid)
          CROSS JOIN LATERAL (SELECT * FROM ${schema}.hp_entries i WHERE i.sid = w.sid OFFSET 0) e
          ORDER BY e.sid, e.seq`,
        sids,
      ),
    advance: (before: number, after: number | null) =>
      step(
        "advance",
        `UPDATE ${schema}.hp_views SET built = $2 WHERE built = $1 AND ${isOurs(3)}`,
        ...[before, after, ours, versions],
      ),
  };
}

const PAGE = 100;

type Progress = (done: number, total: number) => void;

export async function rebuildPostgresViews(journal: PostgresJournal, progress: Progress): Promise<Rebuilt> {
  const statements = rebuildStatements(journal.schema, journal.projections);
  await journal.ask("ids", ...statements.mark());
  await removeStrangers(journal, statements);
  return resumePostgresRebuild(journal, progress);
}

type Statements = ReturnType<typeof rebuildStatements>;

/** Deletes rows of streams that are not of the view's kind: a projection may have changed it. */
async function removeStrangers(journal: PostgresJournal, statements: Statements): Promise<void> {
  const [tids = []] = await journal.ask("ids", statements.tenants());
  for (const row of tids) await journal.ask(numberColumn(row, 0), ...statements.removeStrangers());
}

/** Builds the views marked as not built. */
export async function resumePostgresRebuild(
  journal: PostgresJournal,
  progress: Progress = () => {},
): Promise<Rebuilt> {
  const statements = rebuildStatements(journal.schema, journal.projections);
  const [place, total] = await journal.ask("ids", statements.place(), statements.total());
  if (place?.[0]?.[0] == null) return { streams: 0, left: 0 };
  const many = numberColumn(total?.[0], 0);
  let done = 0;
  let left = 0;
  for (;;) {
    const page = await retryWhileUnavailable(journal.patience, () =>
      journal.connections.use((client) => buildPage(journal, statements, client)),
    );
    if (page === undefined) return { streams: done, left };
    done += page.streams;
    left += page.left;
    progress(Math.min(done, many), many);
  }
}

type Stream = {
  readonly sid: number;
  readonly tid: number;
  /** Undefined for a kind that this program does not know. */
  readonly stream: StreamRef | undefined;
  readonly name: string;
};

/** Undefined if everything is built. */
async function buildPage(
  journal: PostgresJournal,
  statements: Statements,
  client: Client,
): Promise<Rebuilt | undefined> {
  const lock = encodeHalves([lockOf(journal.space, "work", 0, "rebuild")]);
  const [, , , place] = await sendPipeline(client, [
    { statement: BEGIN },
    journal.enter("ids"),
    { statement: statements.lock, values: [lock, encodeBooleans([true])] },
    statements.place(),
  ]);
  if (place?.[0]?.[0] == null) {
    await sendPipeline(client, [{ statement: ROLLBACK }]);
    return undefined;
  }
  const before = numberColumn(place[0], 0);
  const [rows = []] = await sendPipeline(client, [statements.page(before, PAGE)]);
  const streams = rows.map(streamOf);
  const left = await buildStreams(journal, statements, client, streams);
  const last = rows.length < PAGE ? null : (streams.at(-1)?.sid ?? null);
  await sendPipeline(client, [statements.advance(before, last), { statement: COMMIT }]);
  return { streams: streams.length, left };
}

function streamOf(row: ResultRow): Stream {
  const name = decodeText(textColumn(row, 2));
  return { sid: numberColumn(row, 0), tid: numberColumn(row, 1), name, stream: findStreamRef(name) };
}

async function buildStreams(
  journal: PostgresJournal,
  statements: Statements,
  client: Client,
  streams: readonly Stream[],
): Promise<number> {
  if (streams.length === 0) return 0;
  const locks = orderLocks(
    streams.map(({ tid, name }) => ({ ...lockOf(journal.space, "stream", tid, name), write: true })),
  );
  await sendPipeline(client, [
    { statement: statements.lock, values: [encodeHalves(locks), encodeBooleans(locks.map(() => true))] },
  ]);
  let left = 0;
  for (const [tid, own] of Map.groupBy(streams, (one) => one.tid)) {
    const [, rows = []] = await sendPipeline(client, [
      journal.enter(tid),
      statements.entries(encodeLongs(own.map(({ sid }) => sid))),
    ]);
    const bySid = Map.groupBy(rows, (row) => numberColumn(row, 0));
    const built = own.map((one) => rowsOf(journal, one, bySid.get(one.sid) ?? []));
    left += built.filter((made) => made === undefined).length;
    const steps: readonly QueryStep[] = journal.views.write(
      tid,
      built.flatMap((made) => made ?? []),
    );
    await sendPipeline(client, [...steps, journal.enter("ids")]);
  }
  return left;
}

/** A stream with unknown events or erased bodies keeps its row as it is. */
function rowsOf(journal: PostgresJournal, { sid, stream }: Stream, rows: readonly ResultRow[]) {
  if (stream === undefined) return undefined;
  try {
    let head: Head = emptyHead(journal.folds, stream.kind);
    for (const row of rows) head = foldPostgresRow(journal.folds, stream, head, row);
    return head.seq === 0
      ? []
      : journal.views.project({ sid, isNew: false }, stream, {
          before: { kind: "unknown" },
          after: head.state,
        });
  } catch (error) {
    if (!isHoldpointError(error, "unknown_event") && !isHoldpointError(error, "body_erased")) throw error;
    return undefined;
  }
}
