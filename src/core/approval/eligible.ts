/**
 * Who may decide an approval in one of its stages.
 *
 * E1. It follows from the rule, the roster of that moment and the seats that were handed over.
 * E2. There is one definition, for the approval itself and for a list's row of it.
 */
import { isExcluded, isNamedIn } from "../deciders.ts";
import type { RosterState } from "../roster.ts";
import { leftOut } from "../verdict.ts";
import type { ApprovalQuestion } from "./events.ts";
import { ruleIn } from "./rule-in.ts";
import { type Delegation, mayTakePart, type Standing } from "./seats.ts";

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
