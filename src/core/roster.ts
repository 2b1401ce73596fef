/** People whose standing to decide was taken away. A vote counts only while its voter is in good standing. */
import { HoldpointError } from "./errors.ts";
import type { Fold, NewEvent } from "./event.ts";

export type RosterState = { readonly suspended: readonly string[] };

export const rosterFold: Fold<RosterState> = {
  version: 1,
  initial: { suspended: [] },
  evolve(state, event) {
    const person = String(event.body?.["person"]);
    const others = state.suspended.filter((name) => name !== person);
    if (event.type === "person.suspended") return { suspended: [...others, person] };
    if (event.type === "person.reinstated") return { suspended: others };
    throw new HoldpointError("unknown_event", `The roster met the event "${event.type}".`);
  },
};

export function decideStanding(
  state: RosterState,
  command: { person: string; suspend: boolean; by: string; reason: string },
): NewEvent[] {
  if (state.suspended.includes(command.person) === command.suspend) return [];
  const type = command.suspend ? "person.suspended" : "person.reinstated";
  return [{ type, tv: 1, body: { person: command.person, by: command.by, reason: command.reason } }];
}
