/** People whose standing to decide was taken away. A vote counts only while its voter is in good standing. */
import { bodyOf, type Fold, type NewEvent } from "./event.ts";

export type RosterState = { readonly suspended: readonly string[] };

export const rosterFold: Fold<RosterState> = {
  version: 1,
  initial: { suspended: [] },
  evolve(state, event) {
    const body = bodyOf("The roster", event, ["person.suspended", "person.reinstated"]);
    const person = String(body["person"]);
    const others = state.suspended.filter((name) => name !== person);
    return { suspended: event.type === "person.suspended" ? [...others, person] : others };
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
