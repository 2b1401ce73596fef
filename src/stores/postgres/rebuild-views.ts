/**
 * Folds every stream again into the views, a page of streams to a transaction. `hp_views.built` keeps the place: after a
 * crash the next open goes on there, and two processes at it share the work. Streams written meanwhile are right already:
 * a page holds its streams still.
 */
import { isHoldpointError } from "../../kernel/errors.ts";
import { findStreamRef, type StreamRef } from "../../kernel/stream.ts";

import { emptyHead, foldEntry, type Head } from "../head.ts";
import type { Rebuilt } from "../store.ts";
import { hexAt, numberAt, textAt } from "./ask.ts";
import type { Client } from "./driver.ts";
import { booleans, halves, longs } from "./encode.ts";
import { BEGIN, COMMIT, ROLLBACK } from "./ground.ts";
import type { Journal } from "./journal.ts";
import { lockOf, ordered } from "./locks.ts";
import { patiently } from "./patience.ts";
import { type Row, type Step, send } from "./pipeline.ts";
import { rebuildStatements } from "./rebuild-statements.ts";
import { fromText } from "./text-key.ts";

const PAGE = 100;

type Progress = (done: number, total: number) => void;

export async function rebuildViews(journal: Journal, progress: Progress): Promise<Rebuilt> {
  const statements = rebuildStatements(journal.schema, journal.projections);
  await journal.ask("ids", ...statements.mark());
  await removeStrangers(journal, statements);
  return goOn(journal, progress);
}

type Statements = ReturnType<typeof rebuildStatements>;

/** Rows of streams that are not of the view's kind: a projection may have changed it. */
async function removeStrangers(journal: Journal, statements: Statements): Promise<void> {
  const [tids = []] = await journal.ask("ids", statements.tenants());
  for (const row of tids) await journal.ask(numberAt(row, 0), ...statements.removeStrangers());
}

/** Builds what is marked as not built. */
export async function goOn(journal: Journal, progress: Progress = () => {}): Promise<Rebuilt> {
  const statements = rebuildStatements(journal.schema, journal.projections);
  const [place, total] = await journal.ask("ids", statements.place(), statements.total());
  if (place?.[0]?.[0] == null) return { streams: 0, left: 0 };
  const many = numberAt(total?.[0], 0);
  let done = 0;
  let left = 0;
  for (;;) {
    const page = await patiently(journal.patience, () =>
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
  /** Undefined: of a kind that this program does not know. */
  readonly stream: StreamRef | undefined;
  readonly name: string;
};

/** undefined: all is built. */
async function buildPage(
  journal: Journal,
  statements: Statements,
  client: Client,
): Promise<Rebuilt | undefined> {
  const lock = halves([lockOf(journal.space, "work", 0, "rebuild")]);
  const [, , , place] = await send(client, [
    { statement: BEGIN },
    journal.enter("ids"),
    { statement: statements.lock, values: [lock, booleans([true])] },
    statements.place(),
  ]);
  if (place?.[0]?.[0] == null) {
    await send(client, [{ statement: ROLLBACK }]);
    return undefined;
  }
  const before = numberAt(place[0], 0);
  const [rows = []] = await send(client, [statements.page(before, PAGE)]);
  const streams = rows.map(streamOf);
  const left = await buildStreams(journal, statements, client, streams);
  const last = rows.length < PAGE ? null : (streams.at(-1)?.sid ?? null);
  await send(client, [statements.advance(before, last), { statement: COMMIT }]);
  return { streams: streams.length, left };
}

function streamOf(row: Row): Stream {
  const name = fromText(textAt(row, 2));
  return { sid: numberAt(row, 0), tid: numberAt(row, 1), name, stream: findStreamRef(name) };
}

async function buildStreams(
  journal: Journal,
  statements: Statements,
  client: Client,
  streams: readonly Stream[],
): Promise<number> {
  if (streams.length === 0) return 0;
  const locks = ordered(
    streams.map(({ tid, name }) => ({ ...lockOf(journal.space, "stream", tid, name), write: true })),
  );
  await send(client, [
    { statement: statements.lock, values: [halves(locks), booleans(locks.map(() => true))] },
  ]);
  let left = 0;
  for (const [tid, own] of Map.groupBy(streams, (one) => one.tid)) {
    const [, rows = []] = await send(client, [
      journal.enter(tid),
      statements.entries(longs(own.map(({ sid }) => sid))),
    ]);
    const bySid = Map.groupBy(rows, (row) => numberAt(row, 0));
    const built = own.map((one) => rowsOf(journal, one, bySid.get(one.sid) ?? []));
    left += built.filter((made) => made === undefined).length;
    const steps: readonly Step[] = journal.views.write(
      tid,
      built.flatMap((made) => made ?? []),
    );
    await send(client, [...steps, journal.enter("ids")]);
  }
  return left;
}

/** A stream with events that this program does not know, or whose bodies were erased, is left alone with its row. */
function rowsOf(journal: Journal, { sid, stream }: Stream, rows: readonly Row[]) {
  if (stream === undefined) return undefined;
  try {
    let head: Head = emptyHead(journal.folds, stream.kind);
    for (const row of rows)
      head = foldEntry(journal.folds, stream.kind, head, {
        header: textAt(row, 1),
        hash: hexAt(row, 2),
        salt: null,
        body: row[3] ?? null,
      });
    return head.seq === 0 ? [] : journal.views.project({ sid, isNew: false }, stream, { after: head.state });
  } catch (error) {
    if (!isHoldpointError(error, "unknown_event") && !isHoldpointError(error, "body_erased")) throw error;
    return undefined;
  }
}
