/**
 * Whom a seat may be handed to.
 *
 * T1. Only to somebody who may decide: a person in good standing who is not left out, and, where the list of people says who
 *     is there to decide, one of those or one whom the rule itself names. Otherwise nobody could use the seat.
 */
import { hasNoRoleToDecide, isGone } from "../deciders.ts";
import { isPerson } from "../principal.ts";
import type { RosterState } from "../roster.ts";
import { standingIn } from "./eligible.ts";
import { ruleIn } from "./rule-in.ts";
import type { LiveApproval } from "./state.ts";

/** Why this one may not decide in the present stage, whoever hands them what; undefined when they may. */
export function whyNotADecider(approval: LiveApproval, roster: RosterState, to: string): string | undefined {
  if (!isPerson(to)) return `${to} may not decide this: only people decide`;
  if (roster.suspended.includes(to)) return `${to} may not decide this: they are suspended`;
  if (isGone(roster, to)) return `${to} may not decide this: they are not in the list of people`;
  if (hasNoRoleToDecide(roster, to, ruleIn(approval, approval.stage).from))
    return `${to} may not decide this: they have no role that decides, such as supervisor`;
  return standingIn(approval, roster, approval.stage).isOut(to) ? `${to} may not decide this` : undefined;
}
