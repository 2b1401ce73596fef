/**
 * What participants do with a pending approval other than deciding: comment, extend its deadline, and delegate seats.
 *
 * - A comment decides nothing: it changes no vote, binding or deadline.
 * - It comes from a person who may decide in one of the stages, or from the requesting agent. Any other author is
 *   refused, and the refusal is recorded.
 * - Comments are limited per principal, so that the requester cannot crowd out people, and in total.
 * - Only a person who may decide now can extend: never the requester, and no person of another stage.
 * - The new deadline is a timestamp, not a duration: sending it twice extends once.
 * - No deadline is later than `LONGEST_MS`, however often it is moved: dates have a maximum.
 * - An extension does not change the binding, which holds the original terms. The journal records the extension.
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
import { LONGEST_MS } from "../../policy/rules/stages.ts";
import {
  type ApprovalStatus,
  type CommentBody,
  type DecidedBy,
  haveDecided,
  type LiveApproval,
  ruleIn,
  type Seat,
} from "../state.ts";
import { actOn } from "./deadline.ts";
import {
  delegationsIn,
  eligibleStages,
  getStageStanding,
  isEligible,
  isNeededLater,
  isSeated,
  MOST_STEPS,
  peopleLeft,
  stageField,
} from "./quorum.ts";
import { appendApprovalEvent, appendApprovalRefusal, getLiveApproval } from "./subject.ts";

type NotPossible = {
  readonly kind: "not_possible";
  readonly reason: string;
  readonly status: ApprovalStatus;
};
type Unknown = { readonly kind: "unknown" };
type Refused<Kind extends string> = {
  readonly kind: Kind;
  readonly reason: string;
  readonly status: ApprovalStatus;
  readonly isRecorded: boolean;
};

export const MOST_COMMENTS = { each: 50, all: 100 } as const;

type CommentCommand = CommentBody & { readonly approval: string };
export type CommentAnswer =
  | { readonly kind: "commented"; readonly status: ApprovalStatus }
  | Refused<"comment_refused">
  | NotPossible
  | Unknown;

const takesPart = (approval: LiveApproval, roster: RosterState, by: string): boolean =>
  by === approval.agent || eligibleStages(approval, roster, by).length > 0;

/** Why this principal cannot add a comment. */
function whyFull({ comments }: LiveApproval, by: string): string | undefined {
  const { each, all } = MOST_COMMENTS;
  if (comments.length >= all) return `it has ${all} comments, and takes no more`;
  const own = comments.filter((one) => one.by === by).length;
  return own >= each ? `${by} has written ${each} comments, and each writes no more` : undefined;
}

/** Whether they could comment now. */
export const mayComment = (approval: LiveApproval, roster: RosterState, by: string): boolean =>
  approval.status === "pending" && takesPart(approval, roster, by) && whyFull(approval, by) === undefined;

function add(draft: Draft, approval: LiveApproval, command: CommentCommand): CommentAnswer {
  const { status } = approval;
  const { approval: id, ...remark } = command;
  const { by, via } = remark;
  if (status !== "pending") return { kind: "not_possible", status, reason: `it is ${status} already` };
  if (!takesPart(approval, draft.state(ROSTER), by)) {
    const reason = `${by} neither asks nor may decide this`;
    const isRecorded = appendApprovalRefusal(draft, id, "approval.comment_refused", { by, reason, via });
    return { kind: "comment_refused", reason, status, isRecorded };
  }
  const full = whyFull(approval, by);
  if (full !== undefined) return { kind: "not_possible", status, reason: full };
  appendApprovalEvent(draft, id, "approval.commented", remark);
  return { kind: "commented", status };
}

export function comment(draft: Draft, command: CommentCommand): Need | CommentAnswer {
  return actOn(draft, command.approval, (approval) => add(draft, approval, command));
}

type ExtendCommand = DecidedBy & {
  readonly approval: string;
  readonly until: number;
  /** The deadline that the person saw. null: the current one. */
  readonly seen: number | null;
};
export type ExtendAnswer =
  | { readonly kind: "extended" | "same"; readonly decideBy: number }
  | Omit<Refused<"extend_refused">, "status">
  | NotPossible
  | Unknown;

/** Whether they could extend it now. */
export const mayExtend = (approval: LiveApproval, roster: RosterState, by: string): boolean =>
  approval.status === "pending" && approval.decideBy !== null && isEligible(approval, roster, by);

type FromTo = { readonly from: number; readonly decideBy: number };

/** From which deadline to which, or why it cannot be moved. */
function moveDeadline({ status, decideBy: from }: LiveApproval, command: ExtendCommand): FromTo | string {
  const { seen, until } = command;
  if (status !== "pending") return `it is ${status} already`;
  if (from === null) return "it has no deadline";
  if (seen !== null && seen !== from) return "its deadline is another one by now";
  if (until <= from) return "it has that much time already";
  if (until > LONGEST_MS) return `no deadline is later than ${new Date(LONGEST_MS).toISOString()}`;
  return { from, decideBy: until };
}

function extendNow(draft: Draft, approval: LiveApproval, command: ExtendCommand): ExtendAnswer {
  const { approval: id, by, until, via } = command;
  const { extensions, decideBy, status } = approval;
  if (extensions.at(-1)?.by === by && decideBy === until) return { kind: "same", decideBy: until };
  if (!isEligible(approval, draft.state(ROSTER), by)) {
    const reason = `${by} may not decide this`;
    const isRecorded = appendApprovalRefusal(draft, id, "approval.extend_refused", { by, reason, via });
    return { kind: "extend_refused", reason, isRecorded };
  }
  const moved = moveDeadline(approval, command);
  if (typeof moved === "string") return { kind: "not_possible", status, reason: moved };
  appendApprovalEvent(draft, id, "approval.extended", { by, ...moved, via, ...stageField(approval) });
  return { kind: "extended", decideBy: until };
}

export function extend(draft: Draft, command: ExtendCommand): Need | ExtendAnswer {
  return actOn(draft, command.approval, (approval) => extendNow(draft, approval, command));
}

type DelegateCommand = DecidedBy & {
  readonly approval: string;
  /** null: withdraws the delegation. */
  readonly to: string | null;
  readonly reason: string;
};
export type DelegateAnswer =
  | { readonly kind: "delegated" | "withdrawn" | "same"; readonly status: ApprovalStatus }
  | Refused<"delegate_refused">
  | NotPossible
  | Unknown;

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
    const { by: of, to } = seat;
    appendApprovalEvent(draft, id, "approval.delegation_withdrawn", {
      by,
      of,
      to,
      reason,
      via,
      ...stageField(approval),
    });
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
