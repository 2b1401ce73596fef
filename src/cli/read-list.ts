/** As much of a list as was asked for, over as many pages as that takes. */
import { type Context, flag } from "./command.ts";
import { CommandError } from "./failure.ts";

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

export type Cursor = { readonly limit: number; readonly after?: string };
type Leaf<Item> = { readonly items: readonly Item[]; readonly next: string | null };
export type Found<Item> = { readonly items: readonly Item[]; readonly isAll: boolean };

/** A list may leave items out of its pages, so a page may be short though more follow. */
export async function readList<Item>(
  limit: number,
  read: (cursor: Cursor) => Promise<Leaf<Item>>,
): Promise<Found<Item>> {
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
