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

type Facts = Pick<ListedWorkflow, "checkpoint" | "held_by" | "stuck_on">;

export function waitsFor({ checkpoint, held_by, stuck_on }: Facts): Waiting | null {
  if (checkpoint !== null) return { words: "people, at", name: checkpoint };
  const [held] = held_by;
  if (held !== undefined) return heldWords(held);
  return stuck_on === null ? null : { words: "a definition that fits", name: "" };
}
