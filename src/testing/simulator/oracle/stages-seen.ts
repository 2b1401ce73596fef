/** The stages of an approval as the oracle counts them, from raw events and on its own. */
import type { ApprovalQuestion } from "../../../approvals/state.ts";
import type { SeenApproval, SeenTenant } from "./seen.ts";

export type SeenRule = {
  readonly quorum: number;
  readonly from: readonly string[] | null;
  readonly veto: boolean;
  readonly escalateAtHalf?: readonly string[];
};

export const rulesOf = ({ stages, approvers }: ApprovalQuestion): readonly SeenRule[] =>
  stages ?? [approvers];

export const ruleNow = ({ question, stage }: SeenApproval): SeenRule =>
  rulesOf(question)[stage - 1] ?? question.approvers;

export function lengthOf({ question, begunAt }: SeenApproval, stage: number): number | null {
  const { stages, decideBy } = question;
  if (stages !== undefined) return stages[stage - 1]?.decideWithinMs ?? null;
  return decideBy === null ? null : decideBy - begunAt;
}

const isMeant = ({ places }: SeenTenant, person: string, names: readonly string[]): boolean =>
  names.includes(person) || (places.get(person) ?? []).some((place) => names.includes(place));

/** Never, whoever hands over what. */
export function isBarred({ question }: SeenApproval, seen: SeenTenant, person: string): boolean {
  return !person.startsWith("person:") || question.requester.includes(person) || seen.suspended.has(person);
}

/** In their own right, or in the place of somebody who could; and not handed on. */
export function mayDecide(
  approval: SeenApproval,
  seen: SeenTenant,
  person: string,
  stage = approval.stage,
): boolean {
  const { from, escalateAtHalf = [] } = rulesOf(approval.question)[stage - 1] ?? approval.question.approvers;
  const names = from === null ? null : [...from, ...(approval.widened.has(stage) ? escalateAtHalf : [])];
  const hands = approval.hands.filter((one) => one.stage === stage);
  const isSeated = (who: string): boolean =>
    !isBarred(approval, seen, who) &&
    (names === null || isMeant(seen, who, names) || hands.some(({ by, to }) => to === who && isSeated(by)));
  return !hands.some(({ by }) => by === person) && isSeated(person);
}

/** Distinct eligible people who approved, in that stage, exactly what the binding says. */
export function standingIn(approval: SeenApproval, seen: SeenTenant, stage: number): ReadonlySet<string> {
  const { binding } = approval.question;
  const people = new Set<string>();
  for (const vote of approval.votes) {
    const counts = vote.decision === "approve" && vote.binding === binding && vote.cast === stage;
    if (counts && mayDecide(approval, seen, vote.by, stage)) people.add(vote.by);
  }
  return people;
}

const counting = (approval: SeenApproval): readonly number[] =>
  rulesOf(approval.question)
    .map((_, index) => index + 1)
    .filter((stage) => !approval.handedOver.has(stage));

export function standing(approval: SeenApproval, seen: SeenTenant): ReadonlySet<string> {
  return new Set(counting(approval).flatMap((stage) => [...standingIn(approval, seen, stage)]));
}

/** The first stage that counts and lacks people. */
export function lacking(approval: SeenApproval, seen: SeenTenant): number | undefined {
  const rules = rulesOf(approval.question);
  return counting(approval).find(
    (stage) =>
      standingIn(approval, seen, stage).size < (rules[stage - 1]?.quorum ?? Number.POSITIVE_INFINITY),
  );
}

export const wantedBy = (approval: SeenApproval): number =>
  counting(approval).reduce((sum, stage) => sum + (rulesOf(approval.question)[stage - 1]?.quorum ?? 0), 0);

/** Pending, and rightly so: nothing that stands decides the present stage. */
export function isOpen(approval: SeenApproval | undefined, seen: SeenTenant): boolean {
  if (approval?.status !== "pending") return false;
  const isMet = standingIn(approval, seen, approval.stage).size >= ruleNow(approval).quorum;
  const isLast = approval.stage >= rulesOf(approval.question).length;
  return !isMet || (isLast && lacking(approval, seen) !== undefined);
}
