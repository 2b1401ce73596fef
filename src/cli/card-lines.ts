/** The cards of the terminal as lines of plain text, for mails and pages: the same words, in full; commands to type only where they are wanted. */
import type { Shown } from "../engine/message/shown.ts";
import { printCard } from "./card.ts";
import { printCheckpoint } from "./checkpoint-card.ts";
import { printIntentCard } from "./intent-card.ts";
import { printQuestion } from "./question-card.ts";
import { sectionsOn } from "./sections.ts";
import { leftLines, shortShown } from "./short-shown.ts";
import type { Terminal } from "./terminal.ts";

const COLUMNS = 76;

function paper(lines: string[]): Terminal {
  const put = (text = "") => void lines.push(...text.split("\n"));
  return {
    interactive: false,
    columns: COLUMNS,
    line: put,
    json: (value) => put(JSON.stringify(value)),
    write: async (text) => put(text),
    note: () => {},
    progress: () => {},
    paint: (_style, text) => text,
    strange: (text) => text,
    closed: new AbortController().signal,
    fault: () => undefined,
  };
}

export function cardLines(whole: Shown, now: number, where?: string): readonly string[] {
  const short = shortShown(whole);
  const { shown } = short;
  const lines: string[] = [...leftLines(short)];
  const terminal = paper(lines);
  const how = { now, full: true, where: where ?? null } as const;
  switch (shown.kind) {
    case "action":
      printCard(terminal, { ...shown, ...how });
      break;
    case "question":
      printQuestion(terminal, { ...shown, ...how });
      break;
    case "checkpoint":
      printCheckpoint(terminal, { ...shown, ...how });
      break;
    case "intent":
      printIntentCard(terminal, { ...shown, ...how });
      break;
    case "facts":
      sectionsOn(terminal, true).tree("What happened", shown.facts);
  }
  return lines;
}
