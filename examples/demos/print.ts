/** Output of a demo: its start, the reviewer's card, its end, the story in the journal, and the total. */

import { sectionsOn, valueTree } from "../../src/cli/shell/sections.ts";
import { fold, pad, type Terminal, widthOf } from "../../src/cli/shell/terminal.ts";
import { readStory, type StoryLine } from "../../src/cli/workflows/story.ts";
import type { Report } from "../../src/journal/verify.ts";
import { visible } from "../../src/kernel/text.ts";
import { type Choice, type Outcome, type Played, type Question, type Scenario, usd } from "./play.ts";

export const WIDEST = 80;

export function rule(terminal: Terminal, title: string): void {
  const room = Math.min(terminal.columns, WIDEST) - title.length - 4;
  terminal.line();
  terminal.line(terminal.paint("bold", `── ${title} ${"─".repeat(Math.max(3, room))}`));
}

export function paragraph(terminal: Terminal, text: string): void {
  for (const line of fold(text, Math.min(terminal.columns, WIDEST) - 2)) terminal.line(`  ${line.trimEnd()}`);
}

/** One line per event. */
export function bullet(terminal: Terminal, text: string): void {
  const lines = fold(text, Math.min(terminal.columns, WIDEST) - 4);
  for (const [at, line] of lines.entries()) terminal.line(`  ${at === 0 ? "·" : " "} ${line.trimEnd()}`);
}

export function showQuestion(terminal: Terminal, question: Question): void {
  const { checkpoint, agent, says, outputs, confidence, takenBack, irreversible, attempt } = question;
  const again = attempt > 1 ? `, attempt ${attempt}` : "";
  rule(terminal, `Checkpoint: ${checkpoint}${again}`);
  const sections = sectionsOn(terminal, false);
  const sure = confidence === null ? "" : `, ${Math.round(confidence * 100)} % sure of it`;
  terminal.line(terminal.paint("dim", `  ${visible(agent)} says${sure}`));
  sections.quote(says);
  terminal.line(terminal.paint("dim", "  If you approve, it goes on with"));
  sections.block(valueTree(outputs, false));
  terminal.line(terminal.paint("dim", "  If you reject"));
  const lines = [
    ...takenBack.map((tool) => `${tool} is undone`),
    ...irreversible.map((tool) => `${tool} cannot be undone`),
  ];
  sections.block(lines.length === 0 ? ["there is nothing to undo"] : lines);
  terminal.line();
}

export function choiceText(choice: Choice): string {
  switch (choice.kind) {
    case "approve":
      return `approve${choice.note === "" ? "" : `: "${choice.note}"`}`;
    case "modify": {
      const fields = Object.entries(choice.edit).map(([name, value]) => `${name} = ${JSON.stringify(value)}`);
      return `modify ${fields.join(", ")}${choice.note === "" ? "" : `: "${choice.note}"`}`;
    }
    case "reject":
      return `reject${choice.final ? " for good" : ""}: "${choice.reason}"`;
  }
}

export type Mode = "without" | "with" | "reject";

const HEADINGS: { readonly [mode in Mode]: string } = {
  without: "nobody looks",
  with: "a person looks",
  reject: "a person says no",
};

export function printBeginning(terminal: Terminal, scenario: Scenario, mode: Mode): void {
  rule(terminal, `${scenario.title}: ${HEADINGS[mode]}`);
  paragraph(terminal, `The agent's task: ${scenario.task}`);
  terminal.line();
}

/** Savings compared to the same agent without supervision; null if there is no figure. */
export function savedUsd(outcome: Outcome, without: Outcome): number | null {
  if (outcome.costUsd === null || without.costUsd === null) return null;
  return without.costUsd - outcome.costUsd;
}

export function printEnd(
  terminal: Terminal,
  scenario: Scenario,
  { result }: Pick<Played, "result">,
  without: Outcome,
): void {
  terminal.line();
  if (result.status === "failed" && result.code !== "rejected") {
    terminal.line(`  ${terminal.paint("red", "FAILED")}: ${result.reason}`);
    return;
  }
  if (result.status === "failed") {
    terminal.line(`  ${terminal.paint("yellow", "FAILED")}, because a person said so: "${result.reason}"`);
    paragraph(terminal, "What the agent had done until then is undone; the rest was never done.");
    return;
  }
  const { costUsd, told } = result.result;
  const isDisaster = told === without.told;
  const cost = costUsd === null ? "" : ` It cost ${usd(costUsd)}.`;
  terminal.line(`  ${terminal.paint(isDisaster ? "red" : "green", "COMPLETED")}: ${told}.${cost}`);
  if (isDisaster) paragraph(terminal, scenario.mistake);
  const saved = savedUsd(result.result, without) ?? 0;
  if (saved > 0)
    terminal.line(
      terminal.paint(
        "bold",
        `  ${usd(saved)} saved: with nobody to look it costs ${usd(without.costUsd ?? 0)}.`,
      ),
    );
}

export function verifiedText({ ok, counts, total }: Report): string {
  return ok
    ? `Verified: ${counts.entries} entries in ${counts.streams} chains, ${counts.sealed} of them sealed.`
    : `Not verified: ${total} findings.`;
}

/** One line each; text that does not fit continues below, in its own column. */
function printLines(terminal: Terminal, lines: readonly StoryLine[]): void {
  const who = Math.max(...lines.map((line) => widthOf(line.who))) + 2;
  const did = Math.max(...lines.map((line) => widthOf(line.did))) + 2;
  const room = Math.max(20, Math.min(terminal.columns, WIDEST) - who - did - 2);
  for (const line of lines) {
    const [first = "", ...rest] = fold(line.what, room);
    const start = `${terminal.paint("dim", pad(line.who, who))}${pad(line.did, did)}`;
    terminal.line(`  ${start}${first.trimEnd()}`.trimEnd());
    for (const part of rest) terminal.line(" ".repeat(who + did + 2) + part.trimEnd());
  }
}

export function printStory(terminal: Terminal, { entries, report }: Played): void {
  terminal.line();
  terminal.line(terminal.paint("bold", "  What the journal tells"));
  printLines(terminal, readStory(entries));
  terminal.line();
  terminal.line(`  ${terminal.paint(report.ok ? "green" : "red", verifiedText(report))}`);
}

export type Row = { readonly title: string; readonly without: Outcome; readonly with: Outcome | null };

type Total = {
  readonly withoutUsd: number;
  readonly withUsd: number;
  readonly savedUsd: number;
  /** Saved per dollar spent with a person; null if nothing was spent. */
  readonly returnPercent: number | null;
};

/** A demo without a figure counts on neither side; a rejected one cost nothing. */
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
