/**
 * Rules of the roster: who may change it, and who counts as a decider.
 * - Only a person in good standing changes the roster.
 * - Once it has an admin in good standing, it always has one: the last cannot be removed, demoted or suspended.
 * - If a roster exists, only its members count; removal voids earlier votes. An empty roster sets no limit.
 * - If any member has a role that decides, other members decide only where a rule names them.
 * - A person who was removed and added again is new: none of their earlier votes counts.
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

/** Why a principal may not change anything for people; undefined if it may. */
export function actorFault({ suspended }: RosterState, by: string): string | undefined {
  if (!isPerson(by)) return `${by} is not a person`;
  return suspended.includes(by) ? `${by} is not in good standing` : undefined;
}

const hasAdmin = ({ members, suspended }: RosterState): boolean =>
  [...members].some(([person, { roles }]) => roles.includes("admin") && !suspended.includes(person));

/** Whether these events would remove the last admin in good standing. */
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
  const reason = actorFault(roster, by);
  if (reason !== undefined) return { kind: "not_allowed", reason };
  const events = decide(roster);
  if (leavesNoAdmin(roster, events)) return { kind: "last_admin" };
  draft.append(ROSTER, events);
  return { kind: "done", changed: events.length > 0 };
}

type AddPersonCommand = Via & { readonly person: string; readonly member: Member; readonly by: string };

/** A person who is a member with the same details is `done` unchanged: nothing is written. */
export function decideAddPerson(draft: Draft, command: AddPersonCommand): Need | PeopleAnswer {
  const more = draft.need({ write: [ROSTER] });
  if (more !== undefined) return more;
  const roster = draft.state(ROSTER);
  const events = decideMember(roster, command);
  if (roster.members.has(command.person))
    return events.length === 0 ? { kind: "done", changed: false } : { kind: "known" };
  return changeRoster(draft, command.by, () => events);
}

/** In a roster that is empty, a person with access to the store becomes its first admin. */
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

/** Omitted fields stay as they are. */
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

/** Also for people outside the roster: any decider can be suspended. */
export function changeStanding(
  draft: Draft,
  command: PersonCommand & { readonly suspend: boolean },
): Need | PeopleAnswer {
  const more = draft.need({ write: [ROSTER] });
  if (more !== undefined) return more;
  return changeRoster(draft, command.by, (roster) => decideStanding(roster, command));
}

/** Suspended, or not a member although a roster exists. */
export const isRemovedOrSuspended = ({ members, suspended }: RosterState, person: string): boolean =>
  suspended.includes(person) || (members.size > 0 && !members.has(person));

const isThereToDecide = ({ roles }: RosterEntry): boolean =>
  roles.some((role) => ROLE_SCOPES[role].includes("approvals:decide"));

/** If no member has a deciding role, the roster does not limit who decides: every member may. */
const saysWhoDecides = ({ members }: RosterState): boolean => [...members.values()].some(isThereToDecide);

/** `from`: the people, roles and groups that the rule names; null: the rule names none. */
export function hasNoRoleToDecide(
  roster: RosterState,
  person: string,
  from: readonly string[] | null,
): boolean {
  const member = roster.members.get(person);
  if (member !== undefined && isThereToDecide(member)) return false;
  return saysWhoDecides(roster) && !(from !== null && isPersonAmong(roster, person, from));
}

/** Has no vote under a rule: excluded (`out`), removed, suspended, or without a deciding role. */
export const isExcluded = (
  roster: RosterState,
  person: string,
  { from, out }: { readonly from: readonly string[] | null; readonly out: readonly string[] },
): boolean =>
  out.includes(person) || isRemovedOrSuspended(roster, person) || hasNoRoleToDecide(roster, person, from);

/** The rule names the person, or names no deciders at all. */
export const isNamedIn = (roster: RosterState, person: string, from: readonly string[] | null): boolean =>
  from === null || isPersonAmong(roster, person, from);

/** A vote from that time still counts as this person's vote. */
export const isVoteStillTheirs = ({ members }: RosterState, person: string, at: number): boolean =>
  at >= (members.get(person)?.since ?? at);
