/** The word somebody probably meant. */

function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (const [index, character] of [...a].entries()) {
    const next = [index + 1];
    for (const [at, other] of [...b].entries()) {
      const swap = (row[at] ?? 0) + (character === other ? 0 : 1);
      next.push(Math.min(swap, (row[at + 1] ?? 0) + 1, (next[at] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}

export function nearest(given: string, known: readonly string[]): string | undefined {
  const word = given.slice(0, 40).toLowerCase();
  const scored = known.map((name) => ({
    name,
    score: word.length >= 2 && name.startsWith(word) ? 0 : distance(word, name),
  }));
  const best = scored.toSorted((a, b) => a.score - b.score)[0];
  return best !== undefined && best.score <= Math.max(1, Math.floor(best.name.length / 3))
    ? best.name
    : undefined;
}
