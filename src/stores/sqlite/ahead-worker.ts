/**
 * The other thread: writes batches that were decided ahead, on a connection of its own.
 *
 * A2. It writes only where the decisions stood: nobody has appended since, every name they looked up leads where it led,
 *     and the layout is the same. Otherwise nothing is written.
 */
import { parentPort, workerData } from "node:worker_threads";
import type { AheadBatch, AheadOutcome, AheadSetup } from "./ahead.ts";
import { connect } from "./connect.ts";
import { isBusy, isInputOutput } from "./sqlite-errors.ts";
import { prepareWriteRows } from "./write-rows.ts";

const { file, views }: AheadSetup = workerData;
const db = connect(file);
const writeRows = prepareWriteRows(db, views);
const begin = db.prepare("BEGIN IMMEDIATE");
const commit = db.prepare("COMMIT");
const last = db.prepare(
  `SELECT (SELECT coalesce(max(position), 0) FROM hp_entries) AS position,
          (SELECT coalesce(max(sid), 0) FROM hp_streams) AS sid,
          (SELECT value FROM hp_meta WHERE key = 'layout') AS layout`,
);
const leads = db.prepare("SELECT stream FROM hp_names WHERE tid = ? AND name = ?");

function isWhereExpected({ base, layout, looked }: AheadBatch): boolean {
  const row = last.get();
  if (row?.["position"] !== base.position || row["sid"] !== base.sid || row["layout"] !== layout)
    return false;
  return looked.every(({ tid, name, stream }) => (leads.get(tid, name)?.["stream"] ?? null) === stream);
}

function undone(): AheadOutcome {
  try {
    if (db.isTransaction) db.exec("ROLLBACK");
  } catch {
    // The next BEGIN fails then, and its batch is decided again on the first thread.
  }
  return { kind: "undone" };
}

function write(batch: AheadBatch): AheadOutcome {
  try {
    begin.run();
  } catch (error) {
    return { kind: isBusy(error) ? "stale" : "undone" };
  }
  try {
    if (!isWhereExpected(batch)) return { ...undone(), kind: "stale" };
    for (const rows of batch.rows) writeRows(rows);
  } catch {
    return undone();
  }
  try {
    commit.run();
    return { kind: "committed" };
  } catch (error) {
    undone();
    return { kind: isInputOutput(error) ? "unknown" : "undone" };
  }
}

parentPort?.on("message", (batch: AheadBatch | "close") => {
  if (batch !== "close") return parentPort?.postMessage(write(batch));
  db.close();
  parentPort?.close();
});
parentPort?.postMessage("ready");
