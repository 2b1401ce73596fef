/**
 * A list that changes under somebody's eyes: what has left it stays a moment, marked, where it was.
 *
 * N1. Nothing that is looked at moves by itself: what leaves keeps its place until it goes.
 */
export type Item<Row> = { readonly id: string; readonly row: Row; readonly isGone: boolean };

type Has = { readonly request_id: string };

/** `before` is the list as it was shown; `gone` are those of it that still are to be shown as gone. */
export function mixed<Row extends Has>(
  rows: readonly Row[],
  before: readonly Item<Row>[],
  gone: ReadonlySet<string>,
): readonly Item<Row>[] {
  const there = new Set(rows.map(({ request_id }) => request_id));
  const fresh = rows.map((row): Item<Row> => ({ id: row.request_id, row, isGone: false }));
  const after = new Map<string | null, Item<Row>[]>();
  let anchor: string | null = null;
  for (const item of before) {
    if (there.has(item.id)) anchor = item.id;
    else if (gone.has(item.id)) after.set(anchor, [...(after.get(anchor) ?? []), { ...item, isGone: true }]);
  }
  return [...(after.get(null) ?? []), ...fresh.flatMap((item) => [item, ...(after.get(item.id) ?? [])])];
}

/** Those that were shown and are no longer there. */
export function missingFrom<Row extends Has>(
  rows: readonly Row[],
  before: readonly Item<Row>[],
): readonly string[] {
  const there = new Set(rows.map(({ request_id }) => request_id));
  return before.filter(({ id, isGone }) => !isGone && !there.has(id)).map(({ id }) => id);
}
