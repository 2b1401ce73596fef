/** Who has voted, and who is still asked. */
import { ruleIn } from "../approval/rule-in.ts";
import { delegationsIn, isEligible, type LiveApproval } from "../approval/state.ts";
import { peopleAmong, type RosterState } from "../roster.ts";

export type Voter = {
  readonly person: string;
  readonly state: "approved" | "rejected" | "asked";
  readonly stage: number;
};

export const MOST_VOTERS = 50;

/** Where the rule of the present stage names nobody, nobody is named here either. */
function stillAsked(approval: LiveApproval, roster: RosterState): readonly Voter[] {
  const { stage, status, votes } = approval;
  const { from } = ruleIn(approval, stage);
  if (status !== "pending" || from === null) return [];
  const handed = delegationsIn(approval, stage).map(({ to }) => to);
  const people = [...new Set([...peopleAmong(roster, from), ...handed])];
  const isOpen = (who: string) => isEligible(approval, roster, who) && !votes.some(({ by }) => by === who);
  return people.filter(isOpen).map((person) => ({ person, state: "asked", stage }));
}

/** Those who voted first, in the order of their votes. */
export function votersOf(approval: LiveApproval, roster: RosterState): readonly Voter[] {
  const voted = approval.votes.map(({ by: person, decision, stage = 1 }) => ({
    person,
    state: decision === "approve" ? ("approved" as const) : ("rejected" as const),
    stage,
  }));
  return [...voted, ...stillAsked(approval, roster)].slice(0, MOST_VOTERS);
}
