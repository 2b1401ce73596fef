/** Lists: as many items as requested, over as many pages as needed, as an aligned table or as JSON. */

import type { Json } from "../../kernel/json.ts";
import { CommandError, type Context, flag } from "./command.ts";
import { clip, fit, hanging, pad, type Terminal, widthOf } from "./terminal.ts";

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
/** The text of a column that is not cut as long as another column can be left out; the last one is cut earlier. */
const USUAL = 28;
const USUAL_LAST = 24;
const SHORTEST = 6;
/** It is read first, so it is cut last. */
const STATUS = "STATUS";

type Cells = readonly string[];
/** `isWhole`: never cut. `width` is at least that of the head. */
type Column = {
  readonly head: string;
  readonly cells: Cells;
  readonly width: number;
  readonly isWhole: boolean;
};
/** The least width of a column. */
type Floor = (column: Column, isLast: boolean) => number;

const cutTo = ({ head, width, isWhole }: Column, least: number): number =>
  isWhole ? width : Math.min(width, Math.max(head.length, least));
const legible: Floor = (column, isLast) => cutTo(column, isLast ? USUAL_LAST : USUAL);
const short: Floor = (column) => (column.head === STATUS ? column.width : cutTo(column, SHORTEST));
const shortest: Floor = (column) => cutTo(column, SHORTEST);

const lineWidth = (widths: readonly number[]): number =>
  widths.reduce((sum, width) => sum + width, GAP.length * (widths.length - 1));

/** Cuts the longest texts, and none below its floor. */
function cutColumns(columns: readonly Column[], floors: readonly number[], room: number): readonly Column[] {
  const widths = columns.map(({ width }) => width);
  while (lineWidth(widths) > room) {
    const spare = widths.map((width, at) => (width > (floors[at] ?? 0) ? width : 0));
    const widest = Math.max(...spare);
    if (widest === 0) break;
    widths[spare.indexOf(widest)] = widest - 1;
  }
  return columns.map((column, at) => ({ ...column, width: widths[at] ?? 0 }));
}

const isEmpty = ({ cells }: Column): boolean => cells.every((cell) => cell === "" || cell === "-");

/**
 * Columns for one line. A column without a value in any row is left out. On a narrow terminal those that give way are left
 * out until the texts of the others are legible; after that, texts are cut down to their heads, the status last.
 */
function fitColumns(all: readonly Column[], givesWay: Cells, room: number): readonly Column[] {
  const filled = all.filter((column, at) => at === 0 || !isEmpty(column));
  const kept = filled.map(({ head }) => head).filter((head) => !givesWay.includes(head));
  const others = kept
    .slice(1, -1)
    .filter((head) => head !== STATUS)
    .toReversed();
  const leavable = [...givesWay, ...others];
  const attempt = (count: number, floor: Floor) => {
    const columns = filled.filter(({ head }) => !leavable.slice(0, count).includes(head));
    return { columns, floors: columns.map((one, at) => floor(one, at === columns.length - 1)) };
  };
  const attempts = [
    ...Array.from({ length: givesWay.length + 1 }, (_, count) => attempt(count, legible)),
    ...Array.from({ length: others.length + 1 }, (_, more) => attempt(givesWay.length + more, short)),
  ];
  const { columns, floors } =
    attempts.find((one) => lineWidth(one.floors) <= room) ?? attempt(leavable.length, shortest);
  return cutColumns(columns, floors, room);
}

const ID = /^[a-z]+_[0-9A-Z]{26}$/;
const ANY_ID = /^[a-z]+_[0-9A-Z]{6,26}$/;
/** Ten characters are the millisecond of creation; the rest is random. Commands take at least six. */
const SHORT_ID = 12;

/** In a table an id is cut to a prefix that no other id of its column has. Commands that take an id complete it. */
function shortenIds(cells: Cells): Cells {
  const ids = [...new Set(cells.filter((cell) => ID.test(cell)))];
  const prefix = Math.max(0, ...ids.map((id) => id.indexOf("_") + 1));
  const lengths = Array.from({ length: 26 - SHORT_ID }, (_, more) => prefix + SHORT_ID + more);
  const length = lengths.find((one) => new Set(ids.map((id) => id.slice(0, one))).size === ids.length);
  return cells.map((cell) => (ID.test(cell) ? cell.slice(0, length) : cell));
}

/** One line for each item. Cells are visible text. A last column with room for it counts what it cuts. */
function printTable(terminal: Terminal, heads: Cells, items: readonly Cells[], givesWay: Cells): void {
  const all = heads.map((head, at): Column => {
    const cells = shortenIds(items.map((row) => row[at] ?? ""));
    const width = cells.reduce((most, cell) => Math.max(most, widthOf(cell)), head.length);
    return { head, cells, width, isWhole: at === 0 && ANY_ID.test(cells[0] ?? "") };
  });
  const columns = fitColumns(all, givesWay, terminal.columns);
  const lineOf = (cells: Cells): string =>
    cells
      .map((cell, at) => {
        const { width } = columns[at] ?? { width: 0 };
        const isCounted = at === cells.length - 1 && width >= USUAL;
        return isCounted ? fit(cell, width) : pad(clip(cell, width), width);
      })
      .join(GAP)
      .trimEnd();
  terminal.line(terminal.paint("dim", lineOf(columns.map(({ head }) => head))));
  for (const at of items.keys())
    terminal.line(terminal.strange(lineOf(columns.map(({ cells }) => cells[at] ?? ""))));
}

type ListLayout<Item> = {
  readonly heads: Cells;
  readonly cells: (item: Item) => Cells;
  /** Columns in a pipe, as the reference documents them. */
  readonly piped: (item: Item) => Cells;
  readonly givesWay: Cells;
  /** Said if there is no item. */
  readonly empty: string;
  /** Said below the items. */
  readonly next: Cells;
  /** Of all items, if it is known and some are not shown. */
  readonly total: number | undefined;
};

const moreText = (shown: number, total: number | undefined): string =>
  total === undefined
    ? `… more (use --limit ${shown * 2})`
    : `… ${total - shown} more (use --limit ${total})`;

/** A table for people, tab-separated lines in a pipe, or JSON. */
export function printList<Item>(
  { terminal, json }: Context,
  { items, isAll }: ListResult<Item>,
  { heads, cells, piped, givesWay, empty, next, total }: ListLayout<Item>,
): void {
  if (json) {
    for (const item of items) terminal.json(jsonWithMicros(item));
    return;
  }
  const say = (text: string) => {
    for (const line of hanging(text, terminal)) (terminal.interactive ? terminal.line : terminal.note)(line);
  };
  if (items.length === 0) say(empty);
  else if (terminal.interactive) printTable(terminal, heads, items.map(cells), givesWay);
  else for (const item of items) terminal.line(piped(item).join("\t"));
  if (!isAll) say(moreText(items.length, total));
  for (const line of next) say(line);
}

/** As JSON, with micros as text: they exceed the range of its numbers. */
export const jsonWithMicros = (value: unknown): Json =>
  JSON.parse(JSON.stringify(value, (_key, part) => (typeof part === "bigint" ? part.toString() : part)));
