/** What a person reads before deciding on an intent: an agent that asks for approval of something it does itself. */
import { printArgs, printDeadline, printStatus, printVotes, type SubjectCard } from "./card.ts";
import { printComments } from "./print-comments.ts";
import { type Sections, sectionsOn } from "./sections.ts";
import type { Terminal } from "./terminal.ts";
import { ago } from "./times.ts";

export type IntentCard = Omit<SubjectCard, "workflow">;

function printNext(terminal: Terminal, sections: Sections, { approval, where }: IntentCard): void {
  if (approval.status !== "pending" || where === null) return;
  sections.heading("Next");
  terminal.line(`  npx holdpoint approve ${approval.id} --binding ${approval.binding.slice(0, 12)}${where}`);
  terminal.line(`  npx holdpoint reject ${approval.id} --reason "…"${where}`);
}

export function printIntentCard(terminal: Terminal, card: IntentCard): void {
  const { approval, now, full } = card;
  const sections = sectionsOn(terminal, full);
  printStatus(terminal, approval);
  sections.heading("An agent asks for approval");
  sections.field("agent", approval.agent);
  if (approval.says !== null) {
    sections.heading("The agent says (its own words, checked by nobody)");
    sections.quote(approval.says);
  }
  sections.heading("What it sent, in full");
  printArgs(terminal, approval.args, full);
  sections.heading("What your answer does");
  terminal.line("  The agent is told, and does the rest itself: Holdpoint performs nothing of it.");
  printVotes(sections, { approval, now });
  printComments(sections, { approval, now });
  sections.heading("When");
  sections.field("asked", ago(approval.requestedAt, now));
  printDeadline(sections, approval, now);
  sections.heading("What it is known by");
  sections.field("intent", approval.action);
  sections.field("payload", approval.argsDigest);
  sections.field("binding", approval.binding);
  printNext(terminal, sections, card);
}
