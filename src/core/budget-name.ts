export function isBudgetName(id: unknown): id is string {
  return typeof id === "string" && /^[A-Za-z0-9_.:-]{1,128}$/.test(id);
}
