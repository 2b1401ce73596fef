/**
 * Who is there to decide, by the list of people.
 *
 * D1. Where there is a list, whoever is not in it does not count, whatever they said before they were removed. Where nobody is
 *     listed, the list says nothing: an embedded program asks people it has no list of.
 * D2. Where somebody in the list has a role that decides, the others decide only what a rule names them for.
 * D3. Of somebody who was removed and added again nothing counts that they said before.
 */
import { isAmong, type Listed, type RosterState } from "./roster.ts";
import { ROLE_SCOPES } from "./scopes.ts";

/** Suspended, or not in the list, though there is one. */
export const isGone = ({ members, suspended }: RosterState, person: string): boolean =>
  suspended.includes(person) || (members.size > 0 && !members.has(person));

const isThereToDecide = ({ roles }: Listed): boolean =>
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
  return saysWhoDecides(roster) && !(from !== null && isAmong(roster, person, from));
}

/** Has no say under a rule: excluded, gone, or without a role that decides. `out`: whom the rule excludes. */
export const isExcluded = (
  roster: RosterState,
  person: string,
  { from, out }: { readonly from: readonly string[] | null; readonly out: readonly string[] },
): boolean => out.includes(person) || isGone(roster, person) || hasNoRoleToDecide(roster, person, from);

/** The rule names the person, or nobody in particular. */
export const isNamedIn = (roster: RosterState, person: string, from: readonly string[] | null): boolean =>
  from === null || isAmong(roster, person, from);

/** What was said then is still this person's word. */
export const isWordOf = ({ members }: RosterState, person: string, at: number): boolean =>
  at >= (members.get(person)?.since ?? at);
