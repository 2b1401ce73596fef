/**
 * Pages of a view's rows, with a cursor for clients and complete for the runtime; ids found by prefix; and streams that
 * this program cannot read, because a newer one wrote to them or a body was erased. Such a stream never stops work on
 * the others: loops handle each stream by itself.
 */

import { type HoldpointError, isHoldpointError } from "../kernel/errors.ts";
import { rejectInput } from "../kernel/fields.ts";
import { isId } from "../kernel/ids.ts";
import type { IdPrefix, ListName, StreamKind } from "../kernel/registry.ts";
import { displayValue } from "../kernel/text.ts";
import type { TenantStore, ViewQuery, ViewRow } from "../stores/store.ts";
import { workflowName } from "../workflows/rules/create.ts";

export const isUnreadable = (error: unknown): error is HoldpointError =>
  isHoldpointError(error, "unknown_event") || isHoldpointError(error, "body_erased");

/** Undefined if the stream is unreadable. */
export async function skipUnreadable<Value>(work: Promise<Value>): Promise<Value | undefined> {
  try {
    return await work;
  } catch (error) {
    if (isUnreadable(error)) return undefined;
    throw error;
  }
}

/** Handles every item, skipping unreadable streams, then throws the error of the first one skipped. */
export async function forEachReadable<Item>(
  items: Iterable<Item>,
  work: (item: Item) => Promise<unknown>,
): Promise<void> {
  let left: HoldpointError | undefined;
  for (const item of items)
    try {
      await work(item);
    } catch (error) {
      if (!isUnreadable(error)) throw error;
      left ??= error;
    }
  if (left !== undefined) throw left;
}

type After = NonNullable<ViewQuery["after"]>;

/** How a cursor identifies the list's streams: by the prefix of their ids, or by name. */
type CursorKind = { readonly prefix: IdPrefix } | { readonly isName: (id: unknown) => boolean };

type ListQuery = CursorKind & {
  readonly view: string;
  /** Kind of the streams in the list's cursors. */
  readonly kind: StreamKind;
  /** Default: "any", which is every bucket. */
  readonly bucket?: string;
  readonly order: "oldest" | "newest";
  readonly limit: number;
  readonly after: string | undefined;
};

export type RowPage = { readonly rows: readonly ViewRow[]; readonly next: string | null };

const MOST_ROWS = 1_000;
const SCANNED = 500;
/** Most rows that one request scans. A search for rare rows continues with the cursor. */
export const MOST_SCANNED = 10_000;

function readCursor(asked: ListQuery): After | undefined {
  const { kind, after } = asked;
  if (after === undefined) return undefined;
  const [, at, id] = /^(\d{1,16})-(.+)$/.exec(String(after)) ?? [];
  if (!("prefix" in asked ? isId(asked.prefix, id) : asked.isName(id)))
    return rejectInput(`"${displayValue(after)}" is not a cursor of this list.`);
  return { at: Number(at), stream: `${kind}/${id}` };
}

function queryOf(asked: ListQuery): Omit<ViewQuery, "limit"> {
  const { view, bucket = "any", order, limit } = asked;
  if (order !== "newest" && order !== "oldest") rejectInput("A list's order is oldest or newest.");
  if (!Number.isInteger(limit) || limit < 1 || limit > MOST_ROWS)
    rejectInput(`A limit is a whole number from 1 to ${MOST_ROWS}.`);
  const after = readCursor(asked);
  return { view, order, ...(bucket === "any" ? {} : { bucket }), ...(after && { after }) };
}

/** The cursor after a row. */
export const cursorAfter = ({ at, stream }: ViewRow): string => `${at}-${stream.id}`;

export type RowFilter = (row: ViewRow) => boolean | Promise<boolean>;
const ANY: RowFilter = () => true;

/** Yields to other work: a store may answer without ever waiting. */
export const yieldToOthers = () => new Promise<void>((resolve) => setImmediate(resolve));

/**
 * One page. A filter is for what the view's buckets do not distinguish. When the scan limit is reached, the page is
 * short or empty, and has a cursor to continue.
 */
export async function rowPage(place: TenantStore, asked: ListQuery, fits: RowFilter = ANY): Promise<RowPage> {
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
    if (++scanned % SCANNED === 0) await yieldToOthers();
  }
  return { rows, next: null };
}

/** Every row, read in pages of `limit`. */
export async function* eachRow(
  { store, tenant }: TenantStore,
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

export const rowSummary = (row: ViewRow) => ({ id: row.stream.id, ...row.data });

/** Enough to show that the prefix is ambiguous, and which ids match. */
const MOST_IDS = 10;

/** Ids of a view's streams that begin with a text, oldest first. */
export async function findIds(
  place: TenantStore,
  view: ListName,
  beginning: string,
): Promise<readonly string[]> {
  const found: string[] = [];
  for await (const { stream } of eachRow(place, { view }))
    if (stream.id.startsWith(beginning) && found.push(stream.id) === MOST_IDS) break;
  return found;
}

async function workflowNamed({ store, tenant }: TenantStore, requestId: string): Promise<readonly string[]> {
  const name = workflowName(requestId);
  const found = await store.transact(tenant, { names: [name] }, (sight) => ({
    kind: "commit",
    append: [],
    result: sight.name(name),
  }));
  return found === undefined ? [] : [found.id];
}

/** By id prefix; any other text is a request id. */
export function findWorkflows(place: TenantStore, text: string): Promise<readonly string[]> {
  return text.startsWith("wf_") ? findIds(place, "workflows", text) : workflowNamed(place, text);
}

/** Most bytes of one page. */
const PAGE_BYTES = 4 * 1024 * 1024;

type FilledPage<Row> = {
  readonly rows: readonly Row[];
  /** Whether the page was full before the source ended. */
  readonly isCut: boolean;
};

const rowBytes = (row: unknown): number => Buffer.byteLength(JSON.stringify(row) ?? "");

/**
 * A page is full at the requested number of rows or the most bytes of one answer. One row always fits. Reads row by row,
 * at most one more than it keeps: the one that shows that the page is full.
 */
export async function fillPage<Row>(
  source: AsyncIterable<Row>,
  limit: number,
  weigh: (row: Row) => number = rowBytes,
): Promise<FilledPage<Row>> {
  const rows: Row[] = [];
  let bytes = 0;
  for await (const row of source) {
    bytes += weigh(row);
    if (rows.length >= limit || (rows.length > 0 && bytes > PAGE_BYTES)) return { rows, isCut: true };
    rows.push(row);
  }
  return { rows, isCut: false };
}
