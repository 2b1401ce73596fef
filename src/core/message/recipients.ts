/** Whom a mail goes to: by the roster as it stands when the message is made, and again when it is sent. */
import { delegationsIn, isEligible } from "../../approvals/rules/seats.ts";
import type { LiveApproval } from "../../approvals/state.ts";
import type { JsonObject } from "../../kernel/json.ts";
import { peopleAmong, type RosterState } from "../../people/stream.ts";

/** Those who may decide the approval that a message is about. */
export const APPROVERS = "approvers";

/** Whom its rule names, or a seat was handed to, as long as they may decide it now. A rule that names nobody means nobody here. */
export function askedOf(approval: LiveApproval, roster: RosterState): readonly string[] {
  const seats = delegationsIn(approval, approval.stage).map(({ to }) => to);
  const named = peopleAmong(roster, [...(approval.approvers.from ?? []), ...seats]);
  return named.filter((person) => isEligible(approval, roster, person));
}

/** Who of those asked is told of an entry: of a comment only when whoever asked has written it. */
export function toldOf(
  approval: LiveApproval,
  roster: RosterState,
  { type, body }: { readonly type: string; readonly body: JsonObject },
): readonly string[] {
  const isAmongThem = type === "approval.commented" && body["by"] !== approval.agent;
  return isAmongThem ? [] : askedOf(approval, roster);
}

function isReachable({ members, suspended }: RosterState, person: string): boolean {
  return members.get(person)?.mail != null && !suspended.includes(person);
}

const isListed = (name: string): boolean => name.startsWith("role:") || name.startsWith("group:");

/**
 * Each once. People who are named are written to even if nobody knows where, so that it shows; of roles, groups and
 * approvers only those who can be reached.
 */
export function recipientsOf(
  roster: RosterState,
  to: readonly string[],
  approvers: readonly string[],
): readonly string[] {
  const named = to.filter((name) => name !== APPROVERS && !isListed(name));
  const meant = [...to.filter(isListed), ...(to.includes(APPROVERS) ? approvers : [])];
  const listed = peopleAmong(roster, meant).filter((person) => isReachable(roster, person));
  return [...new Set([...named, ...listed])];
}

/** Null when a person has no address, or is suspended. */
export function addressOf(roster: RosterState, to: string): string | null {
  if (!to.startsWith("person:")) return to;
  return isReachable(roster, to) ? (roster.members.get(to)?.mail ?? null) : null;
}
