/** What a workflow is doing, and what will happen to it, in words for people. For commands that show or decide one. */

import { typedName } from "../../approvals/card-checkpoint.ts";
import { quotedName, visible } from "../../kernel/text.ts";
import { TENANT_SCOPE } from "../../kill-switch/stream.ts";
import { parseObstacle } from "../../workflows/state.ts";
import type { WorkflowDetails } from "../../workflows/views.ts";
import type { Style } from "../shell/terminal.ts";

export const STATUS_STYLES: { readonly [status: string]: Style } = {
  awaiting_approval: "yellow",
  rolling_back: "yellow",
  completed: "green",
  failed: "red",
};

export const statusWords = (status: string): string => status.replaceAll("_", " ");

/** Passed checkpoints out of those declared; a checkpoint may be passed several times. */
export function passedWords(passed: number, declared: number): string {
  return declared === 0 ? String(passed) : `${passed}/${declared}`;
}

/** For a fork, where it was forked. */
export function startWords({ fork }: Pick<WorkflowDetails, "fork">): string {
  if (fork === null) return "the start";
  return `where it was forked, ${quotedName(fork.checkpoint)} of ${visible(fork.workflow)}`;
}

export function placeWords(state: WorkflowDetails, op: string | null): string {
  if (op === null) return startWords(state);
  const found = state.passed.findLast((one) => one.op === op);
  return found === undefined ? visible(op) : quotedName(found.name);
}

/** The obstacle that holds a workflow up, as recorded: `switch/tenant`, `budget/trip`. */
export function heldWords(on: string): string {
  const ref = parseObstacle(on);
  if (ref === undefined) return visible(on);
  if (ref.kind === "budget") return `room in the budget "${visible(ref.id)}"`;
  return `the kill switch of ${ref.id === TENANT_SCOPE ? "every agent" : visible(ref.id)} to be released`;
}

/** No command runs a definition: a process that has it continues the workflow. */
export function goesOnWords(name: string): string {
  return `A process that has the definition ${quotedName(name)} goes on by itself, now or when it runs again.`;
}

/** A checkpoint as typed after a flag. A name with unusual characters is replaced by its snapshot's id. */
export function typedCheckpoint(name: string, snapshot: string): string {
  return typedName(name) ?? snapshot;
}

/** For an intent that people have decided. */
export const intentToldWords = (intent: string): string =>
  `The intent ${intent} has its answer: whoever waits for it hears of it, now or when it runs again.`;
