/** Lists, aligned for people. */
import { fit, pad, widthOf } from "./measure.ts";
import type { Terminal } from "./terminal.ts";

const GAP = "  ";
const INDENT = "    ";
const NARROWEST_LAST = 40;

type Cells = readonly string[];

/** How many columns stand on the first line; the others follow on a second one where the terminal is narrow. */
function columnsThatFit(widths: readonly number[], room: number): number {
  const start = widths.slice(0, -1).reduce((sum, width) => sum + width + GAP.length, 0);
  if (room - start >= Math.min(NARROWEST_LAST, widths.at(-1) ?? 0)) return widths.length;
  let used = 0;
  const tooFar = widths.slice(0, -1).findIndex((width) => {
    used += width + GAP.length;
    return used - GAP.length > room;
  });
  return tooFar === -1 ? widths.length - 1 : Math.max(1, tooFar);
}

/** Cells are visible text. The last column takes what is left of its line, and counts what it has to cut. */
export function printTable(terminal: Terminal, heads: Cells, rows: readonly Cells[]): void {
  const widths = heads.map((head, at) =>
    rows.reduce((most, row) => Math.max(most, widthOf(row[at] ?? "")), head.length),
  );
  const first = columnsThatFit(widths, terminal.columns);
  const linesOf = (row: Cells): readonly string[] => {
    const start = row.slice(0, first).map((cell, at) => pad(cell, widths[at] ?? 0));
    const rest = row.slice(first).join(GAP);
    const line = fit(start.join(GAP).trimEnd(), terminal.columns);
    return rest === "" ? [line] : [line, INDENT + fit(rest, terminal.columns - INDENT.length)];
  };
  terminal.line(terminal.paint("dim", linesOf(heads).join("\n")));
  for (const row of rows) for (const line of linesOf(row)) terminal.line(terminal.strange(line));
}
