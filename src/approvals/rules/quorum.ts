/**
 * Who may decide an approval in one of its stages, and what their votes amount to.
 *
 * - It follows from the rule, the current roster and the delegated seats.
 * - There is one definition, for the approval itself and for its list row.
 * - A person who delegated their seat may not decide meanwhile; its holder may. Never both.
 * - A seat depends on its first holder. It is lost when they, or a person it went through, may no longer decide.
 * - A stage whose quorum is met is followed by the next. The last one approves while every stage still has its quorum.
 * - No vote in one stage may leave a later one without the people it needs.
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

/** Maximum number of delegations from the first holder to the last. */
export const MOST_STEPS = 3;

/** A person's standing in a stage, before delegation. */
type StageStanding = {
  /** Excluded, even with a seat. */
  readonly isOut: (person: string) => boolean;
  /** In their own right. */
  readonly isNamed: (person: string) => boolean;
};

/** Recorded only if there are several stages. */
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

/** Has a seat, or would have one without having delegated it. */
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

/** Whether a person may decide in a stage. Default: the current stage. */
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

/** People whose approvals in a stage count for the current binding: distinct, eligible, in good standing. */
function agreedIn(approval: LiveApproval, roster: RosterState, stage: number): readonly string[] {
  const counted = approval.votes.filter(
    (vote) => vote.decision === "approve" && vote.binding === approval.binding && (vote.stage ?? 1) === stage,
  );
  const theirs = counted.filter(({ by, at }) => isVoteStillTheirs(roster, by, at));
  return [...new Set(theirs.map((vote) => vote.by))].filter((person) =>
    isEligible(approval, roster, person, stage),
  );
}

/** Enough approvals; under separation of duties, at least one by a person other than the editor. */
function isStageMet(approval: LiveApproval, roster: RosterState, stage: number): boolean {
  const { quorum, separate } = ruleIn(approval, stage);
  const agreed = agreedIn(approval, roster, stage);
  if (!(agreed.length >= quorum)) return false;
  return !(separate === true && agreed.every((person) => person === approval.editor));
}

const countingStages = (approval: LiveApproval): readonly number[] =>
  stageRules(approval).flatMap((_, index) => (approval.handedOver.includes(index + 1) ? [] : [index + 1]));

/** All people who approved the current binding, in every stage that counts. */
export function approvers(approval: LiveApproval, roster: RosterState): readonly string[] {
  return countingStages(approval).flatMap((stage) => agreedIn(approval, roster, stage));
}

/** Every stage that counts has its quorum. */
export function isMet(approval: LiveApproval, roster: RosterState): boolean {
  return countingStages(approval).every((stage) => isStageMet(approval, roster, stage));
}

/** Sum of the quorums of the stages that count. */
export function wanted(approval: LiveApproval): number {
  const rules = stageRules(approval);
  return countingStages(approval).reduce((sum, stage) => sum + (rules[stage - 1]?.quorum ?? Number.NaN), 0);
}

/** Moves on once enough people have approved the current binding. */
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

/** A later stage could be met now, but not once this person has decided here. */
export function isNeededLater(approval: LiveApproval, roster: RosterState, person: string): boolean {
  const later = stageRules(approval).slice(approval.stage);
  const isOut: SeatExclusion = (who, rule) =>
    hasVoted(approval, who) || isLeftOut(approval, who, rule) || isRemovedOrSuspended(roster, who);
  if (later.length === 0 || !canBeSeated(later, isOut, roster)) return false;
  return !canBeSeated(later, (who, rule) => who === person || isOut(who, rule), roster);
}

/** Later stages with all people who may eventually decide in them. */
function laterAtWidest({ stages = [], stage }: LiveApproval): readonly ApproverRule[] {
  return stages.slice(stage).map((rule) => {
    const isWidened = rule.from !== null && rule.decideWithinMs !== null;
    return isWidened ? { ...rule, from: [...rule.from, ...(rule.escalateAtHalf ?? [])] } : rule;
  });
}

/** People who may still approve in the current stage, now or from half time on. undefined: the rule names none. */
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

/** Without a veto, a rejection ends it once too few of the named people are left, here or for a later stage. */
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
