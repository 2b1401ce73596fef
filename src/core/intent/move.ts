/**
 * What the recipient says of an intent, and what else may end it.
 *
 * M1. Only the recipient speaks for it, or, of one that is for a program, a person in good standing; only the sender takes it
 *     back, or such a person. What people are to approve is decided by votes and in no other way, and of people only its
 *     sender, a party to the workflow that sent it, or an admin takes it back.
 *     What a workflow asks its agent to undo is answered by the outcome of that, and withdrawn with the way back: by hand
 *     nobody ends it.
 * M2. Whoever answers has it: what was not said yet of its receipt is recorded first.
 * M3. The first answer stands. The same said again answers the same; anything else is refused and recorded.
 */
import { cancelApproval } from "../../approvals/rules/end.ts";
import { digestOf } from "../../kernel/canonical-json.ts";
import type { Json } from "../../kernel/json.ts";
import { channelField, isPerson, type Via } from "../../kernel/principal.ts";
import { intentStream, type NewEvent, ROSTER } from "../../kernel/stream.ts";
import { appendRefusal, type Draft, isNeed, type Need } from "../../kernel/transaction.ts";

import { isParty } from "../../workflows/rules/apply-decision.ts";
import { COMPENSATION } from "./address.ts";
import { type EndEvent, endIntent, lockIntent } from "./end.ts";
import { type IntentStatus, isOpen, isUntaken, type LiveIntent } from "./state.ts";

export type Speaker = Via & { readonly intent: string; readonly by: string };

export type Moved =
  | { readonly kind: "done" | "same"; readonly status: IntentStatus }
  | {
      readonly kind: "refused";
      readonly code: "not_eligible" | "wrong_state";
      readonly status: IntentStatus;
      readonly reason: string;
      readonly isRecorded: boolean;
    }
  | { readonly kind: "unknown" };

type Fault = { readonly code: "not_eligible" | "wrong_state"; readonly reason: string };

const live = (draft: Draft, id: string): LiveIntent => draft.state(intentStream(id)) as LiveIntent;

function refuse(draft: Draft, speaker: Speaker, asked: string, fault: Fault): Moved {
  const { intent, by } = speaker;
  const ref = intentStream(intent);
  const state = live(draft, intent);
  const { status } = state;
  const body = { asked, by, status, reason: fault.reason, ...channelField(speaker) };
  const isRecorded = appendRefusal(draft, ref, state, { type: "intent.refused", tv: 1, body });
  return { kind: "refused", status, ...fault, isRecorded };
}

function found(draft: Draft, { intent }: Speaker): Need | { readonly kind: "unknown" } | LiveIntent {
  const more = draft.need({ read: [ROSTER] });
  if (more !== undefined) return more;
  return lockIntent(draft, intent) ?? { kind: "unknown" };
}

const notTheirs = (by: string): Fault => ({ code: "not_eligible", reason: `it is not for ${by} to say` });

function whyNotBy(draft: Draft, by: string, owner: string): Fault | undefined {
  if (by === owner && !isPerson(by)) return undefined;
  if (!isPerson(by)) return notTheirs(by);
  if (!draft.state(ROSTER).suspended.includes(by)) return undefined;
  return { code: "not_eligible", reason: `${by} is not in good standing` };
}

/** What keeps somebody from speaking for the recipient. */
function whyNot(draft: Draft, state: LiveIntent, { by }: Speaker): Fault | undefined {
  if (state.approval !== null)
    return { code: "wrong_state", reason: `people decide it, by the approval ${state.approval}` };
  const fault = whyNotBy(draft, by, state.to);
  if (fault !== undefined) return fault;
  // People look after programs, and speak for themselves.
  if (isPerson(state.to) && by !== state.to) return notTheirs(by);
  return isOpen(state) ? undefined : { code: "wrong_state", reason: `it is ${state.status} already` };
}

/** Handed over; said once, however often it is. */
export function deliver(draft: Draft, intent: string): Need | { readonly status: string } {
  const state = lockIntent(draft, intent);
  if (state === undefined) return { status: "none" };
  if (isNeed(state)) return state;
  if (state.status === "created")
    draft.append(intentStream(intent), [{ type: "intent.delivered", tv: 1, body: { to: state.to } }]);
  return { status: live(draft, intent).status };
}

function receipt({ status, to }: LiveIntent, speaker: Speaker): readonly NewEvent[] {
  const body = { by: speaker.by, ...channelField(speaker) };
  const taken = { type: "intent.acknowledged", tv: 1, body };
  if (status === "created") return [{ type: "intent.delivered", tv: 1, body: { to } }, taken];
  return status === "delivered" ? [taken] : [];
}

export function acknowledge(draft: Draft, speaker: Speaker): Need | Moved {
  const state = found(draft, speaker);
  if ("kind" in state) return state;
  const { intent, by } = speaker;
  if (state.acknowledged?.by === by) return { kind: "same", status: state.status };
  const fault =
    whyNot(draft, state, speaker) ??
    (isUntaken(state)
      ? undefined
      : ({ code: "wrong_state", reason: `${state.acknowledged?.by} has it already` } as const));
  if (fault !== undefined) return refuse(draft, speaker, "acknowledge", fault);
  draft.append(intentStream(intent), receipt(state, speaker));
  return { kind: "done", status: "acknowledged" };
}

export function waitsFor(draft: Draft, speaker: Speaker & { readonly on: string }): Need | Moved {
  const state = found(draft, speaker);
  if ("kind" in state) return state;
  const { intent, by, on } = speaker;
  const fault = whyNot(draft, state, speaker);
  if (fault !== undefined) return refuse(draft, speaker, "waiting", fault);
  if (state.status === "waiting" && state.waitsOn === on) return { kind: "same", status: "waiting" };
  const waiting = { type: "intent.waiting", tv: 1, body: { by, on, ...channelField(speaker) } };
  draft.append(intentStream(intent), [...receipt(state, speaker), waiting]);
  return { kind: "done", status: "waiting" };
}

export type Answering = Speaker &
  (
    | { readonly status: "completed"; readonly data: Json }
    | { readonly status: "failed"; readonly reason: string }
  );

function isRepeat(draft: Draft, { end }: LiveIntent, answering: Answering): boolean {
  if (end === null || end.by !== answering.by || end.status !== answering.status) return false;
  if (end.status === "completed" && answering.status === "completed")
    return digestOf(end.data) === digestOf(draft.keep(answering.data));
  return end.status === "failed" && answering.status === "failed" && end.reason === answering.reason;
}

function endOf(draft: Draft, answering: Answering): EndEvent {
  const said = { by: answering.by, ...channelField(answering) };
  return answering.status === "completed"
    ? { type: "intent.completed", tv: 1, body: { ...said, data: draft.keep(answering.data) } }
    : { type: "intent.failed", tv: 1, body: { ...said, reason: answering.reason } };
}

/** By hand it would be over, and nobody told any more, while its workflow still waits for the undo. */
function whyNotByHand(state: LiveIntent): Fault | undefined {
  const { intentType, from, correlation: workflow } = state;
  if (intentType !== COMPENSATION || from !== `service:${workflow}` || !isOpen(state)) return undefined;
  return {
    code: "wrong_state",
    reason: `it is answered by what its agent does: start the compensation in ${workflow} and report its outcome, or end ${workflow}`,
  };
}

type Look = (draft: Draft, state: LiveIntent, speaker: Speaker) => Fault | undefined;

function answerWhere(draft: Draft, answering: Answering, look: Look): Need | Moved {
  const state = found(draft, answering);
  if ("kind" in state) return state;
  if (isRepeat(draft, state, answering)) return { kind: "same", status: state.status };
  const fault = look(draft, state, answering);
  if (fault !== undefined) return refuse(draft, answering, answering.status, fault);
  const { intent } = answering;
  draft.append(intentStream(intent), receipt(state, answering));
  return endIntent(draft, intent, endOf(draft, answering)) ?? { kind: "done", status: answering.status };
}

export const answerIntent = (draft: Draft, answering: Answering): Need | Moved =>
  answerWhere(draft, answering, (_, state, speaker) => whyNot(draft, state, speaker) ?? whyNotByHand(state));

/** What became of the undo that it asks for. */
export const answerByOutcome = (draft: Draft, answering: Answering): Need | Moved =>
  answerWhere(draft, answering, whyNot);

export type Cancelling = Speaker & { readonly reason: string };

/** The caller knows that this may be done. */
export function withdrawIntent(draft: Draft, cancelling: Cancelling): Need | Moved {
  const { intent, by, reason } = cancelling;
  const said = { by, reason, ...channelField(cancelling) };
  const state = lockIntent(draft, intent);
  if (state === undefined) return { kind: "unknown" };
  if (isNeed(state)) return state;
  if (!isOpen(state)) return { kind: "same", status: state.status };
  const more =
    state.approval === null
      ? endIntent(draft, intent, { type: "intent.cancelled", tv: 1, body: said })
      : cancelApproval(draft, { approval: state.approval, ...said });
  if (more !== undefined && isNeed(more)) return more;
  return { kind: "done", status: live(draft, intent).status };
}

/** Of one that people are to approve, where a list of people says who is there for what. */
export function isTheirsToCancel(draft: Draft, { from, within }: LiveIntent, by: string): Need | boolean {
  const { members } = draft.state(ROSTER);
  if (members.size === 0 || by === from || members.get(by)?.roles.includes("admin") === true) return true;
  return within !== null && isParty(draft, within.workflow, by);
}

/** What keeps somebody from taking it back. */
function whyNotCancel(draft: Draft, state: LiveIntent, by: string): Need | Fault | undefined {
  const fault = whyNotBy(draft, by, state.from);
  if (fault !== undefined) return fault;
  if (state.approval !== null && isPerson(by)) {
    const isTheirs = isTheirsToCancel(draft, state, by);
    if (typeof isTheirs === "object") return isTheirs;
    if (!isTheirs) return notTheirs(by);
  }
  if (!isOpen(state)) return { code: "wrong_state", reason: `it is ${state.status} already` };
  return whyNotByHand(state);
}

export function cancelIntent(draft: Draft, cancelling: Cancelling): Need | Moved {
  const state = found(draft, cancelling);
  if ("kind" in state) return state;
  const { by } = cancelling;
  if (state.end?.status === "cancelled" && state.end.by === by) return { kind: "same", status: "cancelled" };
  const fault = whyNotCancel(draft, state, by);
  if (fault !== undefined) return "kind" in fault ? fault : refuse(draft, cancelling, "cancel", fault);
  const moved = withdrawIntent(draft, cancelling);
  return moved.kind === "done" && moved.status !== "cancelled"
    ? {
        kind: "refused",
        code: "wrong_state",
        status: moved.status,
        reason: `it is ${moved.status} already`,
        isRecorded: false,
      }
    : moved;
}
