/**
 * The live page of a list before what was loaded below it; each once, as the live page has it. `isBelow` tells, where a list's
 * rows also leave it, what belongs below the live page's last row: whatever does not, and is not in the live page, has left.
 */
export function mergedPages<Item>(
  head: readonly Item[],
  below: readonly Item[],
  { idOf, isBelow = () => true }: Ways<Item>,
): readonly Item[] {
  if (below.length === 0) return head;
  const known = new Set(head.map(idOf));
  const last = head.at(-1);
  const rest = below.filter((item) => {
    const id = idOf(item);
    if (known.has(id) || (last !== undefined && !isBelow(item, last))) return false;
    known.add(id);
    return true;
  });
  return [...head, ...rest];
}

export type Ways<Item> = {
  readonly idOf: (item: Item) => string;
  readonly isBelow?: (item: Item, last: Item) => boolean;
};

/** Of a list by time, in either order. */
export const belowBy = <Item>(timeOf: (item: Item) => string) => ({
  oldest: (item: Item, last: Item): boolean => timeOf(item) >= timeOf(last),
  newest: (item: Item, last: Item): boolean => timeOf(item) <= timeOf(last),
});
