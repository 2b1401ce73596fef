const quantileOf = (values: readonly number[], share: number): number =>
  values.toSorted((a, b) => a - b)[Math.min(values.length, Math.ceil(share * values.length)) - 1] ?? 0;

/** What is wrong with figures that are over their limit, in words; nothing where they are not. */
export function overLimit(values: readonly number[], share: number, mostMs: number): readonly string[] {
  const found = quantileOf(values, share);
  return found <= mostMs ? [] : [`p${share * 100} is ${found.toFixed(0)} ms, and ${mostMs} ms at most`];
}

/** p50, p95, p99 and the greatest, in milliseconds. */
export function quantiles(values: readonly number[]): string {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (share: number) =>
    sorted[Math.min(sorted.length - 1, Math.ceil(share * sorted.length) - 1)] ?? 0;
  const shown = (value: number) => `${value.toFixed(0)} ms`;
  return `p50 ${shown(at(0.5))}, p95 ${shown(at(0.95))}, p99 ${shown(at(0.99))}, most ${shown(sorted.at(-1) ?? 0)}`;
}
