/** p50, p95, p99 and the greatest, in milliseconds. */
export function quantiles(values: readonly number[]): string {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (share: number) =>
    sorted[Math.min(sorted.length - 1, Math.ceil(share * sorted.length) - 1)] ?? 0;
  const shown = (value: number) => `${value.toFixed(0)} ms`;
  return `p50 ${shown(at(0.5))}, p95 ${shown(at(0.95))}, p99 ${shown(at(0.99))}, most ${shown(sorted.at(-1) ?? 0)}`;
}
