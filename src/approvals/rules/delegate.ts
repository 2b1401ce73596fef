/**
 * An eligible person hands their seat in the present stage to another person, and may take it back.
 *
 * L1. One seat, one vote: whoever has voted hands nothing over, and nobody gets a second seat who has voted.
 * L2. Never to the requester, to whom separation of duties leaves out, to anybody who may not decide (`delegate-to.ts`), in a
 *     circle, or over more than three people.
 * L3. Nothing that people could have met becomes unmeetable by it, here or in a later stage.
 * L4. It comes back only while nobody has decided with it; what was handed on then comes back as well.
 */

import { hasNoRoleToDecide, isGone } from "../../core/deciders.ts";
import type { Draft, Need } from "../../core/draft.ts";
import { isPerson } from "../../core/principal.ts";
import { recordRefusal } from "../../core/record-refusal.ts";
import type { RosterState } from "../../core/roster.ts";
import { approvalStream, ROSTER } from "../../core/stream.ts";
import { type ApprovalStatus, type LiveApproval, ruleIn } from "../state.ts";
import { actOn } from "./end.ts";
import { isNeededLater, peopleLeft } from "./quorum.ts";
import {
  type Delegation,
  delegationsIn,
  haveDecided,
  holdersAfter,
  isEligible,
  isSeated,
  MOST_STEPS,
  originsOf,
  standingIn,
  stepsTo,
} from "./seats.ts";
import { stageField } from "./time.ts";

export type DelegateCommand = {
  readonly approval: string;
  readonly by: string;
  /** null: the seat is taken back. */
  readonly to: string | null;
  readonly reason: string;
  readonly via: string;
};

export type DelegateAnswer =
  | { readonly kind: "delegated" | "withdrawn" | "same"; readonly status: ApprovalStatus }
  | {
      readonly kind: "delegate_refused";
      readonly reason: string;
      readonly status: ApprovalStatus;
      readonly isRecorded: boolean;
    }
  | { readonly kind: "not_possible"; readonly reason: string; readonly status: ApprovalStatus }
  | { readonly kind: "unknown" };

const hasDecided = (approval: LiveApproval, who: string): boolean => haveDecided(approval).includes(who);

/** The stage could be met by the people who are left, and could not be any more. */
function leavesTooFew(approval: LiveApproval, roster: RosterState, { by, to }: Handing): boolean {
  const { stage, delegations, approvers } = approval;
  const left = peopleLeft(approval, roster);
  if (left === undefined || left.length < approvers.quorum) return false;
  const handed = { by, to, reason: "", via: "", at: 0, ...stageField(approval) };
  const after = peopleLeft({ ...approval, stage, delegations: [...delegations, handed] }, roster) ?? [];
  return after.length < approvers.quorum;
}

type Handing = { readonly by: string; readonly to: string };

/** What keeps this person from having the seat. */
function whyNotTo(approval: LiveApproval, roster: RosterState, handing: Handing): string | undefined {
  const { by, to } = handing;
  const handed = delegationsIn(approval, approval.stage);
  if (to === by) return `${by} has it already`;
  if (originsOf(handed, by).includes(to)) return `it has come from ${to}, and would go in a circle`;
  const unfit = whyNotADecider(approval, roster, to);
  if (unfit !== undefined) return unfit;
  if (hasDecided(approval, to)) return `${to} has decided already, and each person decides once`;
  if (handed.some((one) => one.by === to)) return `${to} has handed their own seat over`;
  if (stepsTo(handed, by) >= MOST_STEPS) return `it has been handed on ${MOST_STEPS} times already`;
  if (isNeededLater(approval, roster, to)) return `${to} is needed in a later stage, and decides once`;
  return leavesTooFew(approval, roster, handing) ? "too few people would be left to decide" : undefined;
}

function whyNot(approval: LiveApproval, roster: RosterState, handing: Handing): string | undefined {
  if (hasDecided(approval, handing.by)) return `${handing.by} has decided already`;
  return whyNotTo(approval, roster, handing);
}

function refused(draft: Draft, command: DelegateCommand, reason: string, to: string): DelegateAnswer {
  const { by, via } = command;
  const body = { by, to, reason, via };
  const ref = approvalStream(command.approval);
  const event = { type: "approval.delegate_refused", tv: 1, body };
  const isRecorded = recordRefusal(draft, ref, draft.state(ref) as LiveApproval, event);
  return { kind: "delegate_refused", reason, status: "pending", isRecorded };
}

function hand(draft: Draft, approval: LiveApproval, command: DelegateCommand, to: string): DelegateAnswer {
  const roster = draft.state(ROSTER);
  const { by, reason, via } = command;
  const now = delegationsIn(approval, approval.stage).find((one) => one.by === by);
  if (now?.to === to) return { kind: "same", status: approval.status };
  if (!isEligible(approval, roster, by)) {
    const why = now === undefined ? `${by} may not decide this` : `${by} has handed it to ${now.to} already`;
    return refused(draft, command, why, to);
  }
  const fault = whyNot(approval, roster, { by, to });
  if (fault !== undefined) return refused(draft, command, fault, to);
  const body = { by, to, reason, via, ...stageField(approval) };
  draft.append(approvalStream(command.approval), [{ type: "approval.delegated", tv: 1, body }]);
  return { kind: "delegated", status: approval.status };
}

/** Whoever handed on what they do not have any more. */
function takeBackRest(draft: Draft, command: DelegateCommand): void {
  const ref = approvalStream(command.approval);
  for (;;) {
    const approval = draft.state(ref) as LiveApproval;
    const handed = delegationsIn(approval, approval.stage);
    const standing = standingIn(approval, draft.state(ROSTER), approval.stage);
    const idle = handed.find(({ by }) => !isSeated(handed, by, { ...standing, isOut: () => false }));
    if (idle === undefined) return;
    const { by, reason, via } = command;
    const body = { by, of: idle.by, to: idle.to, reason, via, ...stageField(approval) };
    draft.append(ref, [{ type: "approval.delegation_withdrawn", tv: 1, body }]);
  }
}

const ownIn = (handed: readonly Delegation[], by: string) => handed.find((one) => one.by === by);

/** Who has decided with the seat that somebody handed over. */
const usedBy = (approval: LiveApproval, handed: readonly Delegation[], by: string): string | undefined =>
  holdersAfter(handed, by).find((who) => hasDecided(approval, who));

/** Whether they have a seat now that could be handed to somebody; to whom is another question. */
export const mayHandOver = (approval: LiveApproval, roster: RosterState, by: string): boolean =>
  approval.status === "pending" && isEligible(approval, roster, by) && !hasDecided(approval, by);

/** Whether the seat that they handed over could come back now. */
export function maySitAgain(approval: LiveApproval, by: string): boolean {
  const handed = delegationsIn(approval, approval.stage);
  const isHanded = approval.status === "pending" && ownIn(handed, by) !== undefined;
  return isHanded && usedBy(approval, handed, by) === undefined;
}

function takeBack(draft: Draft, approval: LiveApproval, command: DelegateCommand): DelegateAnswer {
  const { by, reason, via } = command;
  const { status, stage } = approval;
  const handed = delegationsIn(approval, stage);
  const own = ownIn(handed, by);
  if (own === undefined) return { kind: "not_possible", status, reason: `${by} has handed nothing over` };
  const used = usedBy(approval, handed, by);
  if (used !== undefined) return refused(draft, command, `${used} has decided with it already`, own.to);
  const body = { by, of: by, to: own.to, reason, via, ...stageField(approval) };
  draft.append(approvalStream(command.approval), [{ type: "approval.delegation_withdrawn", tv: 1, body }]);
  takeBackRest(draft, command);
  return { kind: "withdrawn", status };
}

function decide(draft: Draft, approval: LiveApproval, command: DelegateCommand): DelegateAnswer {
  const { status } = approval;
  if (status !== "pending") return { kind: "not_possible", status, reason: `it is ${status} already` };
  return command.to === null
    ? takeBack(draft, approval, command)
    : hand(draft, approval, command, command.to);
}

export function delegate(draft: Draft, command: DelegateCommand): Need | DelegateAnswer {
  return actOn(draft, command.approval, (approval) => decide(draft, approval, command));
}

/**
 * Whom a seat may be handed to.
 *
 * T1. Only to somebody who may decide: a person in good standing who is not left out, and, where the list of people says who
 *     is there to decide, one of those or one whom the rule itself names. Otherwise nobody could use the seat.
 */

/** Why this one may not decide in the present stage, whoever hands them what; undefined when they may. */
export function whyNotADecider(approval: LiveApproval, roster: RosterState, to: string): string | undefined {
  if (!isPerson(to)) return `${to} may not decide this: only people decide`;
  if (roster.suspended.includes(to)) return `${to} may not decide this: they are suspended`;
  if (isGone(roster, to)) return `${to} may not decide this: they are not in the list of people`;
  if (hasNoRoleToDecide(roster, to, ruleIn(approval, approval.stage).from))
    return `${to} may not decide this: they have no role that decides, such as supervisor`;
  return standingIn(approval, roster, approval.stage).isOut(to) ? `${to} may not decide this` : undefined;
}
