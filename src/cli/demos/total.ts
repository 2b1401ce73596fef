/** All demos in one table, and what asking a person was worth. */
import { pad, type Terminal, widthOf } from "../shell/terminal.ts";

import { type Outcome, usd } from "./scenario.ts";
import { rule } from "./show-question.ts";

export type Row = { readonly title: string; readonly without: Outcome; readonly with: Outcome | null };

export type Total = {
  readonly withoutUsd: number;
  readonly withUsd: number;
  readonly savedUsd: number;
  /** Saved for each dollar that it cost with a person; null when that was nothing. */
  readonly returnPercent: number | null;
};

/** A demo without a figure counts nothing on either side; one that was rejected cost nothing. */
export function totalOf(rows: readonly Row[]): Total {
  const counted = rows.filter(({ without }) => without.costUsd !== null);
  const sum = (amounts: readonly (number | null | undefined)[]) =>
    amounts.reduce<number>((total, amount) => total + (amount ?? 0), 0);
  const withoutUsd = sum(counted.map(({ without }) => without.costUsd));
  const withUsd = sum(counted.map((row) => row.with?.costUsd));
  const savedUsd = withoutUsd - withUsd;
  return {
    withoutUsd,
    withUsd,
    savedUsd,
    returnPercent: withUsd === 0 ? null : Math.round((savedUsd / withUsd) * 100),
  };
}

const HEADS = ["", "NOBODY LOOKS", "A PERSON LOOKS", "SAVED"];

function cellsOf({ title, without, with: other }: Row): readonly string[] {
  if (without.costUsd === null) return [title, "-", "-", "no figure"];
  const cost = other?.costUsd ?? 0;
  return [title, usd(without.costUsd), usd(cost), usd(without.costUsd - cost)];
}

export function printTotal(terminal: Terminal, rows: readonly Row[]): void {
  const total = totalOf(rows);
  const last = ["In all", usd(total.withoutUsd), usd(total.withUsd), usd(total.savedUsd)];
  const cells = [HEADS, ...rows.map(cellsOf), last];
  const widths = HEADS.map((_, at) => Math.max(...cells.map((row) => widthOf(row[at] ?? ""))));
  const lineOf = (row: readonly string[]) =>
    row
      .map((cell, at) => (at === 0 ? pad(cell, widths[at] ?? 0) : cell.padStart(widths[at] ?? 0)))
      .join("  ");
  rule(terminal, "All of them");
  for (const [at, row] of cells.entries()) {
    const style = at === 0 ? "dim" : "bold";
    const isPlain = at > 0 && at < cells.length - 1;
    terminal.line(`  ${isPlain ? lineOf(row) : terminal.paint(style, lineOf(row))}`);
  }
  terminal.line();
  if (total.returnPercent !== null)
    terminal.line(
      `  For each dollar that it still cost, ${(total.savedUsd / total.withUsd).toFixed(2)} were saved: ${total.returnPercent.toLocaleString("en-US")} %.`,
    );
}
