/**
 * What the votes amount to.
 *
 * C1. A stage whose quorum is met gives way to the next; the last one approves, while every stage still has its quorum.
 * C2. Nobody's vote in one stage may leave a later one without the people it needs.
 */
import type { Draft } from "../draft.ts";
import type { RosterState } from "../roster.ts";
import { canBeSeated } from "../stages.ts";
import { approvalStream, ROSTER } from "../stream.ts";
import { nextDecideBy } from "./deadline.ts";
import { agreedIn, approvers, isEligible, isMet, type LiveApproval, stageRules } from "./state.ts";

/** Moves on once enough people stand behind the present binding. */
export function concludeVotes(draft: Draft, id: string): void {
  const ref = approvalStream(id);
  const approval = draft.state(ref) as LiveApproval;
  const roster = draft.state(ROSTER);
  const { stage, edited } = approval;
  const agreed = agreedIn(approval, roster, stage);
  if (!(agreed.length >= approval.approvers.quorum)) return;
  if (stage < stageRules(approval).length) {
    const body = { stage, by: [...agreed], decideBy: nextDecideBy(approval, draft.now) };
    draft.append(ref, [{ type: "approval.stage_met", tv: 1, body }]);
  } else if (isMet(approval, roster)) {
    const body = { by: [...approvers(approval, roster)] };
    draft.append(ref, [{ type: edited ? "approval.modified" : "approval.approved", tv: 1, body }]);
  }
}

const laterStages = (approval: LiveApproval) => stageRules(approval).slice(approval.stage);
const hasVoted = ({ votes }: LiveApproval, who: string) => votes.some(({ by }) => by === who);

/** A later stage could be met, and could not be any more once this person has decided here. */
export function isNeededLater(approval: LiveApproval, roster: RosterState, person: string): boolean {
  const later = laterStages(approval);
  const isOut = (who: string) =>
    hasVoted(approval, who) || approval.requester.includes(who) || roster.suspended.includes(who);
  if (later.length === 0 || !canBeSeated(later, isOut)) return false;
  return !canBeSeated(later, (who) => who === person || isOut(who));
}

/** Without a veto, a rejection ends it once too few of the people named are left, here or for a later stage. */
export function isHopeless(approval: LiveApproval, roster: RosterState): boolean {
  const { veto, from, quorum } = approval.approvers;
  if (veto) return true;
  const isGone = (who: string) => hasVoted(approval, who) || approval.requester.includes(who);
  if (!canBeSeated(laterStages(approval), isGone)) return true;
  if (from === null) return false;
  const isOut = (who: string) =>
    approval.votes.some(
      (vote) => vote.by === who && (vote.decision === "reject" || (vote.stage ?? 1) !== approval.stage),
    );
  const left = from.filter((who) => !isOut(who) && isEligible(approval, roster, who));
  return new Set(left).size < quorum;
}
