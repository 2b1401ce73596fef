/** Suggests the closest known name, for a message about an unknown one. */
const MOST_EDITS = 3;
const LONGEST = 60;

/** Edit distance: insertions, deletions, replacements and swapped neighbours. */
function edits(a: string, b: string): number {
  let before: number[] = [];
  let row = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1] ? 0 : 1;
      let least = Math.min((row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1, (row[j - 1] ?? 0) + same);
      if (a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) least = Math.min(least, (before[j - 2] ?? 0) + 1);
      next.push(least);
    }
    before = row;
    row = next;
  }
  return row[b.length] ?? 0;
}

export function closestName(name: string, known: Iterable<string>): string | undefined {
  if (name.length > LONGEST) return undefined;
  let best: { readonly name: string; readonly distance: number } | undefined;
  for (const candidate of known) {
    if (candidate === name || Math.abs(candidate.length - name.length) > MOST_EDITS) continue;
    const distance = edits(name.toLowerCase(), candidate.toLowerCase());
    const limit = Math.min(MOST_EDITS, Math.ceil(candidate.length / 3));
    if (distance <= limit && distance < (best?.distance ?? Number.POSITIVE_INFINITY))
      best = { name: candidate, distance };
  }
  return best?.name;
}

/** ` (did you mean amount_usd?)`, or nothing. */
export function didYouMean(name: string, known: Iterable<string>): string {
  const meant = closestName(name, known);
  return meant === undefined ? "" : ` (did you mean ${meant}?)`;
}
