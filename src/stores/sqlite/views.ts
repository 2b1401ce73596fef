import type { DatabaseSync, SQLInputValue, StatementSync } from "node:sqlite";
import { STREAM_KINDS } from "../../kernel/registry.ts";
import { parseStreamRef, type StreamRef } from "../../kernel/stream.ts";
import type { StoredProjection, ViewClaim, ViewQuery, ViewRow } from "../store.ts";
import { checkViewQuery, type Projections, rowChange, type StateBefore } from "../views.ts";
import { sqliteViewTable } from "./migrations.ts";

export type SqliteViews = {
  write(place: SqliteRowKey, stream: StreamRef, states: { before: StateBefore; after: unknown }): void;
  query(tid: number, query: ViewQuery): readonly ViewRow[];
  count(tid: number, view: string, bucket: string): number;
  /** Due rows without a claim, with the numbers of their streams. */
  free(
    tid: number,
    claim: ViewClaim,
    now: number,
  ): readonly { readonly sid: number; readonly row: ViewRow }[];
};

type SqliteRowKey = { readonly tid: number; readonly sid: number };

export function prepareSqliteViews(db: DatabaseSync, projections: Projections): SqliteViews {
  const writers = new Map(
    STREAM_KINDS.map((kind) => [kind, projections.of(kind).map((one) => prepareWrite(db, one))]),
  );
  const statements = new Map<string, StatementSync>();
  const prepared = (sql: string): StatementSync => {
    const statement = statements.get(sql) ?? db.prepare(sql);
    statements.set(sql, statement);
    return statement;
  };
  const findStream = db.prepare("SELECT sid FROM hp_streams WHERE tid = ? AND name = ?");
  return {
    write(place, stream, states) {
      for (const write of writers.get(stream.kind) ?? []) write(place, stream, states);
    },
    query(tid, asked) {
      projections.named(asked.view);
      const after = asked.after && findStream.get(tid, asked.after.stream);
      checkViewQuery(asked, () => after !== undefined);
      const { sql, values } = queryOf({ ...asked, tid, afterSid: Number(after?.["sid"]) });
      return prepared(sql)
        .all(...values)
        .map(viewRow);
    },
    count(tid, view, bucket) {
      projections.named(view);
      const sql = `SELECT count(*) AS n FROM ${sqliteViewTable(view)} WHERE tid = ? AND bucket = ?`;
      return Number(prepared(sql).get(tid, bucket)?.["n"]);
    },
    free(tid, claim, now) {
      projections.named(claim.view);
      checkViewQuery(claim, () => true);
      const rows = prepared(freeSql(claim)).all(
        tid,
        claim.dueBy,
        claim.view,
        now,
        ...bucketOf(claim),
        claim.limit,
      );
      return rows.map((row) => ({ sid: Number(row["sid"]), row: viewRow(row) }));
    },
  };
}

type Write = SqliteViews["write"];

function prepareWrite(db: DatabaseSync, projection: StoredProjection): Write {
  const table = sqliteViewTable(projection.view);
  const remove = db.prepare(`DELETE FROM ${table} WHERE sid = ?`);
  const upsert = db.prepare(
    `INSERT INTO ${table} (sid, tid, bucket, at, due, data) VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (sid) DO UPDATE
     SET bucket = excluded.bucket, at = excluded.at, due = excluded.due, data = excluded.data`,
  );
  // If a row's times are unchanged, their indexes are not touched: that is most changes.
  const update = db.prepare(`UPDATE ${table} SET bucket = ?, data = ? WHERE sid = ?`);
  return ({ sid, tid }, stream, { before, after }) => {
    const change = rowChange(projection, stream.id, before, after);
    if (change.kind === "none") return;
    if (change.kind === "gone") return void remove.run(sid);
    const { bucket, at, due } = change.row;
    const data = JSON.stringify(change.row.data);
    if (change.kind === "kept" && update.run(bucket, data, sid).changes === 1) return;
    upsert.run(sid, tid, bucket, at, due, data);
  };
}

/** A unary plus excludes a column's index: due rows are few, and found by the index on `due`. */
function queryOf(asked: ViewQuery & { tid: number; afterSid: number }): {
  sql: string;
  values: SQLInputValue[];
} {
  const { tid, bucket, dueBy, after, afterSid } = asked;
  const plus = dueBy == null ? "" : "+";
  const [than, direction] = asked.order === "newest" ? ["<", "DESC"] : [">", "ASC"];
  const where = ["v.tid = ?"];
  const values: SQLInputValue[] = [tid];
  const and = (condition: string, ...more: readonly SQLInputValue[]) => {
    where.push(condition);
    values.push(...more);
  };
  if (bucket !== undefined) and(`${plus}v.bucket = ?`, bucket);
  if (dueBy === null) and("v.due IS NULL");
  else if (dueBy !== undefined) and("v.due <= ?", dueBy);
  if (after !== undefined) and(`(${plus}v.at, v.sid) ${than} (?, ?)`, after.at, afterSid);
  const sql = `SELECT s.name, v.bucket, v.at, v.due, v.data
    FROM ${sqliteViewTable(asked.view)} v CROSS JOIN hp_streams s ON s.sid = v.sid
    WHERE ${where.join(" AND ")} ORDER BY ${plus}v.at ${direction}, v.sid ${direction} LIMIT ?`;
  return { sql, values: [...values, asked.limit] };
}

const bucketOf = ({ bucket }: ViewClaim): readonly string[] => (bucket === undefined ? [] : [bucket]);

function freeSql({ view, bucket }: ViewClaim): string {
  return `SELECT v.sid, s.name, v.bucket, v.at, v.due, v.data
    FROM ${sqliteViewTable(view)} v CROSS JOIN hp_streams s ON s.sid = v.sid
    WHERE v.tid = ? AND v.due <= ? AND NOT EXISTS
      (SELECT 1 FROM hp_claims c WHERE c.view = ? AND c.sid = v.sid AND c.until > ?)
      ${bucket === undefined ? "" : "AND +v.bucket = ?"} ORDER BY +v.at, v.sid LIMIT ?`;
}

function viewRow(row: Record<string, unknown>): ViewRow {
  return {
    stream: parseStreamRef(String(row["name"])),
    bucket: String(row["bucket"]),
    at: Number(row["at"]),
    due: row["due"] === null ? null : Number(row["due"]),
    data: JSON.parse(String(row["data"])),
  };
}
