/** The table for people. */
import type { Measurement } from "./measurement.ts";
import { judge, type Target, targetsOf } from "./targets.ts";

type Row = readonly string[];

/** Columns as wide as their widest cell; texts to the left, figures to the right. */
export function table(head: Row, rows: readonly Row[], texts: number): string {
  const widths = head.map((_, column) =>
    Math.max(...[head, ...rows].map((row) => (row[column] ?? "").length)),
  );
  const line = (row: Row) =>
    row
      .map((cell, column) =>
        column < texts ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0),
      )
      .join("  ")
      .trimEnd();
  return [head, ...rows].map(line).join("\n");
}

const whole = (value: number): string => Math.round(value).toLocaleString("en-US");
const short = (value: number): string => value.toFixed(value < 10 ? 2 : 1);

function row(one: Measurement): Row {
  const { bench, system, store, variant, inFlight, perSecond, p50, p99, driverCpu, serverCpu, windows } = one;
  const spread = `${whole(Math.min(...windows))}–${whole(Math.max(...windows))}`;
  const figures = [whole(perSecond), spread, short(p50), short(p99), whole(driverCpu), whole(serverCpu)];
  return [bench, system, store, variant ?? "", String(inFlight), ...figures];
}

const HEAD = [
  "bench",
  "system",
  "store",
  "variant",
  "in flight",
  "per second",
  "windows",
  "p50 ms",
  "p99 ms",
];
const COLUMNS = [...HEAD, "CPU µs", "server CPU µs"];

function goalText({ goal }: Target): string {
  if (goal === null) return "";
  if ("under" in goal) return `under ${goal.under} ms`;
  return `at least ${goal.least}${goal.aim === undefined ? "" : `, aim ${goal.aim}`}`;
}

function targetRow(target: Target): Row {
  const value = target.unit === "ms" ? `${short(target.value)} ms` : `${target.value.toFixed(2)} ×`;
  return [target.claim, value, goalText(target), judge(target)];
}

export function report(figures: readonly Measurement[]): string {
  const measured = table(COLUMNS, figures.map(row), 4);
  const targets = targetsOf(figures);
  if (targets.length === 0) return `${measured}\n`;
  return `${measured}\n\n${table(["Holdpoint", "", "goal", ""], targets.map(targetRow), 4)}\n`;
}
