/** What a listed workflow waits for, in a few words. */
import type { ListedWorkflow } from "../../api/workflows.ts";

export type Waiting = { readonly words: string; readonly name: string };

/** A stream's name as people know it: `switch/tenant`, `budget/trip`. */
export function heldWords(stream: string): Waiting {
  const [kind = "", ...rest] = stream.split("/");
  const name = rest.join("/");
  if (kind === "budget") return { words: "no room in the budget", name };
  return name === "tenant"
    ? { words: "stopped with everything by the kill switch", name: "" }
    : { words: "stopped by the kill switch", name: "" };
}

const WORDS: { readonly [kind: string]: string } = {
  approval: "people, about a call",
  checkpoint: "people, at a checkpoint",
  question: "an answer by people",
  sleep: "a time",
  retry: "another try of a step",
  child: "a workflow that it began",
  intent: "another agent",
  doubt: "somebody to settle a doubt",
};

type Facts = Pick<ListedWorkflow, "checkpoint" | "held_by" | "stuck_on" | "waits">;

/** What a person can do something about comes first. */
const FIRST = ["doubt", "approval", "question", "child", "intent", "retry", "sleep"];

export function waitsFor({ checkpoint, held_by, stuck_on, waits }: Facts): Waiting | null {
  if (checkpoint !== null) return { words: "people, at", name: checkpoint };
  const [held] = held_by;
  if (held !== undefined) return heldWords(held);
  if (stuck_on !== null) return { words: "a definition that fits", name: "" };
  const kinds = (waits ?? []).map(({ kind }) => kind);
  const kind = FIRST.find((one) => kinds.includes(one)) ?? kinds[0];
  return kind === undefined ? null : { words: WORDS[kind] ?? kind, name: "" };
}
