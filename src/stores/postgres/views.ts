/** Rows of views: written in the transaction of what they show, listed and counted. */
import { parseStreamRef, type StreamRef } from "../../kernel/stream.ts";
import { checkQuery } from "../check-query.ts";
import { isSameRow, type Projections, rowOf } from "../project.ts";
import type { ViewQuery, ViewRow } from "../store.ts";
import { type Ask, numberAt, textAt } from "./ask.ts";
import { longs, texts } from "./encode.ts";
import type { Row, Statement, Step, Value } from "./pipeline.ts";
import { fromText, keyOf, toText } from "./text-key.ts";
import { viewTable } from "./view-tables.ts";

export type PlannedRow = {
  readonly view: string;
  readonly sid: number;
  /** The stream is made in the same transaction: it has no row yet. */
  readonly isNew: boolean;
  readonly row: Omit<ViewRow, "stream"> | undefined;
};

export type ViewPlace = Pick<PlannedRow, "sid" | "isNew">;

/** `before` is absent where a row has to be made in any case. */
export type ViewStates = { readonly before?: unknown; readonly after: unknown };

export type Views = {
  /** Before anything is written: a projection may throw. */
  project(place: ViewPlace, stream: StreamRef, states: ViewStates): readonly PlannedRow[];
  /** At most one row a view and stream. */
  write(tid: number, rows: readonly PlannedRow[]): readonly Step[];
  query(tid: number, query: ViewQuery): Promise<readonly ViewRow[]>;
  /** The step that lists a page from its beginning; its rows are for `viewRow`. */
  listing(tid: number, query: Omit<ViewQuery, "after">): Step;
  count(tid: number, view: string, bucket: string): Promise<number>;
};

export function prepareViews({ ask }: Ask, schema: string, projections: Projections): Views {
  const writers = new Map(projections.all.map(({ view }) => [view, writeStatements(schema, view)]));
  const write = (view: string, tid: number, planned: readonly PlannedRow[]): readonly Step[] => {
    const statements = writers.get(view);
    if (statements === undefined) return [];
    const gone = planned.flatMap(({ sid, row }) => (row === undefined ? [sid] : []));
    const fresh = planned.flatMap((one) => (one.isNew ? shownOf(one) : []));
    const rows = planned.flatMap((one) => (one.isNew ? [] : shownOf(one)));
    return [
      ...(gone.length > 0 ? [{ statement: statements.remove, values: [longs(gone)] }] : []),
      ...(fresh.length > 0 ? [{ statement: statements.insert, values: [tid, ...columns(fresh)] }] : []),
      ...(rows.length > 0 ? [{ statement: statements.upsert, values: [tid, ...columns(rows)] }] : []),
    ];
  };
  return {
    project: (place, stream, { before, after }) =>
      projections
        .of(stream.kind)
        .filter((one) => before === undefined || !isSameRow(one, before, after))
        .map((one) => ({ view: one.view, ...place, row: rowOf(one, stream, after) })),
    write: (tid, rows) =>
      [...Map.groupBy(rows, ({ view }) => view)].flatMap(([view, planned]) => write(view, tid, planned)),
    async query(tid, asked) {
      projections.named(asked.view);
      const cursor = { statement: streamNumber(schema), values: [tid, keyOf(asked.after?.stream ?? "")] };
      const [after = []] = asked.after === undefined ? [] : await ask(tid, cursor);
      checkQuery(asked, () => after.length > 0);
      const [rows = []] = await ask(tid, queryOf(schema, { ...asked, tid, afterSid: numberAt(after[0], 0) }));
      return rows.map(viewRow);
    },
    listing(tid, asked) {
      projections.named(asked.view);
      checkQuery(asked, () => true);
      return queryOf(schema, { ...asked, tid, afterSid: 0 });
    },
    async count(tid, view, bucket) {
      projections.named(view);
      const table = `${schema}.${viewTable(view)}`;
      const text = `SELECT count(*) FROM ${table} WHERE tid = $1 AND bucket = $2`;
      const statement = { name: `hp_count_${view}`, text };
      const [rows] = await ask(tid, { statement, values: [tid, toText(bucket)] });
      return numberAt(rows?.[0], 0);
    },
  };
}

type Shown = Omit<ViewRow, "stream"> & { readonly sid: number };

const shownOf = ({ sid, row }: PlannedRow): readonly Shown[] => (row === undefined ? [] : [{ sid, ...row }]);

type Writing = { readonly remove: Statement; readonly insert: Statement; readonly upsert: Statement };

function writeStatements(schema: string, view: string): Writing {
  const table = `${schema}.${viewTable(view)}`;
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

function columns(rows: readonly Shown[]): readonly Value[] {
  return [
    longs(rows.map(({ sid }) => sid)),
    texts(rows.map(({ bucket }) => toText(bucket))),
    longs(rows.map(({ at }) => at)),
    longs(rows.map(({ due }) => due)),
    texts(rows.map(({ data }) => JSON.stringify(data))),
  ];
}

const streamNumber = (schema: string): Statement => ({
  name: "hp_stream_number",
  text: `SELECT sid FROM ${schema}.hp_streams WHERE tid = $1 AND key = $2 AND seq > 0`,
});

/** What a row is shown as; `v` is the view's table. */
export const shownColumns = (schema: string): string =>
  `(SELECT coalesce(s.whole, s.key) FROM ${schema}.hp_streams s WHERE s.sid = v.sid), v.bucket, v.at, v.due, v.data`;

/** Adding 0 keeps a column's index out of the way: what is due is few rows, found by the index on `due`. */
function queryOf(schema: string, asked: ViewQuery & { tid: number; afterSid: number }): Step {
  const { tid, bucket, dueBy, after, afterSid, order } = asked;
  const isDue = dueBy != null;
  const at = isDue ? "v.at + 0" : "v.at";
  const [than, direction] = order === "newest" ? ["<", "DESC"] : [">", "ASC"];
  const where = ["v.tid = $1"];
  const values: Value[] = [tid, asked.limit];
  const and = (condition: (next: (value: Value) => string) => string) =>
    where.push(condition((value) => `$${values.push(value)}`));
  if (bucket !== undefined) and((next) => `v.bucket = ${next(toText(bucket))}`);
  if (dueBy === null) where.push("v.due IS NULL");
  if (isDue) and((next) => `v.due <= ${next(dueBy)}`);
  if (after !== undefined)
    and((next) => `(${at}, v.sid) ${than} (${next(after.at)}::int8, ${next(afterSid)}::int8)`);
  const text = `SELECT ${shownColumns(schema)} FROM ${schema}.${viewTable(asked.view)} v
    WHERE ${where.join(" AND ")} ORDER BY ${at} ${direction}, v.sid ${direction} LIMIT $2`;
  const parts = [bucket !== undefined, isDue, after !== undefined, order === "newest", dueBy === null];
  const shape = parts.map(Number).join("");
  return { statement: { name: `hp_list_${asked.view}_${shape}`, text }, values };
}

export function viewRow(row: Row): ViewRow {
  return {
    stream: parseStreamRef(fromText(textAt(row, 0))),
    bucket: fromText(textAt(row, 1)),
    at: numberAt(row, 2),
    due: row[3] === null ? null : numberAt(row, 3),
    data: JSON.parse(textAt(row, 4)),
  };
}
