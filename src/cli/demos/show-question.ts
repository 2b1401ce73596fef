/** The card that a reviewer reads in a demo, and what was decided. */
import { visible } from "../../kernel/text.ts";
import { sectionsOn } from "../shell/sections.ts";
import { fold, type Terminal } from "../shell/terminal.ts";
import { valueTree } from "../shell/values.ts";

import type { Question } from "./play.ts";
import type { Choice } from "./scenario.ts";

export const WIDEST = 80;

export function rule(terminal: Terminal, title: string): void {
  const room = Math.min(terminal.columns, WIDEST) - title.length - 4;
  terminal.line();
  terminal.line(terminal.paint("bold", `── ${title} ${"─".repeat(Math.max(3, room))}`));
}

export function paragraph(terminal: Terminal, text: string): void {
  for (const line of fold(text, Math.min(terminal.columns, WIDEST) - 2)) terminal.line(`  ${line.trimEnd()}`);
}

/** One thing that happened. */
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
