/**
 * Who is in the list of people, and what they are there for.
 *
 * V1. Only a person in good standing changes it.
 * V2. Once there is an admin in good standing there always is one: the last cannot be removed, lose the role or be suspended.
 */

import { isPerson, type Via } from "../kernel/principal.ts";
import { type NewEvent, ROSTER } from "../kernel/stream.ts";
import type { Draft, Need } from "../kernel/transaction.ts";

import {
  decideMember,
  decideRemoval,
  decideStanding,
  type Member,
  type RosterState,
  rosterFold,
} from "./roster.ts";

export type PeopleAnswer =
  | { readonly kind: "done"; readonly changed: boolean }
  | { readonly kind: "unknown" }
  | { readonly kind: "known" }
  | { readonly kind: "last_admin" }
  | { readonly kind: "not_allowed"; readonly reason: string };

const hasAdmin = ({ members, suspended }: RosterState): boolean =>
  [...members].some(([person, { roles }]) => roles.includes("admin") && !suspended.includes(person));

/** Whether there was an admin in good standing until these events. */
export function leavesNoAdmin(before: RosterState, events: readonly NewEvent[]): boolean {
  const after = events.reduce(
    (state, event) => rosterFold.evolve(state, { ...event, at: 0, seq: 0 }),
    before,
  );
  return hasAdmin(before) && !hasAdmin(after);
}

function decided(
  draft: Draft,
  by: string,
  decide: (roster: RosterState) => readonly NewEvent[],
): PeopleAnswer {
  const roster = draft.state(ROSTER);
  if (!isPerson(by)) return { kind: "not_allowed", reason: `${by} is not a person` };
  if (roster.suspended.includes(by)) return { kind: "not_allowed", reason: `${by} is not in good standing` };
  const events = decide(roster);
  if (leavesNoAdmin(roster, events)) return { kind: "last_admin" };
  draft.append(ROSTER, events);
  return { kind: "done", changed: events.length > 0 };
}

export type Joining = Via & { readonly person: string; readonly member: Member; readonly by: string };

/** Somebody who is there with the same particulars is known, and nothing is written. */
export function addPerson(draft: Draft, command: Joining): Need | PeopleAnswer {
  const more = draft.need({ write: [ROSTER] });
  if (more !== undefined) return more;
  const roster = draft.state(ROSTER);
  const events = decideMember(roster, command);
  if (roster.members.has(command.person))
    return events.length === 0 ? { kind: "done", changed: false } : { kind: "known" };
  return decided(draft, command.by, () => events);
}

/** Where nobody was ever in the list, whoever may reach the store becomes its first admin. */
export function addFirstAdmin(draft: Draft, person: string): Need | PeopleAnswer {
  const more = draft.need({ write: [ROSTER] });
  if (more !== undefined) return more;
  if (draft.state(ROSTER).members.size > 0) return { kind: "done", changed: false };
  const name = person.slice("person:".length);
  const member = { name, mail: null, roles: ["admin" as const], groups: [] };
  return addPerson(draft, { person, member, by: person });
}

export type Changing = Via & {
  readonly person: string;
  readonly member: Partial<Member>;
  readonly by: string;
};

/** What is not said stays as it is. */
export function changePerson(draft: Draft, command: Changing): Need | PeopleAnswer {
  const more = draft.need({ write: [ROSTER] });
  if (more !== undefined) return more;
  const known = draft.state(ROSTER).members.get(command.person);
  if (known === undefined) return { kind: "unknown" };
  const member = { ...known, ...command.member };
  return decided(draft, command.by, (roster) => decideMember(roster, { ...command, member }));
}

export type Saying = Via & { readonly person: string; readonly by: string; readonly reason: string };

export function removePerson(draft: Draft, command: Saying): Need | PeopleAnswer {
  const more = draft.need({ write: [ROSTER] });
  if (more !== undefined) return more;
  if (!draft.state(ROSTER).members.has(command.person)) return { kind: "unknown" };
  return decided(draft, command.by, (roster) => decideRemoval(roster, command));
}

/** Also of people who are in no list: whoever decides can be suspended. */
export function changeStanding(
  draft: Draft,
  command: Saying & { readonly suspend: boolean },
): Need | PeopleAnswer {
  const more = draft.need({ write: [ROSTER] });
  if (more !== undefined) return more;
  return decided(draft, command.by, (roster) => decideStanding(roster, command));
}
