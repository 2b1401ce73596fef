/** How a demo looks: its beginning, its end, and what the journal tells of it. */
import type { Report } from "../../index.ts";
import { fold, pad, type Terminal, widthOf } from "../shell/terminal.ts";
import { readStory, type StoryLine } from "../workflows/story.ts";

import type { Played } from "./play.ts";
import { type Outcome, type Scenario, usd } from "./scenario.ts";
import { paragraph, rule, WIDEST } from "./show-question.ts";

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

/** What is saved against the same agent with nobody to look; null where there is no figure. */
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

/** One line each; what does not fit goes on below, in its own column. */
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
