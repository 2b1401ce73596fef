/** Lists: as many items as requested, over as many pages as needed, as an aligned table or as JSON. */

import type { Json } from "../../kernel/json.ts";
import { CommandError, type Context, flag } from "./command.ts";
import { fit, fold, pad, type Terminal, widthOf } from "./terminal.ts";

export const DEFAULT_LIMIT = 50;
const PAGE = 1_000;

/** `--limit`. */
export function readLimit(context: Context): number {
  const given = flag(context, "limit") ?? String(DEFAULT_LIMIT);
  const limit = /^\d{1,9}$/.test(given) ? Number(given) : 0;
  if (limit >= 1) return limit;
  const what = `--limit "${given}" is not a whole number from 1 on.`;
  throw new CommandError("usage", what, "Such as --limit 20");
}

type Cursor = { readonly limit: number; readonly after?: string };
type Leaf<Item> = { readonly items: readonly Item[]; readonly next: string | null };
type ListResult<Item> = { readonly items: readonly Item[]; readonly isAll: boolean };

/** A list may filter items, so a page may be short although more follow. */
export async function readList<Item>(
  limit: number,
  read: (cursor: Cursor) => Promise<Leaf<Item>>,
): Promise<ListResult<Item>> {
  const items: Item[] = [];
  let cursor: Cursor = { limit: Math.min(PAGE, limit) };
  for (;;) {
    const page = await read(cursor);
    items.push(...page.items);
    if (page.next === null) return { items, isAll: true };
    if (items.length >= limit) return { items, isAll: false };
    cursor = { limit: Math.min(PAGE, limit - items.length), after: page.next };
  }
}

const GAP = "  ";
/** The last column takes the rest of a line, and no less than this. */
const LEAST_LAST = 30;
/** What the other columns are cut to: first to the usual width, and if that is not enough, further. */
const USUAL = 28;
const LEAST = 6;

type Cells = readonly string[];
type Column = { readonly head: string; readonly cells: Cells; readonly width: number };

const columnWidth = (head: string, cells: Cells): number =>
  cells.reduce((most, cell) => Math.max(most, widthOf(cell)), head.length);

/** The width that a line of these columns needs. */
const lineWidth = (columns: readonly Column[]): number =>
  columns.slice(0, -1).reduce((sum, { width }) => sum + width + GAP.length, 0) +
  Math.min(LEAST_LAST, columns.at(-1)?.width ?? 0);

/** Cuts the widest column by one character. An id, which comes first, and the last column stay as they are. */
function narrow(columns: readonly Column[]): readonly Column[] {
  const first = ANY_ID.test(columns[0]?.cells[0] ?? "") ? 1 : 0;
  const widest = Math.max(0, ...columns.slice(first, -1).map(({ width }) => width));
  if (widest <= LEAST) return columns;
  const found = columns.findIndex(({ width }, at) => at >= first && width === widest);
  return columns.map((column, at) => (at === found ? { ...column, width: widest - 1 } : column));
}

const isEmpty = ({ cells }: Column): boolean => cells.every((cell) => cell === "" || cell === "-");

/** Columns for one line: on a narrow terminal empty ones and then the least important are left out, the rest are cut. */
function fitColumns(all: readonly Column[], givesWay: Cells, room: number): readonly Column[] {
  if (lineWidth(all) <= room) return all;
  let columns = all.map((column, at) =>
    at === 0 ? column : { ...column, width: Math.min(USUAL, column.width) },
  );
  const empty = all.slice(1, -1).filter(isEmpty);
  for (const head of [...empty.map((column) => column.head), ...givesWay]) {
    if (lineWidth(columns) <= room) break;
    columns = columns.filter((column) => column.head !== head);
  }
  for (;;) {
    const narrower = lineWidth(columns) <= room ? columns : narrow(columns);
    if (narrower === columns) return columns;
    columns = [...narrower];
  }
}

const ID = /^([a-z]+_)([0-9A-Z]{26})$/;
const ANY_ID = /^[a-z]+_[0-9A-Z]{6,26}$/;
/** Ten characters are the millisecond of creation; the rest is random. Commands take at least six. */
const SHORT_ID = 12;

/** In a table an id is cut to a prefix that no other row has. Commands that take an id complete it. */
function shortenIds(rows: readonly Cells[]): readonly Cells[] {
  const ids = rows.map(([first = ""]) => ID.exec(first));
  const isUnique = (length: number) =>
    new Set(ids.map((id, at) => id?.[0].slice(0, length) ?? String(at))).size === ids.length;
  const prefix = Math.max(0, ...ids.map((id) => id?.[1]?.length ?? 0));
  const lengths = Array.from({ length: 26 - SHORT_ID }, (_, more) => prefix + SHORT_ID + more);
  const length = lengths.find(isUnique);
  if (length === undefined) return rows;
  return rows.map(([first = "", ...rest], at) => [
    ids[at] === null ? first : first.slice(0, length),
    ...rest,
  ]);
}

/** `text` in at most `width` columns. A short cell has no room for a count of what is cut. */
const clip = (text: string, width: number): string =>
  widthOf(text) <= width || width >= LEAST_LAST
    ? fit(text, width)
    : `${fold(text, width - 1)[0]?.trimEnd()}…`;

/** One line for each item. Cells are visible text. The last column takes the rest, and counts what it has to cut. */
export function printTable(
  terminal: Terminal,
  heads: Cells,
  items: readonly Cells[],
  givesWay: Cells = [],
): void {
  const rows = shortenIds(items);
  const all = heads.map((head, at): Column => {
    const cells = rows.map((row) => row[at] ?? "");
    return { head, cells, width: columnWidth(head, cells) };
  });
  const columns = fitColumns(all, givesWay, terminal.columns);
  const lineOf = (cells: Cells): string => {
    const last = cells.length - 1;
    const start = cells.slice(0, last).map((cell, at) => {
      const { width } = columns[at] ?? { width: 0 };
      return pad(clip(cell, width), width) + GAP;
    });
    const line = start.join("");
    return (line + fit(cells[last] ?? "", Math.max(1, terminal.columns - widthOf(line)))).trimEnd();
  };
  const heading = lineOf(columns.map(({ head }) => head)).replace(/… \+\d+$/, "…");
  terminal.line(terminal.paint("dim", heading));
  for (const at of rows.keys())
    terminal.line(terminal.strange(lineOf(columns.map(({ cells }) => cells[at] ?? ""))));
}

type ListLayout<Item> = {
  readonly heads: Cells;
  readonly cells: (item: Item) => Cells;
  /** Columns in a pipe, as the reference documents them; without it, those of the table. */
  readonly piped?: (item: Item) => Cells;
  readonly givesWay?: Cells;
  /** Said if there is no item. */
  readonly empty: string;
};

/** A table for people, tab-separated lines in a pipe, or JSON. */
export function printList<Item>(
  { terminal, json }: Context,
  { items, isAll = true }: Pick<ListResult<Item>, "items"> & { readonly isAll?: boolean },
  layout: ListLayout<Item>,
): void {
  const { heads, cells, piped = cells, givesWay, empty } = layout;
  if (json) {
    for (const item of items) terminal.json(jsonWithMicros(item));
    return;
  }
  const say = terminal.interactive ? terminal.line : terminal.note;
  if (items.length === 0) say(empty);
  else if (terminal.interactive) printTable(terminal, heads, items.map(cells), givesWay);
  else for (const item of items) terminal.line(piped(item).join("\t"));
  if (!isAll) say(`… more (use --limit ${items.length * 2})`);
}

/** As JSON, with micros as text: they exceed the range of its numbers. */
export const jsonWithMicros = (value: unknown): Json =>
  JSON.parse(JSON.stringify(value, (_key, part) => (typeof part === "bigint" ? part.toString() : part)));
