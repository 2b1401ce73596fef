/** Writes rows on one connection, inside its transaction. */
import type { DatabaseSync } from "node:sqlite";
import { prepareArtifacts } from "./artifacts.ts";
import type { Rows, StreamRows, ViewChange } from "./rows.ts";
import { viewTable } from "./view-tables.ts";

export type WriteRows = (rows: Rows) => void;

export function prepareWriteRows(db: DatabaseSync, views: readonly string[]): WriteRows {
  const artifacts = prepareArtifacts(db);
  const writeStream = prepareStreams(db);
  const writeView = prepareViewChanges(db, views);
  const lead = db.prepare("INSERT OR REPLACE INTO hp_names (tid, name, stream) VALUES (?, ?, ?)");
  return ({ tid, streams, names, artifacts: pieces }) => {
    for (const stream of streams) {
      writeStream(tid, stream);
      for (const change of stream.views) writeView(change);
    }
    for (const { name, stream } of names) lead.run(tid, name, stream);
    for (const artifact of pieces) artifacts.put(tid, artifact);
  };
}

function prepareStreams(db: DatabaseSync): (tid: number, rows: StreamRows) => void {
  const insertStream = db.prepare("INSERT INTO hp_streams (sid, tid, name) VALUES (?, ?, ?)");
  const insertEntry = db.prepare(
    "INSERT INTO hp_entries (position, tid, sid, seq, header, hash, salt, body) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
  );
  const keep = db.prepare(
    "INSERT OR REPLACE INTO hp_snapshots (sid, seq, version, hash, state) VALUES (?, ?, ?, ?, ?)",
  );
  return (tid, { sid, name, snapshot, entries, ...first }) => {
    if (name !== null) insertStream.run(sid, tid, name);
    let { position, seq } = first;
    for (const { header, hash, salt, body } of entries)
      insertEntry.run(position++, tid, sid, seq++, header, bytesOf(hash), bytesOf(salt), body);
    if (snapshot !== null)
      keep.run(sid, snapshot.seq, snapshot.version, bytesOf(snapshot.hash), snapshot.state);
  };
}

const bytesOf = (hex: string | null): Buffer | null => (hex === null ? null : Buffer.from(hex, "hex"));

export function prepareViewChanges(db: DatabaseSync, views: readonly string[]): (change: ViewChange) => void {
  const statements = new Map(views.map((view) => [view, prepareView(db, viewTable(view))]));
  return (change) => {
    const statement = statements.get(change.view);
    if (statement === undefined) throw new TypeError(`there is no view "${change.view}"`);
    const { remove, upsert, update } = statement;
    if (change.kind === "remove") return void remove.run(change.sid);
    const { sid, tid, bucket, at, due, data, isInPlace } = change;
    if (isInPlace && update.run(bucket, data, sid).changes === 1) return;
    upsert.run(sid, tid, bucket, at, due, data);
  };
}

function prepareView(db: DatabaseSync, table: string) {
  return {
    remove: db.prepare(`DELETE FROM ${table} WHERE sid = ?`),
    upsert: db.prepare(
      `INSERT INTO ${table} (sid, tid, bucket, at, due, data) VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (sid) DO UPDATE
       SET bucket = excluded.bucket, at = excluded.at, due = excluded.due, data = excluded.data`,
    ),
    // Where its times stay as they were, their indexes are not touched: most of a row's changes.
    update: db.prepare(`UPDATE ${table} SET bucket = ?, data = ? WHERE sid = ?`),
  };
}
