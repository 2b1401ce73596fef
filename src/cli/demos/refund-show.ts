/** How the refund demo looks: what waits for a person, and the trace of the run. */

import type { Approval, Holdpoint, Report, SuperviseResult } from "../../index.ts";
import { visible } from "../../kernel/text.ts";
import { printShown } from "../approvals/card.ts";
import { fetchPolicyNames } from "../policy/words.ts";
import { fold, pad, type Terminal, widthOf } from "../shell/terminal.ts";

import { verifiedText } from "./present.ts";
import { paragraph, rule, WIDEST } from "./show-question.ts";

type Row = SuperviseResult["trace"][number];
type Step = SuperviseResult["history"][number];

const COLUMNS: readonly (readonly [string, (row: Row) => string])[] = [
  ["STEP", ({ step }) => String(step)],
  ["TOOL", ({ tool }) => visible(tool)],
  ["ARGS_HASH", ({ args_hash }) => args_hash ?? "-"],
  ["DECISION", ({ supervisor_decision }) => supervisor_decision ?? "-"],
  ["EXECUTED_FROM", ({ ok, executed_from }) => (ok ? (executed_from ?? "-") : "not executed")],
  ["RISK", ({ risk_score }) => String(risk_score ?? "-")],
];
const INDENT = 8;

const amountIn = (action: Step["executed_action"] | undefined): unknown =>
  action?.kind === "tool" ? action.args["amount_usd"] : undefined;

/** Why it was decided so, by whom beside the policy, and how much money that made of how much. */
function because({ stop_reason }: Row, step: Step | undefined): string {
  if (step === undefined) return stop_reason ?? "";
  const { supervisor, human_approval: person, action, executed_action } = step;
  const [asked, done] = [amountIn(action), amountIn(executed_action)];
  const amount = asked === done ? `${done} USD` : `${asked} USD, changed to ${done} USD`;
  return [
    ...(supervisor?.revised ?? []).map(({ reason }) => `${reason}, then`),
    supervisor?.reason ?? "",
    ...(person === undefined ? [] : [`; ${person.by.join(", ")} approved`]),
    ...(done === undefined ? [] : [`; ${amount}`]),
  ]
    .join(" ")
    .replaceAll(" ;", ";");
}

export function printStart(terminal: Terminal, amount: number): void {
  rule(terminal, `A refund of ${amount} USD`);
  paragraph(
    terminal,
    "Anna wants back the 1200 USD of her annual plan. A model (here: a script) only proposes. Every step is reviewed by examples/refund/policy.yaml, and over 1000 USD a person decides.",
  );
  terminal.line();
}

function printTrace(terminal: Terminal, { trace, history }: SuperviseResult): void {
  const cells = [COLUMNS.map(([head]) => head), ...trace.map((row) => COLUMNS.map(([, cell]) => cell(row)))];
  const widths = COLUMNS.map((_, at) => Math.max(...cells.map((row) => widthOf(row[at] ?? ""))));
  for (const [at, row] of cells.entries()) {
    const line = row.map((cell, column) => pad(cell, widths[column] ?? 0)).join("  ");
    terminal.line(`  ${at === 0 ? terminal.paint("dim", line.trimEnd()) : line.trimEnd()}`);
    const told = trace[at - 1];
    if (told === undefined) continue;
    const step = history.find((one) => one.step === told.step);
    const room = Math.min(terminal.columns, WIDEST) - INDENT;
    for (const part of fold(visible(because(told, step)), room))
      terminal.line(" ".repeat(INDENT) + terminal.paint("dim", part.trimEnd()));
  }
}

export function printEndOfRun(terminal: Terminal, result: SuperviseResult, report: Report): void {
  terminal.line();
  printTrace(terminal, result);
  terminal.line();
  const style = result.status === "ok" ? "green" : "yellow";
  terminal.line(`  ${terminal.paint(style, result.status)}, stop_reason: ${visible(result.stop_reason)}`);
  if (result.answer !== undefined) paragraph(terminal, `The answer: ${visible(result.answer)}`);
  terminal.line(`  ${terminal.paint(report.ok ? "green" : "red", verifiedText(report))}`);
}

/** `where`: the flags with which a command finds the same store; null where the person is played. */
export async function printWaiting(
  terminal: Terminal,
  hp: Holdpoint,
  approval: Approval,
  where: string | null,
): Promise<void> {
  rule(terminal, "A person has to decide");
  const action = await hp.actions.get(approval.action);
  const policies = await fetchPolicyNames(hp);
  const shown = { kind: "action", approval, action, receipt: undefined, policies } as const;
  printShown(terminal, shown, { where, now: Date.now(), full: false });
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
