/** Lists, aligned for people. */
import { fit, pad, widthOf } from "./measure.ts";
import type { Terminal } from "./terminal.ts";

const GAP = "  ";
const NARROWEST_LAST = 40;

/** Cells are visible text. The last column takes what is left of the line, or a line of its own. */
export function printTable(
  terminal: Terminal,
  heads: readonly string[],
  rows: readonly (readonly string[])[],
): void {
  const widths = heads.map((head, at) =>
    rows.reduce((most, row) => Math.max(most, widthOf(row[at] ?? "")), head.length),
  );
  const fixed = widths.slice(0, -1);
  const left = terminal.columns - fixed.reduce((sum, width) => sum + width + GAP.length, 0);
  const apart = left < Math.min(NARROWEST_LAST, widths.at(-1) ?? 0);
  const lineOf = (row: readonly string[]) => {
    const start = fixed.map((width, at) => pad(row[at] ?? "", width)).join(GAP);
    const last = row.at(-1) ?? "";
    return apart
      ? [start.trimEnd(), `    ${fit(last, terminal.columns - 4)}`]
      : [`${start}${GAP}${fit(last, left)}`];
  };
  terminal.line(terminal.paint("dim", lineOf(heads).join("").trimEnd()));
  for (const row of rows) for (const line of lineOf(row)) terminal.line(terminal.strange(line));
}
