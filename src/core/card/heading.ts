/** What is decided, in Holdpoint's words. Names in it are strangers' text: whoever shows it makes them visible. */
import type { Subject } from "../approval/events.ts";
import { raisedName } from "../workflow/raise.ts";

export type Headed = { readonly tool: string; readonly subject?: Subject };

export function headingOf({ tool, subject }: Headed): string {
  switch (subject?.kind) {
    case undefined:
      return `Run ${tool}`;
    case "checkpoint":
      return raisedName(subject.op) === undefined
        ? `Go on past the checkpoint ${tool}`
        : `Go on although the monitor stopped it: ${tool}`;
    case "question":
      return `Answer the question ${tool}`;
    case "intent":
      return `Answer what was sent: ${tool}`;
  }
}

/** What the decision does where nothing runs by it. */
export const SUBJECT_WORDS: { readonly [kind in Subject["kind"]]: string } = {
  checkpoint: "the workflow goes on from here; nothing else runs by it",
  question: "the workflow is told the answer; nothing else runs by it",
  intent: "whoever sent it is told the answer; nothing else runs by it",
};
