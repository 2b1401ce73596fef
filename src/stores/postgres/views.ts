/**
 * Rows of views: written in the transaction of their stream, listed, counted and claimed. A claim hands out each due
 * row to one caller until its lease ends; if nothing is due, nothing is written.
 */

import { parseStreamRef, type StreamRef } from "../../kernel/stream.ts";
import type { ViewClaim, ViewQuery, ViewRow } from "../store.ts";
import { checkViewQuery, type Projections, rowChange, type StateBefore } from "../views.ts";
import { decodeText, encodeLongs, encodeText, encodeTexts, indexKey } from "./encode.ts";
import { postgresViewTable } from "./migrations.ts";
import {
  DATABASE_NOW,
  numberColumn,
  type ParameterValue,
  type QueryRunner,
  type QueryStep,
  type ResultRow,
  type Statement,
  textColumn,
} from "./query.ts";

export type PlannedRow = {
  readonly view: string;
  readonly sid: number;
  /** The stream is created in the same transaction, so it has no row yet. */
  readonly isNew: boolean;
  readonly row: Omit<ViewRow, "stream"> | undefined;
};

type PostgresRowKey = Pick<PlannedRow, "sid" | "isNew">;

type ViewStates = { readonly before: StateBefore; readonly after: unknown };

export type PostgresViews = {
  /** Runs before anything is written, because a projection may throw. */
  project(place: PostgresRowKey, stream: StreamRef, states: ViewStates): readonly PlannedRow[];
  /** At most one row per view and stream. */
  write(tid: number, rows: readonly PlannedRow[]): readonly QueryStep[];
  query(tid: number, query: ViewQuery): Promise<readonly ViewRow[]>;
  /** The step that lists the first page; `viewRow` reads its rows. */
  listing(tid: number, query: Omit<ViewQuery, "after">): QueryStep;
  count(tid: number, view: string, bucket: string): Promise<number>;
};

export function preparePostgresViews(
  { ask }: QueryRunner,
  schema: string,
  projections: Projections,
): PostgresViews {
  const writers = new Map(projections.all.map(({ view }) => [view, writeStatements(schema, view)]));
  const write = (view: string, tid: number, planned: readonly PlannedRow[]): readonly QueryStep[] => {
    const statements = writers.get(view);
    if (statements === undefined) return [];
    const gone = planned.flatMap(({ sid, row }) => (row === undefined ? [sid] : []));
    const fresh = planned.flatMap((one) => (one.isNew ? storedRows(one) : []));
    const rows = planned.flatMap((one) => (one.isNew ? [] : storedRows(one)));
    return [
      ...(gone.length > 0 ? [{ statement: statements.remove, values: [encodeLongs(gone)] }] : []),
      ...(fresh.length > 0 ? [{ statement: statements.insert, values: [tid, ...columns(fresh)] }] : []),
      ...(rows.length > 0 ? [{ statement: statements.upsert, values: [tid, ...columns(rows)] }] : []),
    ];
  };
  return {
    project: (place, stream, { before, after }) =>
      projections.of(stream.kind).flatMap((one) => {
        const change = rowChange(one, stream.id, before, after);
        if (change.kind === "none") return [];
        return [{ view: one.view, ...place, row: change.kind === "gone" ? undefined : change.row }];
      }),
    write: (tid, rows) =>
      [...Map.groupBy(rows, ({ view }) => view)].flatMap(([view, planned]) => write(view, tid, planned)),
    async query(tid, asked) {
      projections.named(asked.view);
      const cursor = { statement: streamNumber(schema), values: [tid, indexKey(asked.after?.stream ?? "")] };
      const [after = []] = asked.after === undefined ? [] : await ask(tid, cursor);
      checkViewQuery(asked, () => after.length > 0);
      const [rows = []] = await ask(
        tid,
        queryOf(schema, { ...asked, tid, afterSid: numberColumn(after[0], 0) }),
      );
      return rows.map(viewRow);
    },
    listing(tid, asked) {
      projections.named(asked.view);
      checkViewQuery(asked, () => true);
      return queryOf(schema, { ...asked, tid, afterSid: 0 });
    },
    async count(tid, view, bucket) {
      projections.named(view);
      const table = `${schema}.${postgresViewTable(view)}`;
      const text = `SELECT count(*) FROM ${table} WHERE tid = $1 AND bucket = $2`;
      const statement = { name: `hp_count_${view}`, text };
      const [rows] = await ask(tid, { statement, values: [tid, encodeText(bucket)] });
      return numberColumn(rows?.[0], 0);
    },
  };
}

type StoredRow = Omit<ViewRow, "stream"> & { readonly sid: number };

const storedRows = ({ sid, row }: PlannedRow): readonly StoredRow[] =>
  row === undefined ? [] : [{ sid, ...row }];

type ViewStatements = { readonly remove: Statement; readonly insert: Statement; readonly upsert: Statement };

function writeStatements(schema: string, view: string): ViewStatements {
  const table = `${schema}.${postgresViewTable(view)}`;
  const insert = `INSERT INTO ${table} AS v (tid, sid, bucket, at, due, data)
    SELECT $1::int4, r.* FROM unnest($2::int8[], $3::text[], $4::int8[], $5::int8[], $6::text[]) r`;
  return {
    remove: { name: `hp_hide_${view}`, text: `DELETE FROM ${table} WHERE sid = ANY ($1::int8[])` },
    insert: { name: `hp_show_${view}`, text: insert },
    upsert: {
      name: `hp_show_again_${view}`,
      text: `${insert} ON CONFLICT (sid) DO UPDATE
        SET bucket = excluded.bucket, at = excluded.at, due = excluded.due, data = excluded.data`,
    },
  };
}

function columns(rows: readonly StoredRow[]): readonly ParameterValue[] {
  return [
    encodeLongs(rows.map(({ sid }) => sid)),
    encodeTexts(rows.map(({ bucket }) => encodeText(bucket))),
    encodeLongs(rows.map(({ at }) => at)),
    encodeLongs(rows.map(({ due }) => due)),
    encodeTexts(rows.map(({ data }) => JSON.stringify(data))),
  ];
}

const streamNumber = (schema: string): Statement => ({
  name: "hp_stream_number",
  text: `SELECT sid FROM ${schema}.hp_streams WHERE tid = $1 AND key = $2 AND seq > 0`,
});

/** The columns of a listed row; `v` is the view's table. */
const shownColumns = (schema: string): string =>
  `(SELECT coalesce(s.whole, s.key) FROM ${schema}.hp_streams s WHERE s.sid = v.sid), v.bucket, v.at, v.due, v.data`;

/** Adding 0 excludes a column's index: due rows are few, and found by the index on `due`. */
function queryOf(schema: string, asked: ViewQuery & { tid: number; afterSid: number }): QueryStep {
  const { tid, bucket, dueBy, after, afterSid, order } = asked;
  const isDue = dueBy != null;
  const at = isDue ? "v.at + 0" : "v.at";
  const [than, direction] = order === "newest" ? ["<", "DESC"] : [">", "ASC"];
  const where = ["v.tid = $1"];
  const values: ParameterValue[] = [tid, asked.limit];
  const and = (condition: (next: (value: ParameterValue) => string) => string) =>
    where.push(condition((value) => `$${values.push(value)}`));
  if (bucket !== undefined) and((next) => `v.bucket = ${next(encodeText(bucket))}`);
  if (dueBy === null) where.push("v.due IS NULL");
  if (isDue) and((next) => `v.due <= ${next(dueBy)}`);
  if (after !== undefined)
    and((next) => `(${at}, v.sid) ${than} (${next(after.at)}::int8, ${next(afterSid)}::int8)`);
  const text = `SELECT ${shownColumns(schema)} FROM ${schema}.${postgresViewTable(asked.view)} v
    WHERE ${where.join(" AND ")} ORDER BY ${at} ${direction}, v.sid ${direction} LIMIT $2`;
  const parts = [bucket !== undefined, isDue, after !== undefined, order === "newest", dueBy === null];
  const shape = parts.map(Number).join("");
  return { statement: { name: `hp_list_${asked.view}_${shape}`, text }, values };
}

export function viewRow(row: ResultRow): ViewRow {
  return {
    stream: parseStreamRef(decodeText(textColumn(row, 0))),
    bucket: decodeText(textColumn(row, 1)),
    at: numberColumn(row, 2),
    due: row[3] === null ? null : numberColumn(row, 3),
    data: JSON.parse(textColumn(row, 4)),
  };
}

export type ClaimRows = (tid: number, claim: ViewClaim) => Promise<readonly ViewRow[]>;

type ClaimParts = {
  readonly schema: string;
  readonly projections: Projections;
  readonly clock?: { now(): number };
};

/** Skips a row that another caller is just claiming. A row claimed meanwhile is no longer free. */
export function prepareClaims({ ask }: QueryRunner, { schema, projections, clock }: ClaimParts): ClaimRows {
  const statementOf = (view: string) => {
    const table = `${schema}.${postgresViewTable(view)}`;
    const now = `coalesce($6::int8, ${DATABASE_NOW})`;
    return {
      name: `hp_claim_${view}`,
      text: `WITH due AS MATERIALIZED (
          SELECT sid FROM ${table} WHERE tid = $1 AND due <= $2 AND ($3::text IS NULL OR bucket = $3)
            AND coalesce(leased, 0) <= ${now} ORDER BY at + 0, sid LIMIT $4 FOR UPDATE SKIP LOCKED
        ), claimed AS (
          UPDATE ${table} v SET leased = ${now} + $5::int8 WHERE v.sid = ANY (ARRAY(SELECT sid FROM due)) RETURNING v.*
        ) SELECT ${shownColumns(schema)} FROM claimed v ORDER BY v.at, v.sid`,
    };
  };
  return async (tid, { view, bucket, dueBy, limit, leaseMs }) => {
    projections.named(view);
    checkViewQuery({ view, limit }, () => true);
    const chosen = bucket === undefined ? null : encodeText(bucket);
    const values = [tid, dueBy, chosen, limit, leaseMs, clock?.now() ?? null];
    const [rows = []] = await ask(tid, { statement: statementOf(view), values });
    return rows.map(viewRow);
  };
}
