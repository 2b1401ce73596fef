/**
 * Rules of the roster: who may change it, and who counts as a decider.
 * - Only a person in good standing changes the roster.
 * - Once there is an admin in good standing there always is one: the last cannot be removed, demoted or suspended.
 * - If a roster exists, only its members count; removal voids earlier votes. An empty roster says nothing.
 * - If any member has a role that decides, the others decide only what a rule names them for.
 * - Someone who was removed and added again is new: nothing they said before counts.
 */

import { isPerson, type Via } from "../../kernel/principal.ts";
import { type NewEvent, ROSTER } from "../../kernel/stream.ts";
import type { Draft, Need } from "../../kernel/transaction.ts";
import {
  decideMember,
  decideRemoval,
  decideStanding,
  isPersonAmong,
  type Member,
  type RosterEntry,
  type RosterState,
  rosterFold,
} from "../stream.ts";
import { ROLE_SCOPES } from "./scopes.ts";

export type PeopleAnswer =
  | { readonly kind: "done"; readonly changed: boolean }
  | { readonly kind: "unknown" }
  | { readonly kind: "known" }
  | { readonly kind: "last_admin" }
  | { readonly kind: "not_allowed"; readonly reason: string };

const hasAdmin = ({ members, suspended }: RosterState): boolean =>
  [...members].some(([person, { roles }]) => roles.includes("admin") && !suspended.includes(person));

/** Whether there was an admin in good standing until these events. */
function leavesNoAdmin(before: RosterState, events: readonly NewEvent[]): boolean {
  const after = events.reduce(
    (state, event) => rosterFold.evolve(state, { ...event, at: 0, seq: 0 }),
    before,
  );
  return hasAdmin(before) && !hasAdmin(after);
}

function changeRoster(
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

type AddPersonCommand = Via & { readonly person: string; readonly member: Member; readonly by: string };

/** Somebody who is there with the same particulars is known, and nothing is written. */
export function decideAddPerson(draft: Draft, command: AddPersonCommand): Need | PeopleAnswer {
  const more = draft.need({ write: [ROSTER] });
  if (more !== undefined) return more;
  const roster = draft.state(ROSTER);
  const events = decideMember(roster, command);
  if (roster.members.has(command.person))
    return events.length === 0 ? { kind: "done", changed: false } : { kind: "known" };
  return changeRoster(draft, command.by, () => events);
}

/** Where nobody was ever in the list, whoever may reach the store becomes its first admin. */
export function decideFirstAdmin(draft: Draft, person: string): Need | PeopleAnswer {
  const more = draft.need({ write: [ROSTER] });
  if (more !== undefined) return more;
  if (draft.state(ROSTER).members.size > 0) return { kind: "done", changed: false };
  const name = person.slice("person:".length);
  const member = { name, mail: null, roles: ["admin" as const], groups: [] };
  return decideAddPerson(draft, { person, member, by: person });
}

type ChangePersonCommand = Via & {
  readonly person: string;
  readonly member: Partial<Member>;
  readonly by: string;
};

/** What is not said stays as it is. */
export function decideChangePerson(draft: Draft, command: ChangePersonCommand): Need | PeopleAnswer {
  const more = draft.need({ write: [ROSTER] });
  if (more !== undefined) return more;
  const known = draft.state(ROSTER).members.get(command.person);
  if (known === undefined) return { kind: "unknown" };
  const member = { ...known, ...command.member };
  return changeRoster(draft, command.by, (roster) => decideMember(roster, { ...command, member }));
}

type PersonCommand = Via & { readonly person: string; readonly by: string; readonly reason: string };

export function decideRemovePerson(draft: Draft, command: PersonCommand): Need | PeopleAnswer {
  const more = draft.need({ write: [ROSTER] });
  if (more !== undefined) return more;
  if (!draft.state(ROSTER).members.has(command.person)) return { kind: "unknown" };
  return changeRoster(draft, command.by, (roster) => decideRemoval(roster, command));
}

/** Also of people who are in no list: whoever decides can be suspended. */
export function changeStanding(
  draft: Draft,
  command: PersonCommand & { readonly suspend: boolean },
): Need | PeopleAnswer {
  const more = draft.need({ write: [ROSTER] });
  if (more !== undefined) return more;
  return changeRoster(draft, command.by, (roster) => decideStanding(roster, command));
}

/** Suspended, or not in the list, though there is one. */
export const isRemovedOrSuspended = ({ members, suspended }: RosterState, person: string): boolean =>
  suspended.includes(person) || (members.size > 0 && !members.has(person));

const isThereToDecide = ({ roles }: RosterEntry): boolean =>
  roles.some((role) => ROLE_SCOPES[role].includes("approvals:decide"));

/** A program's list may have nobody with a role: then it does not say who decides, and anybody may. */
const saysWhoDecides = ({ members }: RosterState): boolean => [...members.values()].some(isThereToDecide);

/** `from`: those whom the rule names; null where it names nobody. */
export function hasNoRoleToDecide(
  roster: RosterState,
  person: string,
  from: readonly string[] | null,
): boolean {
  const member = roster.members.get(person);
  if (member !== undefined && isThereToDecide(member)) return false;
  return saysWhoDecides(roster) && !(from !== null && isPersonAmong(roster, person, from));
}

/** Has no say under a rule: excluded, gone, or without a role that decides. `out`: whom the rule excludes. */
export const isExcluded = (
  roster: RosterState,
  person: string,
  { from, out }: { readonly from: readonly string[] | null; readonly out: readonly string[] },
): boolean =>
  out.includes(person) || isRemovedOrSuspended(roster, person) || hasNoRoleToDecide(roster, person, from);

/** The rule names the person, or nobody in particular. */
export const isNamedIn = (roster: RosterState, person: string, from: readonly string[] | null): boolean =>
  from === null || isPersonAmong(roster, person, from);

/** What was said then is still this person's word. */
export const isVoteStillTheirs = ({ members }: RosterState, person: string, at: number): boolean =>
  at >= (members.get(person)?.since ?? at);
