/**
 * Whether the person who looks may decide now, and why not, said to them. The words are no rule: `vote.ts` decides, and a test holds
 * the two together.
 */
import { isNeededLater, rejectionEnds } from "../approval/count.ts";
import { delegationsIn, isEligible } from "../approval/eligible.ts";
import { stageRules } from "../approval/rule-in.ts";
import type { ApprovalStatus, LiveApproval } from "../approval/state.ts";
import { isPerson } from "../principal.ts";
import type { RosterState } from "../roster.ts";
import { leftOut } from "../verdict.ts";

export type YourStanding = {
  readonly mayDecide: boolean;
  /** Also where they may only reject. */
  readonly whyNot: string | null;
  /** Cast in the present stage. */
  readonly vote: "approve" | "reject" | null;
};

const OVER: { readonly [status in ApprovalStatus]?: string } = {
  expired: "its time is over: nobody decided",
  cancelled: "it was taken back",
};

function whyLeftOut({ requester, apart, approvers }: LiveApproval, person: string): string | undefined {
  if (requester.includes(person)) return "you asked for it";
  return leftOut(approvers, requester, apart).includes(person)
    ? "you posted the work or execute it, and duties are kept apart"
    : undefined;
}

function whyGone({ suspended, members }: RosterState, person: string): string | undefined {
  if (suspended.includes(person)) return "you are suspended";
  return members.size > 0 && !members.has(person) ? "you are not in the list of people" : undefined;
}

function whyNotAsked(approval: LiveApproval, roster: RosterState, person: string): string {
  const { stage } = approval;
  const handed = delegationsIn(approval, stage).find(({ by }) => by === person);
  if (handed !== undefined) return `you have handed your seat to ${handed.to}`;
  const count = stageRules(approval).length;
  const own = Array.from({ length: count }, (_, index) => index + 1).filter((one) =>
    isEligible(approval, roster, person, one),
  );
  const asked = `stage ${stage} of ${count} is asked`;
  if (own.some((one) => one > stage)) return `it is not your turn: ${asked}`;
  return own.length === 0 ? "you are not among those asked" : `your stage is over: ${asked}`;
}

function whyNot(approval: LiveApproval, roster: RosterState, person: string): string | undefined {
  if (approval.status !== "pending") return OVER[approval.status] ?? "it is decided";
  if (!isPerson(person)) return "only people decide";
  if (approval.votes.some(({ by }) => by === person)) return "you have voted";
  const out = whyLeftOut(approval, person) ?? whyGone(roster, person);
  if (out !== undefined) return out;
  return isEligible(approval, roster, person) ? undefined : whyNotAsked(approval, roster, person);
}

/** What keeps somebody from approving who may reject. */
function whyOnlyReject(approval: LiveApproval, roster: RosterState, person: string): string | null {
  if (approval.edit !== null)
    return `an edit by ${approval.edit.by} is being reviewed: until then you can only reject`;
  return isNeededLater(approval, roster, person)
    ? "you are needed in a later stage, and decide once: now you can only reject"
    : null;
}

/** The caller has brought the approval up to the present time. */
export function yourStanding(approval: LiveApproval, roster: RosterState, person: string): YourStanding {
  const why = whyNot(approval, roster, person);
  const { votes, stage } = approval;
  const vote = votes.find((one) => one.by === person && (one.stage ?? 1) === stage)?.decision ?? null;
  return why === undefined
    ? { mayDecide: true, whyNot: whyOnlyReject(approval, roster, person), vote }
    : { mayDecide: false, whyNot: why, vote };
}

/** Whether it is over once whoever looks rejects it; null where they may not decide, or it depends on who they are. */
export function endsByYou(
  approval: LiveApproval,
  roster: RosterState,
  who: string | null,
  { mayDecide }: YourStanding,
): boolean | null {
  if (!mayDecide) return null;
  if (who === null) return approval.approvers.veto ? true : null;
  return rejectionEnds(approval, roster, who);
}
