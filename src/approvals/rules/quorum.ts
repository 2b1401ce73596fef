/**
 * What the votes amount to.
 *
 * C1. A stage whose quorum is met gives way to the next; the last one approves, while every stage still has its quorum.
 * C2. Nobody's vote in one stage may leave a later one without the people it needs.
 */
import { isGone, isWordOf } from "../../core/deciders.ts";
import type { Draft } from "../../core/draft.ts";
import { peopleAmong, type RosterState } from "../../core/roster.ts";
import { canBeSeated, type Without } from "../../core/stages.ts";
import { approvalStream, ROSTER } from "../../core/stream.ts";
import { type ApproverRule, leftOut } from "../../core/verdict.ts";
import { type LiveApproval, ruleIn, stageRules } from "../state.ts";
import { delegationsIn, isEligible } from "./seats.ts";
import { nextDecideBy } from "./time.ts";

/** Moves on once enough people stand behind the present binding. */
export function concludeVotes(draft: Draft, id: string): void {
  const ref = approvalStream(id);
  const approval = draft.state(ref) as LiveApproval;
  const roster = draft.state(ROSTER);
  const { stage, edited } = approval;
  if (!isStageMet(approval, roster, stage)) return;
  if (stage < stageRules(approval).length) {
    const body = {
      stage,
      by: [...agreedIn(approval, roster, stage)],
      decideBy: nextDecideBy(approval, draft.now),
    };
    draft.append(ref, [{ type: "approval.stage_met", tv: 1, body }]);
  } else if (isMet(approval, roster)) {
    const body = { by: [...approvers(approval, roster)] };
    draft.append(ref, [{ type: edited ? "approval.modified" : "approval.approved", tv: 1, body }]);
  }
}

const laterStages = (approval: LiveApproval) => stageRules(approval).slice(approval.stage);
const hasVoted = ({ votes }: LiveApproval, who: string) => votes.some(({ by }) => by === who);
const isLeftOut = ({ requester, apart }: LiveApproval, who: string, rule: ApproverRule) =>
  leftOut(rule, requester, apart).includes(who);

/** A later stage could be met, and could not be any more once this person has decided here. */
export function isNeededLater(approval: LiveApproval, roster: RosterState, person: string): boolean {
  const later = laterStages(approval);
  const isOut: Without = (who, rule) =>
    hasVoted(approval, who) || isLeftOut(approval, who, rule) || isGone(roster, who);
  if (later.length === 0 || !canBeSeated(later, isOut, roster)) return false;
  return !canBeSeated(later, (who, rule) => who === person || isOut(who, rule), roster);
}

/** Later stages with whoever may decide in them at the end. */
function laterAtWidest({ stages = [], stage }: LiveApproval): readonly ApproverRule[] {
  return stages.slice(stage).map((rule) => {
    const isWidened = rule.from !== null && rule.decideWithinMs !== null;
    return isWidened ? { ...rule, from: [...rule.from, ...(rule.escalateAtHalf ?? [])] } : rule;
  });
}

/** Everybody who may still agree in the present stage, now or from half time on; undefined where nobody is named. */
export function peopleLeft(approval: LiveApproval, roster: RosterState): readonly string[] | undefined {
  const { stage, widened, decideBy } = approval;
  const widest = decideBy === null ? approval : { ...approval, widened: [...widened, stage] };
  const { from } = ruleIn(widest, stage);
  if (from === null) return undefined;
  const known = delegationsIn(approval, stage).map(({ to }) => to);
  const isOut = (who: string) =>
    approval.votes.some(
      (vote) => vote.by === who && (vote.decision === "reject" || (vote.stage ?? 1) !== stage),
    );
  return [...new Set([...peopleAmong(roster, from), ...known])].filter(
    (who) => !isOut(who) && isEligible(widest, roster, who),
  );
}

/** Without a veto, a rejection ends it once too few of the people named are left, here or for a later stage. */
export function isHopeless(approval: LiveApproval, roster: RosterState): boolean {
  const { veto, quorum } = approval.approvers;
  if (veto) return true;
  const isGone: Without = (who, rule) => hasVoted(approval, who) || isLeftOut(approval, who, rule);
  if (!canBeSeated(laterAtWidest(approval), isGone, roster)) return true;
  const left = peopleLeft(approval, roster);
  return left !== undefined && left.length < quorum;
}

/** Whether it is over once this person, who may decide it, has rejected it. */
export function rejectionEnds(approval: LiveApproval, roster: RosterState, person: string): boolean {
  const { votes, binding, stage } = approval;
  const vote = { by: person, decision: "reject", note: null, via: "", binding, stage, at: 0 } as const;
  return isHopeless({ ...approval, votes: [...votes, vote] }, roster);
}

/** Whose votes count, and for which stage. */

/** People whose approving votes in a stage count for the present binding: distinct, eligible, in good standing. */
export function agreedIn(approval: LiveApproval, roster: RosterState, stage: number): readonly string[] {
  const counted = approval.votes.filter(
    (vote) => vote.decision === "approve" && vote.binding === approval.binding && (vote.stage ?? 1) === stage,
  );
  const theirs = counted.filter(({ by, at }) => isWordOf(roster, by, at));
  return [...new Set(theirs.map((vote) => vote.by))].filter((person) =>
    isEligible(approval, roster, person, stage),
  );
}

/** Enough of them; under separation of duties somebody beside the one who edited it. */
export function isStageMet(approval: LiveApproval, roster: RosterState, stage: number): boolean {
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
