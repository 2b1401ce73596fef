/** The stages of an approval as the oracle counts them, from raw events and on its own. */
import type { ApprovalQuestion } from "../../../core/approval/events.ts";
import type { SeenApproval, SeenTenant } from "./seen.ts";

export type SeenRule = {
  readonly quorum: number;
  readonly from: readonly string[] | null;
  readonly veto: boolean;
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

export function mayDecide(approval: SeenApproval, seen: SeenTenant, person: string, rule: SeenRule): boolean {
  if (!person.startsWith("person:") || approval.question.requester.includes(person)) return false;
  if (seen.suspended.has(person)) return false;
  return rule.from === null || rule.from.includes(person);
}

/** Distinct eligible people who approved, in that stage, exactly what the binding says. */
export function standingIn(approval: SeenApproval, seen: SeenTenant, stage: number): ReadonlySet<string> {
  const { binding } = approval.question;
  const rule = rulesOf(approval.question)[stage - 1];
  const people = new Set<string>();
  for (const vote of approval.votes) {
    const counts = vote.decision === "approve" && vote.binding === binding && vote.cast === stage;
    if (counts && rule !== undefined && mayDecide(approval, seen, vote.by, rule)) people.add(vote.by);
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
