/** Where a line and a column, both counted from 1, are in a text. */
export function offsetOf(text: string, line: number, column = 1): number {
  const lines = text.split("\n");
  const before = lines.slice(0, Math.max(0, line - 1)).reduce((sum, one) => sum + one.length + 1, 0);
  const own = lines[line - 1]?.length ?? 0;
  return Math.min(text.length, before + Math.min(own, Math.max(0, column - 1)));
}
