/**
 * When people are reminded of a pending question, and when more of them are asked.
 *
 * M1. A reminder decides nothing. It is written once for its moment, by whoever sweeps: late if nobody did in time, and
 *     not at all where the next one is due too.
 * M2. Nobody is reminded in less than a minute. The moments are counted from the beginning of the stage, or from where it was last given time.
 */
import type { LiveApproval } from "./state.ts";

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
