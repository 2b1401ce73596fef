/** What a person reads before answering a question that a workflow asks. */

import type { Approval } from "../approvals/contract.ts";
import { canonicalJson } from "../core/canonical-json.ts";
import { isJsonObject } from "../core/json.ts";
import { visiblePreview } from "../core/visible.ts";
import {
  printArgs,
  printDeadline,
  printIdentityOf,
  printStatus,
  printVotes,
  type SubjectCard,
} from "./card.ts";
import { printComments } from "./print-comments.ts";
import { exampleOf, schemaText } from "./schema-text.ts";
import { type Sections, sectionsOn } from "./sections.ts";
import type { Terminal } from "./terminal.ts";
import { ago } from "./times.ts";

/** A question without a suggestion has an empty object in its place. */
export function hasSuggestion({ args }: Pick<Approval, "args">): boolean {
  return !isJsonObject(args) || Object.keys(args).length > 0;
}

const isAnswered = ({ status }: Approval): boolean =>
  status === "consumed" || status === "approved" || status === "modified";

function printForm(terminal: Terminal, sections: Sections, { approval, full }: SubjectCard): void {
  sections.heading("What an answer has to be");
  const { answerSchema } = approval;
  if (answerSchema === undefined) terminal.line("  any JSON: the program checks it");
  else sections.block(schemaText(answerSchema));
  if (!hasSuggestion(approval)) return;
  sections.heading(isAnswered(approval) ? "The answer" : "What the program suggests");
  printArgs(terminal, approval.args, full);
}

function printNext(terminal: Terminal, sections: Sections, { approval, where }: SubjectCard): void {
  if (approval.status !== "pending" || where === null) return;
  sections.heading("Next");
  const example = visiblePreview(canonicalJson(exampleOf(approval.answerSchema)));
  const typed = example.includes("'") ? "<json>" : example;
  terminal.line(`  npx holdpoint answer ${approval.id} '${typed}'${where}`);
  if (hasSuggestion(approval))
    terminal.line(
      `  npx holdpoint approve ${approval.id} --binding ${approval.binding.slice(0, 12)}${where}`,
    );
  terminal.line(`  npx holdpoint reject ${approval.id} --reason "…"${where}`);
}

export function printQuestion(terminal: Terminal, card: SubjectCard): void {
  const { approval, workflow, now, full } = card;
  const sections = sectionsOn(terminal, full);
  printStatus(terminal, approval);
  sections.heading(`A question of the workflow "${workflow.name}"`);
  sections.field("question", approval.tool);
  sections.quote(approval.reason);
  printForm(terminal, sections, card);
  sections.heading("If you reject");
  terminal.line(
    "  The workflow is told that nobody answers, with your reason, and goes on by its own rules.",
  );
  printVotes(sections, { approval, now });
  printComments(sections, { approval, now });
  sections.heading("When");
  sections.field("asked", ago(approval.requestedAt, now));
  printDeadline(sections, approval, now, "answer by");
  printIdentityOf(sections, card);
  printNext(terminal, sections, card);
}
