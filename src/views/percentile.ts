/** The value that so many of a hundred are at most, one of those that are there: the nearest rank. Null of nothing. */
export function percentile(values: readonly number[], of: number): number | null {
  if (values.length === 0) return null;
  const sorted = Float64Array.from(values).sort();
  const rank = Math.max(1, Math.ceil((of / 100) * sorted.length));
  return sorted[rank - 1] ?? null;
}
