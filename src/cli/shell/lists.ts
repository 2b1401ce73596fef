/** Lists: as many items as requested, over as many pages as needed, as an aligned table or as JSON. */

import type { Json } from "../../kernel/json.ts";
import { type Context, flag } from "./command.ts";
import { CommandError } from "./failure.ts";
import { fit, pad, type Terminal, widthOf } from "./terminal.ts";

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
export type ListResult<Item> = { readonly items: readonly Item[]; readonly isAll: boolean };

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
const INDENT = "    ";
const NARROWEST_LAST = 40;

type Cells = readonly string[];

/** Number of columns on the first line; on a narrow terminal the others follow on a second one. */
function columnsThatFit(widths: readonly number[], room: number): number {
  const start = widths.slice(0, -1).reduce((sum, width) => sum + width + GAP.length, 0);
  if (room - start >= Math.min(NARROWEST_LAST, widths.at(-1) ?? 0)) return widths.length;
  let used = 0;
  const tooFar = widths.slice(0, -1).findIndex((width) => {
    used += width + GAP.length;
    return used - GAP.length > room;
  });
  return tooFar === -1 ? widths.length - 1 : Math.max(1, tooFar);
}

const ID = /^([a-z]+_)([0-9A-Z]{26})$/;
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

/** Cells are visible text. The last column takes the rest of its line, and counts what it has to cut. */
export function printTable(terminal: Terminal, heads: Cells, items: readonly Cells[]): void {
  const rows = shortenIds(items);
  const widths = heads.map((head, at) =>
    rows.reduce((most, row) => Math.max(most, widthOf(row[at] ?? "")), head.length),
  );
  const first = columnsThatFit(widths, terminal.columns);
  const linesOf = (row: Cells): readonly string[] => {
    const start = row.slice(0, first).map((cell, at) => pad(cell, widths[at] ?? 0));
    const rest = row.slice(first).join(GAP);
    const line = fit(start.join(GAP).trimEnd(), terminal.columns);
    return rest === "" ? [line] : [line, INDENT + fit(rest, terminal.columns - INDENT.length)];
  };
  terminal.line(terminal.paint("dim", linesOf(heads).join("\n")));
  for (const row of rows) for (const line of linesOf(row)) terminal.line(terminal.strange(line));
}

type ListLayout<Item> = {
  readonly heads: Cells;
  readonly cells: (item: Item) => Cells;
  /** Columns in a pipe, as the reference documents them; without it, those of the table. */
  readonly piped?: (item: Item) => Cells;
  readonly json?: (item: Item) => unknown;
  /** Said if there is no item. */
  readonly empty: string;
};

/** A table for people, tab-separated lines in a pipe, or JSON. */
export function printList<Item>(
  { terminal, json }: Context,
  { items, isAll = true }: Pick<ListResult<Item>, "items"> & { readonly isAll?: boolean },
  layout: ListLayout<Item>,
): void {
  const { heads, cells, piped = cells, empty } = layout;
  if (json) {
    for (const item of items) terminal.json(jsonWithMicros(layout.json?.(item) ?? item));
    return;
  }
  const say = terminal.interactive ? terminal.line : terminal.note;
  if (items.length === 0) say(empty);
  else if (terminal.interactive) printTable(terminal, heads, items.map(cells));
  else for (const item of items) terminal.line(piped(item).join("\t"));
  if (!isAll) say(`… more (use --limit ${items.length * 2})`);
}

/** As JSON, with micros as text: they exceed the range of its numbers. */
export const jsonWithMicros = (value: unknown): Json =>
  JSON.parse(JSON.stringify(value, (_key, part) => (typeof part === "bigint" ? part.toString() : part)));
