/**
 * What a list has to know of an approval to say whom it waits for and how much is at stake, without reading its stream.
 *
 * I1. Who may decide is said by one rule, whether it is asked of an approval or of a list's row (`isEligible`).
 * I2. An approval waits for whoever may decide it in the present stage and has not: by a vote, or by an edit under review.
 */
import type { RosterState } from "../roster.ts";
import type { RiskLevel } from "../verdict.ts";
import { isEligible, type Seated } from "./eligible.ts";
import type { LiveApproval } from "./state.ts";

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
