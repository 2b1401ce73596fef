/**
 * Who may decide an approval in one of its stages.
 *
 * E1. It follows from the rule, the roster of that moment and the seats that were handed over.
 * E2. There is one definition, for the approval itself and for a list's row of it.
 */
import { isExcluded, isNamedIn } from "../../core/deciders.ts";
import type { RosterState } from "../../core/roster.ts";
import { leftOut, type RiskLevel } from "../../core/verdict.ts";
import { type ApprovalQuestion, type LiveApproval, ruleIn } from "../state.ts";

type Handed = Pick<Delegation, "by" | "to" | "stage">;

/** As much of an approval as it takes to say who may decide it. */
export type Seated = Pick<ApprovalQuestion, "requester" | "apart" | "stages"> & {
  readonly asked: Pick<ApprovalQuestion, "approvers">;
  readonly stage: number;
  readonly widened: readonly number[];
  readonly delegations: readonly Handed[];
};

export const delegationsIn = <One extends Handed>(
  { delegations }: { readonly delegations: readonly One[] },
  stage: number,
): readonly One[] => delegations.filter((one) => (one.stage ?? 1) === stage);

/** What a person is in a stage, before seats are handed over. */
export function standingIn(approval: Seated, roster: RosterState, stage: number): Standing {
  const rule = ruleIn(approval, stage);
  const out = leftOut(rule, approval.requester, approval.apart);
  return {
    isOut: (who) => !who.startsWith("person:") || isExcluded(roster, who, { from: rule.from, out }),
    isNamed: (who) => isNamedIn(roster, who, rule.from),
  };
}

/** May decide in the present stage, or in another one. */
export function isEligible(
  approval: Seated,
  roster: RosterState,
  person: string,
  stage: number = approval.stage,
): boolean {
  return mayTakePart(delegationsIn(approval, stage), person, standingIn(approval, roster, stage));
}

/**
 * Seats of a stage that were handed over from one person to another.
 *
 * H1. Whoever handed their seat over may not decide while it is handed over; whoever has it may. Never both.
 * H2. A seat is worth what its first holder is: it is gone when they, or anybody it went through, may not decide any more.
 */
export type Delegation = {
  readonly by: string;
  readonly to: string;
  readonly reason: string;
  readonly via: string;
  /** From 1 on; only where there are several stages. */
  readonly stage?: number;
  readonly at: number;
};

/** From the first holder to the last there are at most that many steps. */
export const MOST_STEPS = 3;

type Pair = Pick<Delegation, "by" | "to">;
export type Standing = {
  /** Never, whoever hands over what. */
  readonly isOut: (person: string) => boolean;
  /** In their own right. */
  readonly isNamed: (person: string) => boolean;
};

/** Whom the seats of a person went through, the nearest first; a person is met once. */
export function originsOf(handed: readonly Pair[], person: string): readonly string[] {
  const met: string[] = [];
  let next = [person];
  while (next.length > 0) {
    next = handed
      .filter(({ to, by }) => next.includes(to) && by !== person && !met.includes(by))
      .map(({ by }) => by);
    met.push(...new Set(next));
  }
  return met;
}

/** Has a seat, or would have if they had not handed it on. */
export function isSeated(
  handed: readonly Pair[],
  person: string,
  standing: Standing,
  steps = MOST_STEPS,
): boolean {
  if (standing.isOut(person)) return false;
  if (standing.isNamed(person)) return true;
  if (steps === 0) return false;
  return handed.some(({ by, to }) => to === person && isSeated(handed, by, standing, steps - 1));
}

export function mayTakePart(handed: readonly Pair[], person: string, standing: Standing): boolean {
  return !handed.some(({ by }) => by === person) && isSeated(handed, person, standing);
}

/** How many steps a seat has gone to come to this person: 0 in their own right. */
export function stepsTo(handed: readonly Pair[], person: string): number {
  const rest = handed.filter(({ to }) => to !== person);
  const before = handed.filter(({ to }) => to === person);
  return before.length === 0 ? 0 : 1 + Math.max(...before.map(({ by }) => stepsTo(rest, by)));
}

/** Everybody a person's seat went on to. */
export function holdersAfter(handed: readonly Pair[], person: string): readonly string[] {
  const next = handed.find(({ by }) => by === person)?.to;
  if (next === undefined) return [];
  const rest = handed.filter(({ by }) => by !== person);
  return [next, ...holdersAfter(rest, next)];
}

/**
 * What a list has to know of an approval to say whom it waits for and how much is at stake, without reading its stream.
 *
 * I1. Who may decide is said by one rule, whether it is asked of an approval or of a list's row (`isEligible`).
 * I2. An approval waits for whoever may decide it in the present stage and has not: by a vote, or by an edit under review.
 */

/** Everybody who has decided; each person does so once. */
export const haveDecided = ({ votes, edit }: Pick<LiveApproval, "votes" | "edit">): readonly string[] => [
  ...votes.map(({ by }) => by),
  ...(edit === null ? [] : [edit.by]),
];

export type Waiting = Seated & { readonly decided: readonly string[] };

export type Listed = {
  /** In which it is asked; absent where the approval is from before it was recorded. */
  readonly workflow?: string | null;
  readonly effectClass: string;
  readonly risk: RiskLevel | null;
  readonly decidedAt: number | null;
  /** Null once nobody is asked any more. */
  readonly waiting: Waiting | null;
};

function waitingOf(approval: LiveApproval): Waiting | null {
  if (approval.status !== "pending") return null;
  const { requester, apart, stages, stage, widened, asked, delegations } = approval;
  return {
    requester,
    ...(apart === undefined ? {} : { apart }),
    ...(stages === undefined ? {} : { stages }),
    stage,
    widened,
    asked: { approvers: asked.approvers },
    delegations: delegations.map(({ by, to, stage: of }) => ({
      by,
      to,
      ...(of === undefined ? {} : { stage: of }),
    })),
    decided: haveDecided(approval),
  };
}

function workflowOf({ subject, workflow }: LiveApproval): Pick<Listed, "workflow"> {
  if (subject === undefined) return workflow === undefined ? {} : { workflow };
  return { workflow: subject.kind === "intent" ? null : subject.workflow };
}

export const listedOf = (approval: LiveApproval): Listed => ({
  ...workflowOf(approval),
  effectClass: approval.effectClass,
  risk: approval.risk ?? null,
  decidedAt: approval.decided?.at ?? null,
  waiting: waitingOf(approval),
});

/** They may decide it now, and have not. */
export function waitsFor(waiting: Waiting | null, roster: RosterState, person: string): boolean {
  if (waiting === null || waiting.decided.includes(person)) return false;
  return isEligible(waiting, roster, person);
}
