/** How the refund demo looks: what waits for a person, and the trace of the run. */
import { visible } from "../../core/visible.ts";
import type { Approval, Holdpoint, Report, SuperviseResult } from "../../index.ts";
import { printCard } from "../card.ts";
import { pad, widthOf } from "../measure.ts";
import type { Terminal } from "../terminal.ts";
import { verifiedText } from "./present.ts";
import { paragraph, rule } from "./show-question.ts";

type Row = SuperviseResult["trace"][number];

const COLUMNS: readonly (readonly [string, (row: Row) => string])[] = [
  ["STEP", ({ step }) => String(step)],
  ["TOOL", ({ tool }) => visible(tool)],
  ["ARGS_HASH", (row) => row.args_hash ?? "-"],
  ["POLICY", (row) => row.supervisor_decision ?? "-"],
  ["EXECUTED_FROM", (row) => (row.ok ? (row.executed_from ?? "-") : "not executed")],
  ["PERSON", (row) => ({ true: "approved", false: "rejected", undefined: "-" })[`${row.human_approved}`]],
  ["RISK", (row) => (row.risk_score === undefined ? "-" : String(row.risk_score))],
];

function printTrace(terminal: Terminal, trace: readonly Row[]): void {
  const cells = [COLUMNS.map(([head]) => head), ...trace.map((row) => COLUMNS.map(([, cell]) => cell(row)))];
  const widths = COLUMNS.map((_, at) => Math.max(...cells.map((row) => widthOf(row[at] ?? ""))));
  for (const [at, row] of cells.entries()) {
    const line = row.map((cell, column) => pad(cell, widths[column] ?? 0)).join("  ");
    terminal.line(`  ${at === 0 ? terminal.paint("dim", line.trimEnd()) : line.trimEnd()}`);
  }
}

export function printEndOfRun(terminal: Terminal, result: SuperviseResult, report: Report): void {
  terminal.line();
  printTrace(terminal, result.trace);
  terminal.line();
  const style = result.status === "ok" ? "green" : "yellow";
  terminal.line(`  ${terminal.paint(style, result.status)}, stop_reason: ${visible(result.stop_reason)}`);
  if (result.answer !== undefined) paragraph(terminal, `The answer: ${visible(result.answer)}`);
  terminal.line(`  ${terminal.paint(report.ok ? "green" : "red", verifiedText(report))}`);
}

/** `where`: the flags with which a command finds the same store. */
export async function printWaiting(
  terminal: Terminal,
  hp: Holdpoint,
  approval: Approval,
  where: string,
): Promise<void> {
  rule(terminal, "A person has to decide");
  const action = await hp.actions.get(approval.action);
  printCard(terminal, { approval, action, receipt: undefined, now: Date.now(), full: false, where });
  terminal.line();
}

export function printHow(terminal: Terminal, { id }: Approval, where: string): void {
  paragraph(terminal, "Decide in a second terminal, in this folder; for example with less money:");
  terminal.line(`  npx holdpoint approve ${id} --edit '{"amount_usd":800}'${where}`);
  terminal.line();
  paragraph(
    terminal,
    "This program waits as long as it takes. Or kill it, decide, and start it again: the same run goes on, and the money moves once.",
  );
}
