/**
 * What a deadline brings about.
 *
 * T1. It is decided by whoever decides next, on the store's clock. A sweeper only announces what is already true.
 * T2. When somebody looks makes no difference: the next stage's time, and an extension, begin where the time was up.
 * T3. Whoever may decide from half time on may do so from that moment, whether anybody has swept or not.
 */
import type { Draft } from "../draft.ts";
import type { NewEvent } from "../event.ts";
import { approvalStream } from "../stream.ts";
import type { OnTimeout } from "../verdict.ts";
import { wideningAt } from "./reminders.ts";
import type { LiveApproval } from "./state.ts";

export function isOverdue(approval: LiveApproval, now: number): boolean {
  return approval.status === "pending" && approval.decideBy !== null && now >= approval.decideBy;
}

/** Recorded only where there are several stages. */
export const stageField = ({ stages, stage }: LiveApproval): { readonly stage?: number } =>
  stages === undefined ? {} : { stage };

/** When the stage after the present one is over, if it begins at this time. */
export function nextDecideBy({ stages, stage }: LiveApproval, begins: number): number | null {
  const length = stages?.[stage]?.decideWithinMs ?? null;
  return length === null ? null : begins + length;
}

function lengthOf({ stages, stage, asked }: LiveApproval): number {
  return stages?.[stage - 1]?.decideWithinMs ?? (asked.decideBy ?? asked.at) - asked.at;
}

/** By itself, a stage is given more time once. */
function wasExtended({ extensions, stage: now }: LiveApproval): boolean {
  return extensions.some(({ by, stage = 1 }) => by === "deadline" && stage === now);
}

/** What the present deadline brings about, if nobody decides. */
export function nextAtDeadline(approval: LiveApproval): OnTimeout {
  const { onTimeout, stage, stages } = approval;
  if (onTimeout === "extend") return wasExtended(approval) ? "expire" : "extend";
  return onTimeout === "escalate" && stage < (stages?.length ?? 1) ? "escalate" : "expire";
}

function handOver(approval: LiveApproval, overdue: number): readonly NewEvent[] {
  const { edit, stage } = approval;
  const reason = "the time of its stage was up before it was reviewed";
  const refused = {
    type: "approval.edit_refused",
    tv: 1,
    body: { by: edit?.by ?? "", rule: "deadline", reason },
  };
  const body = { stage, decideBy: nextDecideBy(approval, overdue) };
  return [...(edit === null ? [] : [refused]), { type: "approval.escalated", tv: 1, body }];
}

/** A stage that is over needs nobody more. */
function widen(approval: LiveApproval): readonly NewEvent[] {
  const at = wideningAt(approval);
  if (at === undefined) return [];
  const body = {
    also: [...(approval.approvers.escalateAtHalf ?? [])],
    halfTime: at,
    ...stageField(approval),
  };
  return [{ type: "approval.widened", tv: 1, body }];
}

function atDeadline(approval: LiveApproval, overdue: number): readonly NewEvent[] {
  switch (nextAtDeadline(approval)) {
    case "extend": {
      const more = { from: overdue, decideBy: overdue + lengthOf(approval) };
      const body = { by: "deadline", ...more, via: "policy", ...stageField(approval) };
      return [...widen(approval), { type: "approval.extended", tv: 1, body }];
    }
    case "escalate":
      return handOver(approval, overdue);
    case "expire":
      return [{ type: "approval.expired", tv: 1, body: { decideBy: overdue } }];
  }
}

/** Brings an approval up to the present time. The caller has locked it, and tells what it was about if it is over. */
export function passTime(draft: Draft, id: string): LiveApproval {
  const ref = approvalStream(id);
  for (;;) {
    const approval = draft.state(ref) as LiveApproval;
    if (isOverdue(approval, draft.now)) {
      draft.append(ref, atDeadline(approval, approval.decideBy as number));
    } else if (
      approval.status === "pending" &&
      draft.now >= (wideningAt(approval) ?? Number.POSITIVE_INFINITY)
    ) {
      draft.append(ref, widen(approval));
    } else return approval;
  }
}
