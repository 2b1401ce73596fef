/** The live page of a list before what was loaded below it; each once, as the live page has it. */
export function mergedPages<Item>(
  head: readonly Item[],
  below: readonly Item[],
  idOf: (item: Item) => string,
): readonly Item[] {
  if (below.length === 0) return head;
  const known = new Set(head.map(idOf));
  const rest = below.filter((item) => {
    const id = idOf(item);
    if (known.has(id)) return false;
    known.add(id);
    return true;
  });
  return [...head, ...rest];
}
