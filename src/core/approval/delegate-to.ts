/**
 * Whom a seat may be handed to.
 *
 * T1. Only to somebody who may decide: a person in good standing who is not left out, and, where the list of people says who
 *     is there to decide, one of those or one whom the rule itself names. Otherwise nobody could use the seat.
 */
import { isPerson } from "../principal.ts";
import { isAmong, type Listed, type RosterState } from "../roster.ts";
import { ROLE_SCOPES } from "../scopes.ts";
import { ruleIn } from "./rule-in.ts";
import { type LiveApproval, standingIn } from "./state.ts";

const isThereToDecide = ({ roles }: Listed): boolean =>
  roles.some((role) => ROLE_SCOPES[role].includes("approvals:decide"));

/** A program's list may have nobody with a role: then it does not say who decides, and anybody may. */
const saysWhoDecides = ({ members }: RosterState): boolean => [...members.values()].some(isThereToDecide);

/** Why this one may not decide in the present stage, whoever hands them what; undefined when they may. */
export function whyNotADecider(approval: LiveApproval, roster: RosterState, to: string): string | undefined {
  if (!isPerson(to)) return `${to} may not decide this: only people decide`;
  if (roster.suspended.includes(to)) return `${to} may not decide this: they are suspended`;
  if (standingIn(approval, roster, approval.stage).isOut(to)) return `${to} may not decide this`;
  const { from } = ruleIn(approval, approval.stage);
  if (!saysWhoDecides(roster) || (from !== null && isAmong(roster, to, from))) return undefined;
  const member = roster.members.get(to);
  if (member === undefined) return `${to} may not decide this: they are not in the list of people`;
  return isThereToDecide(member)
    ? undefined
    : `${to} may not decide this: they have no role that decides, such as supervisor`;
}
