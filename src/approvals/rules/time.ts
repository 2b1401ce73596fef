/**
 * What a deadline brings about.
 *
 * T1. It is decided by whoever decides next, on the store's clock. A sweeper only announces what is already true.
 * T2. When somebody looks makes no difference: the next stage's time, and an extension, begin where the time was up.
 * T3. Whoever may decide from half time on may do so from that moment, whether anybody has swept or not.
 */
import type { Draft } from "../../core/draft.ts";
import type { NewEvent } from "../../core/event.ts";
import { approvalStream } from "../../core/stream.ts";
import type { OnTimeout } from "../../core/verdict.ts";
import type { LiveApproval } from "../state.ts";

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

/**
 * When people are reminded of a pending question, and when more of them are asked.
 *
 * M1. A reminder decides nothing. It is written once for its moment, by whoever sweeps: late if nobody did in time, and
 *     not at all where the next one is due too.
 * M2. Nobody is reminded in less than a minute. The moments are counted from the beginning of the stage, or from where it was last given time.
 */

export type ReminderWhy = "half_time" | "last_call" | "interval";
export type Reminder = { readonly at: number; readonly why: ReminderWhy };

type Pending = Pick<LiveApproval, "since" | "decideBy" | "remindedUpTo" | "approvers">;

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

export function halfTime({ since, decideBy }: Pick<Pending, "since" | "decideBy">): number | null {
  return decideBy === null ? null : since + Math.floor((decideBy - since) / 2);
}

/** A tenth of the time before its end, at least a minute and at most a day. */
function lastCall(since: number, decideBy: number): number {
  const before = Math.min(Math.max(Math.floor((decideBy - since) / 10), MINUTE_MS), DAY_MS);
  return decideBy - before;
}

/** In so short a time that the last call would come first, it is the only one; in a shorter one there is only half time. */
function ofDeadline({ since, decideBy }: Pending): readonly Reminder[] {
  const half = halfTime({ since, decideBy });
  if (decideBy === null || half === null || decideBy - since < MINUTE_MS) return [];
  const last = lastCall(since, decideBy);
  const halfway = { at: half, why: "half_time" } as const;
  if (last <= since) return [halfway];
  const call = { at: last, why: "last_call" } as const;
  return half < last ? [halfway, call] : [call];
}

/** The first of its kind after a moment, or the last up to one. */
function ofInterval({ since, approvers }: Pending, count: (turns: number) => number): readonly Reminder[] {
  const { remindEveryMs: every } = approvers;
  if (every === undefined) return [];
  const turns = count(every);
  return turns < 1 ? [] : [{ at: since + turns * every, why: "interval" }];
}

const isInTime = ({ decideBy }: Pending, { at }: Reminder): boolean => decideBy === null || at < decideBy;

/** The reminder that comes next, or is overdue. */
export function nextReminder(approval: Pending): Reminder | undefined {
  const { since, remindedUpTo: after } = approval;
  const turns = (every: number) => Math.floor((after - since) / every) + 1;
  const all = [...ofDeadline(approval), ...ofInterval(approval, turns)];
  return all
    .filter((one) => one.at > after && isInTime(approval, one))
    .toSorted((a, b) => a.at - b.at)
    .at(0);
}

/** What is to be said now: of all that are due the latest, and of two at one moment the one that says more. */
export function dueReminder(approval: Pending, now: number): Reminder | undefined {
  const { since, remindedUpTo: after } = approval;
  const all = [
    ...ofInterval(approval, (every) => Math.floor((now - since) / every)),
    ...ofDeadline(approval),
  ];
  return all
    .filter((one) => one.at > after && one.at <= now && isInTime(approval, one))
    .toSorted((a, b) => a.at - b.at)
    .at(-1);
}

/** When more people may decide; undefined where that is so already, or never will be. */
export function wideningAt(approval: LiveApproval): number | undefined {
  const { stage, widened, approvers } = approval;
  if (approvers.escalateAtHalf === undefined || widened.includes(stage)) return undefined;
  return halfTime(approval) ?? undefined;
}

/** When somebody has to look next; null: never by itself. */
export function nextDue(approval: LiveApproval): number | null {
  if (approval.status !== "pending") return null;
  const moments = [approval.decideBy, nextReminder(approval)?.at, wideningAt(approval)];
  const known = moments.filter((at) => at !== undefined && at !== null);
  return known.length === 0 ? null : Math.min(...known);
}

/** Takes back a question that nobody has answered; one whose time is over has expired instead. The caller has locked the approval. */
export function withdrawApproval(
  draft: Draft,
  id: string,
  { by, reason }: { readonly by: string; readonly reason: string },
): void {
  const ref = approvalStream(id);
  if (draft.state(ref).status !== "pending" || passTime(draft, id).status !== "pending") return;
  draft.append(ref, [{ type: "approval.cancelled", tv: 1, body: { by, reason } }]);
}
