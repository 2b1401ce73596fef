/**
 * A person gives a pending question more time.
 *
 * E1. Only somebody who may decide it now: never the requester, and nobody of another stage.
 * E2. The new deadline is a moment, not a length: saying it twice gives the time once.
 * E3. No deadline is later than `LONGEST_MS`, however often it is moved: dates end somewhere.
 * E4. The binding is not touched. It holds the terms as they were asked; how long they were extended is in the journal.
 */
import type { Draft, Need } from "../draft.ts";
import { recordRefusal } from "../record-refusal.ts";
import type { RosterState } from "../roster.ts";
import { LONGEST_MS } from "../stages.ts";
import { approvalStream, ROSTER } from "../stream.ts";
import { stageField } from "./deadline.ts";
import { isEligible } from "./eligible.ts";
import { actOn } from "./end.ts";
import type { ApprovalStatus, LiveApproval } from "./state.ts";

export type ExtendCommand = {
  readonly approval: string;
  readonly by: string;
  readonly until: number;
  /** The deadline that the person saw; null trusts what stands now. */
  readonly seen: number | null;
  readonly via: string;
};

export type ExtendAnswer =
  | { readonly kind: "extended" | "same"; readonly decideBy: number }
  | { readonly kind: "extend_refused"; readonly reason: string; readonly isRecorded: boolean }
  | { readonly kind: "not_possible"; readonly status: ApprovalStatus; readonly reason: string }
  | { readonly kind: "unknown" };

/** Whether they could give it more time now. */
export const mayExtend = (approval: LiveApproval, roster: RosterState, by: string): boolean =>
  approval.status === "pending" && approval.decideBy !== null && isEligible(approval, roster, by);

function isRepeat({ extensions, decideBy }: LiveApproval, { by, until }: ExtendCommand): boolean {
  return extensions.at(-1)?.by === by && decideBy === until;
}

function whyNot(approval: LiveApproval, { seen, until }: ExtendCommand): string | undefined {
  const { status, decideBy } = approval;
  if (status !== "pending") return `it is ${status} already`;
  if (decideBy === null) return "it has no deadline";
  if (seen !== null && seen !== decideBy) return "its deadline is another one by now";
  if (until <= decideBy) return "it has that much time already";
  return until > LONGEST_MS ? `no deadline is later than ${new Date(LONGEST_MS).toISOString()}` : undefined;
}

function extendNow(draft: Draft, command: ExtendCommand, approval: LiveApproval): ExtendAnswer {
  const ref = approvalStream(command.approval);
  const { by, until, via } = command;
  if (isRepeat(approval, command)) return { kind: "same", decideBy: until };
  if (!isEligible(approval, draft.state(ROSTER), by)) {
    const reason = `${by} may not decide this`;
    const refused = { type: "approval.extend_refused", tv: 1, body: { by, reason, via } };
    return { kind: "extend_refused", reason, isRecorded: recordRefusal(draft, ref, approval, refused) };
  }
  const reason = whyNot(approval, command);
  if (reason !== undefined) return { kind: "not_possible", status: approval.status, reason };
  const body = { by, from: approval.decideBy, decideBy: until, via, ...stageField(approval) };
  draft.append(ref, [{ type: "approval.extended", tv: 1, body }]);
  return { kind: "extended", decideBy: until };
}

export function extend(draft: Draft, command: ExtendCommand): Need | ExtendAnswer {
  return actOn(draft, command.approval, (approval) => extendNow(draft, command, approval));
}
