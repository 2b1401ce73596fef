/**
 * Folds every stream again into the views, one page of streams per transaction. `hp_views.built` keeps the position:
 * after a crash the next open resumes there, and two processes share the work. Streams written since are up to date.
 */
import type { DatabaseSync } from "node:sqlite";
import { isHoldpointError } from "../../kernel/errors.ts";
import { findStreamRef, type StreamRef } from "../../kernel/stream.ts";
import { emptyHead } from "../head.ts";
import type { Rebuilt } from "../store.ts";
import { type Writer, writeInNextBatch } from "./group-commit.ts";
import { foldSqliteRow } from "./heads.ts";
import type { SqliteJournal } from "./journal.ts";
import { bumpFileLayout, sqliteViewTable } from "./migrations.ts";
import { SQLITE_ENTRY_COLUMNS } from "./read.ts";

const PAGE = 100;

type Work = { readonly journal: SqliteJournal; readonly writer: Writer };
type Progress = (done: number, total: number) => void;

export async function rebuildSqliteViews(work: Work, progress: Progress): Promise<Rebuilt> {
  await writeInNextBatch(work.writer, () => markAll(work.journal));
  return resumeSqliteRebuild(work, progress);
}

/** Builds the views marked as not built. */
export async function resumeSqliteRebuild(work: Work, progress: Progress = () => {}): Promise<Rebuilt> {
  const { db } = work.journal;
  if (rebuildPosition(work.journal) === undefined) return { streams: 0, left: 0 };
  const total = Number(db.prepare("SELECT count(*) AS n FROM hp_streams").get()?.["n"]);
  let done = 0;
  let left = 0;
  for (;;) {
    const page = await writeInNextBatch(work.writer, () => buildPage(work.journal));
    if (page === undefined) return { streams: done, left };
    done += page.streams;
    left += page.left;
    progress(Math.min(done, total), total);
  }
}

function markAll({ db, projections }: SqliteJournal): void {
  for (const { view, kind, version } of projections.all) {
    db.prepare("UPDATE hp_views SET built = 0, stale = 0 WHERE view = ? AND version = ?").run(view, version);
    const kept = "SELECT sid FROM hp_streams WHERE substr(name, 1, ?) = ?";
    db.prepare(`DELETE FROM ${sqliteViewTable(view)} WHERE sid NOT IN (${kept})`).run(
      kind.length + 1,
      `${kind}/`,
    );
  }
  // Makes processes that write older rows check the views again, and mark them stale.
  bumpFileLayout(db);
}

function rebuildPosition({ db, projections }: SqliteJournal): number | undefined {
  const ours = new Map(projections.all.map(({ view, version }) => [view, version]));
  const rows = db.prepare("SELECT view, version, built FROM hp_views WHERE built IS NOT NULL").all();
  // Skip views that another version has built or is building.
  const own = rows.filter((row) => ours.get(String(row["view"])) === Number(row["version"]));
  return own.length === 0 ? undefined : Math.min(...own.map((row) => Number(row["built"])));
}

/** Undefined if everything is built. */
function buildPage(journal: SqliteJournal): Rebuilt | undefined {
  const { db } = journal;
  const place = rebuildPosition(journal);
  if (place === undefined) return undefined;
  const rows = db
    .prepare("SELECT sid, tid, name FROM hp_streams WHERE sid > ? ORDER BY sid LIMIT ?")
    .all(place, PAGE);
  const built = rows.map((row) =>
    build(journal, { sid: Number(row["sid"]), tid: Number(row["tid"]) }, findStreamRef(String(row["name"]))),
  );
  const last = rows.length < PAGE ? null : Number(rows.at(-1)?.["sid"]);
  const advance = db.prepare("UPDATE hp_views SET built = ? WHERE built = ? AND view = ? AND version = ?");
  for (const { view, version } of journal.projections.all) advance.run(last, place, view, version);
  return { streams: rows.length, left: built.filter((isBuilt) => !isBuilt).length };
}

/** A stream with unknown events or erased bodies keeps its row as it is. */
function build(
  journal: SqliteJournal,
  place: { sid: number; tid: number },
  stream: StreamRef | undefined,
): boolean {
  if (stream === undefined) return false;
  try {
    const folded = refold(journal.db, journal, { sid: place.sid, stream });
    if (folded.seq > 0)
      journal.views.write(place, stream, { before: { kind: "unknown" }, after: folded.state });
    return true;
  } catch (error) {
    if (!isHoldpointError(error, "unknown_event") && !isHoldpointError(error, "body_erased")) throw error;
    return false;
  }
}

function refold(
  db: DatabaseSync,
  { folds }: SqliteJournal,
  { sid, stream }: { sid: number; stream: StreamRef },
) {
  let head = emptyHead(folds, stream.kind);
  for (const row of db
    .prepare(`SELECT ${SQLITE_ENTRY_COLUMNS} FROM hp_entries WHERE sid = ? ORDER BY seq`)
    .iterate(sid))
    head = foldSqliteRow(folds, stream, head, row);
  return head;
}
