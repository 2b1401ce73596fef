/**
 * Who may decide an approval in one of its stages, and what their votes amount to.
 *
 * E1. It follows from the rule, the roster of that moment and the seats that were handed over.
 * E2. There is one definition, for the approval itself and for a list's row of it.
 * H1. A person who handed their seat over may not decide while it is handed over; its holder may. Never both.
 * H2. A seat is worth what its first holder is: it is gone when they, or anybody it went through, may not decide any more.
 * C1. A stage whose quorum is met gives way to the next; the last one approves, while every stage still has its quorum.
 * C2. Nobody's vote in one stage may leave a later one without the people it needs.
 */

import { ROSTER } from "../../kernel/stream.ts";
import type { Draft } from "../../kernel/transaction.ts";
import { isExcluded, isNamedIn, isRemovedOrSuspended, isVoteStillTheirs } from "../../people/rules/roster.ts";
import { peopleAmong, type RosterState } from "../../people/stream.ts";
import { canBeSeated, type SeatExclusion } from "../../policy/rules/stages.ts";
import { type ApproverRule, excludedPeople } from "../../policy/rules/verdict.ts";
import {
  type InStage,
  type LiveApproval,
  type PendingDeciders,
  ruleIn,
  type Seat,
  type Seated,
  stageRules,
} from "../state.ts";
import { appendApprovalEvent, getLiveApproval } from "./subject.ts";

/** From the first holder to the last there are at most that many steps. */
export const MOST_STEPS = 3;

/** What a person is in a stage, before seats are handed over. */
type StageStanding = {
  /** Never, not even with a seat. */
  readonly isOut: (person: string) => boolean;
  /** In their own right. */
  readonly isNamed: (person: string) => boolean;
};

/** Recorded only where there are several stages. */
export const stageField = ({ stages, stage }: LiveApproval): InStage =>
  stages === undefined ? {} : { stage };

/** The deadline of the next stage, if it begins at this time. */
export function nextDecideBy({ stages, stage }: LiveApproval, begins: number): number | null {
  const length = stages?.[stage]?.decideWithinMs ?? null;
  return length === null ? null : begins + length;
}

export const delegationsIn = <One extends Seat>(
  { delegations }: { readonly delegations: readonly One[] },
  stage: number,
): readonly One[] => delegations.filter((one) => (one.stage ?? 1) === stage);

export function getStageStanding(approval: Seated, roster: RosterState, stage: number): StageStanding {
  const rule = ruleIn(approval, stage);
  const out = excludedPeople(rule, approval.requester, approval.apart);
  return {
    isOut: (who) => !who.startsWith("person:") || isExcluded(roster, who, { from: rule.from, out }),
    isNamed: (who) => isNamedIn(roster, who, rule.from),
  };
}

/** Has a seat, or would have if they had not handed it on. */
export function isSeated(
  handed: readonly Seat[],
  person: string,
  standing: StageStanding,
  steps = MOST_STEPS,
): boolean {
  if (standing.isOut(person)) return false;
  if (standing.isNamed(person)) return true;
  if (steps === 0) return false;
  return handed.some(({ by, to }) => to === person && isSeated(handed, by, standing, steps - 1));
}

function mayTakePart(handed: readonly Seat[], person: string, standing: StageStanding): boolean {
  return !handed.some(({ by }) => by === person) && isSeated(handed, person, standing);
}

/** May decide in the present stage, or in another one. */
export function isEligible(
  approval: Seated,
  roster: RosterState,
  person: string,
  stage: number = approval.stage,
): boolean {
  return mayTakePart(delegationsIn(approval, stage), person, getStageStanding(approval, roster, stage));
}

/** The stages in which they may decide. */
export const eligibleStages = (
  approval: LiveApproval,
  roster: RosterState,
  person: string,
): readonly number[] =>
  stageRules(approval).flatMap((_, index) =>
    isEligible(approval, roster, person, index + 1) ? [index + 1] : [],
  );

/** They may decide it now, and have not. */
export function isWaitingFor(waiting: PendingDeciders | null, roster: RosterState, person: string): boolean {
  if (waiting === null || waiting.decided.includes(person)) return false;
  return isEligible(waiting, roster, person);
}

/** People whose approving votes in a stage count for the present binding: distinct, eligible, in good standing. */
function agreedIn(approval: LiveApproval, roster: RosterState, stage: number): readonly string[] {
  const counted = approval.votes.filter(
    (vote) => vote.decision === "approve" && vote.binding === approval.binding && (vote.stage ?? 1) === stage,
  );
  const theirs = counted.filter(({ by, at }) => isVoteStillTheirs(roster, by, at));
  return [...new Set(theirs.map((vote) => vote.by))].filter((person) =>
    isEligible(approval, roster, person, stage),
  );
}

/** Enough of them; under separation of duties somebody beside the one who edited it. */
function isStageMet(approval: LiveApproval, roster: RosterState, stage: number): boolean {
  const { quorum, separate } = ruleIn(approval, stage);
  const agreed = agreedIn(approval, roster, stage);
  if (!(agreed.length >= quorum)) return false;
  return !(separate === true && agreed.every((person) => person === approval.editor));
}

const countingStages = (approval: LiveApproval): readonly number[] =>
  stageRules(approval).flatMap((_, index) => (approval.handedOver.includes(index + 1) ? [] : [index + 1]));

/** Everybody behind the present binding, in every stage that counts. */
export function approvers(approval: LiveApproval, roster: RosterState): readonly string[] {
  return countingStages(approval).flatMap((stage) => agreedIn(approval, roster, stage));
}

/** Every stage that counts has its quorum. */
export function isMet(approval: LiveApproval, roster: RosterState): boolean {
  return countingStages(approval).every((stage) => isStageMet(approval, roster, stage));
}

/** How many people the stages that count ask for together. */
export function wanted(approval: LiveApproval): number {
  const rules = stageRules(approval);
  return countingStages(approval).reduce((sum, stage) => sum + (rules[stage - 1]?.quorum ?? Number.NaN), 0);
}

/** Moves on once enough people stand behind the present binding. */
export function concludeVotes(draft: Draft, id: string): void {
  const approval = getLiveApproval(draft, id);
  const roster = draft.state(ROSTER);
  const { stage, edited } = approval;
  if (!isStageMet(approval, roster, stage)) return;
  if (stage < stageRules(approval).length) {
    const by = agreedIn(approval, roster, stage);
    appendApprovalEvent(draft, id, "approval.stage_met", {
      stage,
      by,
      decideBy: nextDecideBy(approval, draft.now),
    });
  } else if (isMet(approval, roster)) {
    const by = approvers(approval, roster);
    appendApprovalEvent(draft, id, edited ? "approval.modified" : "approval.approved", { by });
  }
}

const hasVoted = ({ votes }: LiveApproval, who: string) => votes.some(({ by }) => by === who);
const isLeftOut = ({ requester, apart }: LiveApproval, who: string, rule: ApproverRule) =>
  excludedPeople(rule, requester, apart).includes(who);

/** A later stage could be met, and could not be any more once this person has decided here. */
export function isNeededLater(approval: LiveApproval, roster: RosterState, person: string): boolean {
  const later = stageRules(approval).slice(approval.stage);
  const isOut: SeatExclusion = (who, rule) =>
    hasVoted(approval, who) || isLeftOut(approval, who, rule) || isRemovedOrSuspended(roster, who);
  if (later.length === 0 || !canBeSeated(later, isOut, roster)) return false;
  return !canBeSeated(later, (who, rule) => who === person || isOut(who, rule), roster);
}

/** Later stages with everybody who may decide in them at the end. */
function laterAtWidest({ stages = [], stage }: LiveApproval): readonly ApproverRule[] {
  return stages.slice(stage).map((rule) => {
    const isWidened = rule.from !== null && rule.decideWithinMs !== null;
    return isWidened ? { ...rule, from: [...rule.from, ...(rule.escalateAtHalf ?? [])] } : rule;
  });
}

/** Everybody who may still agree in the present stage, now or from half time on; undefined where nobody is named. */
export function peopleLeft(approval: LiveApproval, roster: RosterState): readonly string[] | undefined {
  const { stage, widened, decideBy, votes } = approval;
  const widest = decideBy === null ? approval : { ...approval, widened: [...widened, stage] };
  const { from } = ruleIn(widest, stage);
  if (from === null) return undefined;
  const holders = delegationsIn(approval, stage).map(({ to }) => to);
  const isOut = (who: string) =>
    votes.some((vote) => vote.by === who && (vote.decision === "reject" || (vote.stage ?? 1) !== stage));
  return [...new Set([...peopleAmong(roster, from), ...holders])].filter(
    (who) => !isOut(who) && isEligible(widest, roster, who),
  );
}

/** Without a veto, a rejection ends it once too few of the people named are left, here or for a later stage. */
export function isHopeless(approval: LiveApproval, roster: RosterState): boolean {
  const { veto, quorum } = approval.approvers;
  if (veto) return true;
  const isOut: SeatExclusion = (who, rule) => hasVoted(approval, who) || isLeftOut(approval, who, rule);
  if (!canBeSeated(laterAtWidest(approval), isOut, roster)) return true;
  const left = peopleLeft(approval, roster);
  return left !== undefined && left.length < quorum;
}

/** Whether a rejection by this person, who may decide it, ends it. */
export function rejectionEnds(approval: LiveApproval, roster: RosterState, person: string): boolean {
  const { votes, binding, stage } = approval;
  const vote = { by: person, decision: "reject", note: null, via: "", binding, stage, at: 0 } as const;
  return isHopeless({ ...approval, votes: [...votes, vote] }, roster);
}
