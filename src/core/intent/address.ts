/**
 * Whom an address means. An agent is meant by its name; where people are to approve, a person, a role or a group.
 *
 * R1. `agent://approver` means `role:supervisor`. Where a tenant has no list of people, any person may decide instead.
 */
import { isPrincipal } from "../principal.ts";
import { ROLES, type RosterState } from "../roster.ts";

export const HUMAN_APPROVAL = "human_approval";
const SCHEME = "agent://";
const APPROVER = "approver";

const bare = (address: string): string =>
  address.startsWith(SCHEME) ? address.slice(SCHEME.length) : address;

/** `agent://name` or `agent:name`. */
function agentOf(name: string): string | undefined {
  const principal = name.startsWith("agent:") ? name : `agent:${name}`;
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
  return intentType === HUMAN_APPROVAL ? peopleOf(bare(address)) : agentOf(bare(address));
}

/** Who may decide, as an approver rule says it; null: any person. */
export function approversAt(to: string, roster: RosterState): readonly string[] | null {
  return to === "role:supervisor" && roster.members.size === 0 ? null : [to];
}
