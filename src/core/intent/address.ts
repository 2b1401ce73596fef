/**
 * Whom an address means. An agent is meant by its name, a service or a person by `service:` or `person:` before it; where
 * people are to approve, a person, a role or a group.
 *
 * R1. `agent://approver` means `role:supervisor`. Where a tenant has no list of people, any person may decide instead.
 * R2. Where it has one, whoever is asked to approve is in it, in good standing, and not there for other things alone.
 */
import { isPrincipal } from "../../kernel/principal.ts";
import { ROLE_SCOPES } from "../../people/rules/scopes.ts";
import { type Member, peopleAmong, ROLES, type RosterState } from "../../people/stream.ts";

export const HUMAN_APPROVAL = "human_approval";
/** What a workflow that goes back asks of its agent. Nobody else sends one. */
export const COMPENSATION = "compensation";
const SCHEME = "agent://";
const APPROVER = "approver";
const MOST_NAMED = 5;

const bare = (address: string): string =>
  address.startsWith(SCHEME) ? address.slice(SCHEME.length) : address;

/** A bare name is an agent's. A role or a group answers nothing: each of its people would have to. */
function principalOf(name: string): string | undefined {
  if (/^(role|group):/.test(name)) return undefined;
  const principal = /^(agent|service|person):/.test(name) ? name : `agent:${name}`;
  return isPrincipal(principal) ? principal : undefined;
}

function peopleOf(name: string): string | undefined {
  if (name === APPROVER) return "role:supervisor";
  if (ROLES.some((role) => role === name)) return `role:${name}`;
  if (/^role:/.test(name)) return ROLES.some((role) => `role:${role}` === name) ? name : undefined;
  if (/^group:[^\s]{1,128}$/.test(name)) return name;
  return name.startsWith("person:") && isPrincipal(name) ? name : undefined;
}

/** undefined: it names nobody who could answer this. */
export function recipientOf(intentType: string, address: string): string | undefined {
  return intentType === HUMAN_APPROVAL ? peopleOf(bare(address)) : principalOf(bare(address));
}

/** Who may decide, as an approver rule says it; null: any person. */
export function approversAt(to: string, roster: RosterState): readonly string[] | null {
  return to === "role:supervisor" && roster.members.size === 0 ? null : [to];
}

const decides = ({ roles }: Member): boolean =>
  roles.length === 0 || roles.some((role) => ROLE_SCOPES[role].includes("approvals:decide"));

function faultOf({ members, suspended }: RosterState, person: string): string | undefined {
  if (suspended.includes(person)) return `${person} is suspended`;
  if (members.size === 0) return undefined;
  const member = members.get(person);
  if (member === undefined) return `${person} is not in the list of people`;
  return decides(member) ? undefined : `${person} has no role that decides`;
}

/** Why nobody of those who are meant can decide; undefined where somebody can. `out`: who is not to, in any case. */
export function whyNobody(to: string, roster: RosterState, out: readonly string[]): string | undefined {
  const meant = peopleAmong(roster, [to]);
  const faults = meant.map((person) =>
    out.includes(person) ? `${person} may not decide this` : faultOf(roster, person),
  );
  const isMet = meant.length === 0 || faults.includes(undefined);
  return isMet ? undefined : faults.slice(0, MOST_NAMED).join("; ");
}
