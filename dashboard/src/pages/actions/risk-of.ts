export type Risk = { readonly level: string; readonly score: string; readonly conditions: readonly string[] };

/** The wire leaves its shape open: older entries say less. */
export function riskOf(value: unknown): Risk | null {
  if (typeof value !== "object" || value === null) return null;
  const { level, score, conditions } = value as { readonly [field: string]: unknown };
  if (typeof level !== "string") return null;
  const named = Array.isArray(conditions) ? conditions.filter((one) => typeof one === "string") : [];
  return { level, score: typeof score === "number" ? String(score) : "", conditions: named };
}
