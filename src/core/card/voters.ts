/** Who has voted, and who is still asked. */
import { delegationsIn, isEligible } from "../approval/eligible.ts";
import { ruleIn } from "../approval/rule-in.ts";
import type { LiveApproval } from "../approval/state.ts";
import { peopleAmong, type RosterState } from "../roster.ts";

export type Voter = {
  readonly person: string;
  readonly state: "approved" | "rejected" | "asked";
  readonly stage: number;
};

const MOST_VOTERS = 50;

const mayStill = (approval: LiveApproval, roster: RosterState) => (who: string) =>
  isEligible(approval, roster, who) && !approval.votes.some(({ by }) => by === who);

/** Where the rule of the present stage names nobody, nobody is named here either. */
function stillAsked(approval: LiveApproval, roster: RosterState): readonly Voter[] {
  const { stage, status } = approval;
  const { from } = ruleIn(approval, stage);
  if (status !== "pending" || from === null) return [];
  const handed = delegationsIn(approval, stage).map(({ to }) => to);
  const people = [...new Set([...peopleAmong(roster, from), ...handed])];
  return people
    .filter(mayStill(approval, roster))
    .map((person) => ({ person, state: "asked" as const, stage }));
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

/** Anybody who may decide now; undefined where the list of people and the rule name nobody such. */
export function somebodyAsked(approval: LiveApproval, roster: RosterState): string | undefined {
  const { from } = ruleIn(approval, approval.stage);
  const people = from === null ? [...roster.members.keys()] : peopleAmong(roster, from);
  return people.find(mayStill(approval, roster));
}
