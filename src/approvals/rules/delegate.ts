/**
 * Delegation of seats in a pending approval.
 *
 * - One seat, one vote: a person who has voted delegates nothing and gets no second seat.
 * - No seat goes to the requester, to people excluded by separation of duties, to a person who may not decide, in a
 *   circle, or over more than three people.
 * - No quorum that could have been met becomes unreachable by it, here or in a later stage.
 * - A seat returns only while no holder has decided with it. Seats delegated further then return too.
 */

import { isPerson } from "../../kernel/principal.ts";
import { ROSTER } from "../../kernel/stream.ts";
import type { Draft, Need } from "../../kernel/transaction.ts";
import { hasNoRoleToDecide, isRemovedOrSuspended } from "../../people/rules/roster.ts";
import type { RosterState } from "../../people/stream.ts";
import {
  type ApprovalStatus,
  type DecidedBy,
  haveDecided,
  type LiveApproval,
  ruleIn,
  type Seat,
} from "../state.ts";
import { type ActAnswer, actOn } from "./deadline.ts";
import {
  delegationsIn,
  getStageStanding,
  isEligible,
  isNeededLater,
  isSeated,
  MOST_STEPS,
  peopleLeft,
  stageField,
} from "./quorum.ts";
import { appendApprovalEvent, appendApprovalRefusal, getLiveApproval } from "./subject.ts";

type DelegateCommand = DecidedBy & {
  readonly approval: string;
  /** null: withdraws the delegation. */
  readonly to: string | null;
  readonly reason: string;
};
export type DelegateAnswer = ActAnswer<
  { readonly kind: "delegated" | "withdrawn" | "same"; readonly status: ApprovalStatus },
  "delegate_refused"
>;

const hasDecided = (approval: LiveApproval, who: string): boolean => haveDecided(approval).includes(who);

/** Number of delegations by which a seat reached this person. 0: in their own right. */
function stepsTo(handed: readonly Seat[], person: string): number {
  const rest = handed.filter(({ to }) => to !== person);
  const before = handed.filter(({ to }) => to === person);
  return before.length === 0 ? 0 : 1 + Math.max(...before.map(({ by }) => stepsTo(rest, by)));
}

/** All people to whom a person's seat was delegated further. */
function holdersAfter(handed: readonly Seat[], person: string): readonly string[] {
  const next = handed.find(({ by }) => by === person)?.to;
  if (next === undefined) return [];
  const rest = handed.filter(({ by }) => by !== person);
  return [next, ...holdersAfter(rest, next)];
}

type DelegationRequest = { readonly by: string; readonly to: string };

/** The people who are left could meet the stage now, but not after this delegation. */
function leavesTooFew(approval: LiveApproval, roster: RosterState, handing: DelegationRequest): boolean {
  const { delegations, approvers } = approval;
  const left = peopleLeft(approval, roster);
  if (left === undefined || left.length < approvers.quorum) return false;
  const handed = { ...handing, reason: "", via: "", at: 0, ...stageField(approval) };
  const after = peopleLeft({ ...approval, delegations: [...delegations, handed] }, roster) ?? [];
  return after.length < approvers.quorum;
}

/**
 * Why this person may not decide in the current stage even with a seat. undefined: they may. A holder must be able to
 * use the seat: a person in good standing who is not excluded. If the roster says who decides, the holder is one of
 * those, or is named by the rule itself.
 */
function whyNotADecider(approval: LiveApproval, roster: RosterState, to: string): string | undefined {
  if (!isPerson(to)) return `${to} may not decide this: only people decide`;
  if (roster.suspended.includes(to)) return `${to} may not decide this: they are suspended`;
  if (isRemovedOrSuspended(roster, to))
    return `${to} may not decide this: they are not in the list of people`;
  if (hasNoRoleToDecide(roster, to, ruleIn(approval, approval.stage).from))
    return `${to} may not decide this: they have no role that decides, such as supervisor`;
  return getStageStanding(approval, roster, approval.stage).isOut(to)
    ? `${to} may not decide this`
    : undefined;
}

/** Why this person cannot get the seat. */
function whyNot(approval: LiveApproval, roster: RosterState, handing: DelegationRequest): string | undefined {
  const { by, to } = handing;
  const handed = delegationsIn(approval, approval.stage);
  if (hasDecided(approval, by)) return `${by} has decided already`;
  if (to === by) return `${by} has it already`;
  if (holdersAfter(handed, to).includes(by)) return `it has come from ${to}, and would go in a circle`;
  const unfit = whyNotADecider(approval, roster, to);
  if (unfit !== undefined) return unfit;
  if (hasDecided(approval, to)) return `${to} has decided already, and each person decides once`;
  if (handed.some((one) => one.by === to)) return `${to} has handed their own seat over`;
  if (stepsTo(handed, by) >= MOST_STEPS) return `it has been handed on ${MOST_STEPS} times already`;
  if (isNeededLater(approval, roster, to)) return `${to} is needed in a later stage, and decides once`;
  return leavesTooFew(approval, roster, handing) ? "too few people would be left to decide" : undefined;
}

function refused(draft: Draft, command: DelegateCommand, reason: string, to: string): DelegateAnswer {
  const { approval: id, by, via } = command;
  const isRecorded = appendApprovalRefusal(draft, id, "approval.delegate_refused", { by, to, reason, via });
  return { kind: "delegate_refused", reason, status: "pending", isRecorded };
}

function hand(draft: Draft, approval: LiveApproval, command: DelegateCommand, to: string): DelegateAnswer {
  const roster = draft.state(ROSTER);
  const { approval: id, by, reason, via } = command;
  const { status } = approval;
  const now = handedBy(approval, by);
  if (now?.to === to) return { kind: "same", status };
  if (!isEligible(approval, roster, by)) {
    const why = now === undefined ? `${by} may not decide this` : `${by} has handed it to ${now.to} already`;
    return refused(draft, command, why, to);
  }
  const fault = whyNot(approval, roster, { by, to });
  if (fault !== undefined) return refused(draft, command, fault, to);
  appendApprovalEvent(draft, id, "approval.delegated", { by, to, reason, via, ...stageField(approval) });
  return { kind: "delegated", status };
}

const handedBy = (approval: LiveApproval, by: string): Seat | undefined =>
  delegationsIn(approval, approval.stage).find((one) => one.by === by);

/** The person who has decided with a seat that `by` delegated. */
const usedBy = (approval: LiveApproval, by: string): string | undefined =>
  holdersAfter(delegationsIn(approval, approval.stage), by).find((who) => hasDecided(approval, who));

/** Whether they have a seat now that could be delegated. To whom is checked separately. */
export const mayHandOver = (approval: LiveApproval, roster: RosterState, by: string): boolean =>
  approval.status === "pending" && isEligible(approval, roster, by) && !hasDecided(approval, by);

/** Whether the seat that they delegated could return now. */
export const maySitAgain = (approval: LiveApproval, by: string): boolean =>
  approval.status === "pending" && handedBy(approval, by) !== undefined && usedBy(approval, by) === undefined;

/** A seat delegated by a person who no longer has it. */
function findIdle(draft: Draft, approval: LiveApproval): Seat | undefined {
  const handed = delegationsIn(approval, approval.stage);
  const standing = getStageStanding(approval, draft.state(ROSTER), approval.stage);
  return handed.find(({ by }) => !isSeated(handed, by, { ...standing, isOut: () => false }));
}

function sitAgain(draft: Draft, approval: LiveApproval, command: DelegateCommand): DelegateAnswer {
  const { approval: id, by, reason, via } = command;
  const { status } = approval;
  const own = handedBy(approval, by);
  if (own === undefined) return { kind: "not_possible", status, reason: `${by} has handed nothing over` };
  const used = usedBy(approval, by);
  if (used !== undefined) return refused(draft, command, `${used} has decided with it already`, own.to);
  for (
    let seat: Seat | undefined = own;
    seat !== undefined;
    seat = findIdle(draft, getLiveApproval(draft, id))
  ) {
    const body = { by, of: seat.by, to: seat.to, reason, via, ...stageField(approval) };
    appendApprovalEvent(draft, id, "approval.delegation_withdrawn", body);
  }
  return { kind: "withdrawn", status };
}

function handOrSit(draft: Draft, approval: LiveApproval, command: DelegateCommand): DelegateAnswer {
  const { status } = approval;
  if (status !== "pending") return { kind: "not_possible", status, reason: `it is ${status} already` };
  return command.to === null
    ? sitAgain(draft, approval, command)
    : hand(draft, approval, command, command.to);
}

export function delegate(draft: Draft, command: DelegateCommand): Need | DelegateAnswer {
  return actOn(draft, command.approval, (approval) => handOrSit(draft, approval, command));
}
