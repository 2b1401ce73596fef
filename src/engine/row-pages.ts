/** Pages of a view's rows: for people and clients with a cursor that they hand back, and all of them for the engine. */

import { rejectInput } from "../kernel/fields.ts";
import { type IdPrefix, isId } from "../kernel/ids.ts";
import type { StreamKind } from "../kernel/stream.ts";
import { displayValue } from "../kernel/text.ts";

import type { ViewQuery, ViewRow } from "../stores/store.ts";

import type { Runtime } from "./runtime.ts";

type Place = Pick<Runtime, "store" | "tenant">;
type After = NonNullable<ViewQuery["after"]>;

/** How a cursor tells the list's streams from others: by the prefix of their ids, or they have names. */
type Known = { readonly prefix: IdPrefix } | { readonly isName: (id: unknown) => boolean };

export type Asked = Known & {
  readonly view: string;
  /** Of whose rows a cursor of the list can be. */
  readonly kind: StreamKind;
  /** Of every bucket where it is "any". */
  readonly bucket?: string;
  readonly order: "oldest" | "newest";
  readonly limit: number;
  readonly after: string | undefined;
};

export type RowPage = { readonly rows: readonly ViewRow[]; readonly next: string | null };

const MOST = 1_000;
const SCANNED = 500;
/** Rows that one request looks at: whoever asks for what is rare goes on from there. */
export const MOST_SCANNED = 10_000;

function readCursor(asked: Asked): After | undefined {
  const { kind, after } = asked;
  if (after === undefined) return undefined;
  const [, at, id] = /^(\d{1,16})-(.+)$/.exec(String(after)) ?? [];
  if (!("prefix" in asked ? isId(asked.prefix, id) : asked.isName(id)))
    return rejectInput(`"${displayValue(after)}" is not a cursor of this list.`);
  return { at: Number(at), stream: `${kind}/${id}` };
}

function queryOf(asked: Asked): Omit<ViewQuery, "limit"> {
  const { view, bucket = "any", order, limit } = asked;
  if (order !== "newest" && order !== "oldest") rejectInput("A list's order is oldest or newest.");
  if (!Number.isInteger(limit) || limit < 1 || limit > MOST)
    rejectInput(`A limit is a whole number from 1 to ${MOST}.`);
  const after = readCursor(asked);
  return { view, order, ...(bucket === "any" ? {} : { bucket }), ...(after && { after }) };
}

/** Where a list goes on after a row. */
export const cursorAfter = ({ at, stream }: ViewRow): string => `${at}-${stream.id}`;

export type Fits = (row: ViewRow) => boolean | Promise<boolean>;
const ANY: Fits = () => true;

/** Others have their turn: a store may answer without ever waiting for anything. */
export const othersTurn = () => new Promise<void>((resolve) => setImmediate(resolve));

/**
 * One page; a filter is for what the view's buckets don't tell apart. Where it has looked at as many rows as it may, the page is
 * short, or empty, and says where it goes on.
 */
export async function rowPage(place: Place, asked: Asked, fits: Fits = ANY): Promise<RowPage> {
  const { limit } = asked;
  const query = { ...queryOf(asked), limit: fits === ANY ? limit + 1 : SCANNED };
  const rows: ViewRow[] = [];
  let scanned = 0;
  let last: ViewRow | undefined;
  for await (const row of eachRow(place, query)) {
    const isFit = await fits(row);
    const isOver = scanned === MOST_SCANNED || (isFit && rows.length === limit);
    if (isOver && last !== undefined) return { rows, next: cursorAfter(last) };
    if (isFit) rows.push(row);
    last = row;
    if (++scanned % SCANNED === 0) await othersTurn();
  }
  return { rows, next: null };
}

/** Every row, read a page of `limit` at a time. */
export async function* eachRow(
  { store, tenant }: Place,
  { limit = SCANNED, ...query }: Omit<ViewQuery, "limit"> & { readonly limit?: number },
): AsyncGenerator<ViewRow> {
  let { after } = query;
  for (;;) {
    const rows = await store.query(tenant, { ...query, limit, ...(after && { after }) });
    yield* rows;
    const last = rows.at(-1);
    if (last === undefined || rows.length < limit) return;
    after = { at: last.at, stream: `${last.stream.kind}/${last.stream.id}` };
  }
}

export const summaryOf = (row: ViewRow) => ({ id: row.stream.id, ...row.data });
