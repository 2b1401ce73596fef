/**
 * The recipient's answer to an intent, and everything else that ends it.
 * - Only the recipient speaks for it, or, for a program, a person in good standing; only the sender or they cancel it.
 * - One that people approve is decided by votes alone; its sender, a party to its workflow, or an admin cancels it.
 * - The undo that a workflow requests from its agent is answered by its outcome or withdrawn, never by hand.
 * - An answer implies receipt. The first answer is final; repeating it returns the same, any other is refused and
 *   recorded.
 * - The same commit notifies workflows that wait for it or sent it. A sweep only announces deadlines already passed.
 */

import type { SubjectPort } from "../../../approvals/rules/subject.ts";
import { cancelApproval } from "../../../approvals/rules/withdraw.ts";
import { joinNotes, type LiveApproval } from "../../../approvals/state.ts";
import { digestOf } from "../../../kernel/canonical-json.ts";
import type { Json, JsonObject } from "../../../kernel/json.ts";
import { channelField, isPerson, type Via } from "../../../kernel/principal.ts";
import { intentStream, type NewEvent, ROSTER, workflowStream } from "../../../kernel/stream.ts";
import { appendRefusal, type Draft, isNeed, type Need } from "../../../kernel/transaction.ts";
import type { Lineage } from "../../../workflows/events.ts";
import { isParty } from "../../../workflows/rules/apply-decision.ts";
import { notifyIntentSender, notifyIntentWaiter } from "../../../workflows/rules/calls.ts";
import {
  lockOwnRun,
  type Recorded,
  type Runner,
  reportWritten,
  wasRecorded,
} from "../../../workflows/rules/lifecycle.ts";
import {
  type IntentStatus,
  intentKind,
  isIntentOpen,
  isIntentOverdue,
  isUnacknowledged,
  type LiveIntent,
} from "../stream.ts";
import { COMPENSATION_INTENT } from "./send.ts";

function lockWaitingWorkflows(draft: Draft, { waiters, within }: LiveIntent): Need | undefined {
  const ids = [...waiters, ...(within === null ? [] : [within])].map(({ workflow }) => workflow);
  return draft.need({ write: [...new Set(ids)].map(workflowStream) });
}

/** The caller has locked the intent and checked that it may end this way. */
function endIntent(draft: Draft, id: string, event: NewEvent): Need | undefined {
  const ref = intentStream(id);
  const more = lockWaitingWorkflows(draft, draft.state(ref) as LiveIntent);
  if (more !== undefined) return more;
  draft.append(ref, [event]);
  const state = draft.state(ref) as LiveIntent;
  for (const waiter of state.waiters) notifyIntentWaiter(draft, id, state, waiter);
  if (state.within !== null) notifyIntentSender(draft, id, state, state.within);
  return undefined;
}

/** The intent, timed out if it is overdue; undefined: there is none. */
function lockIntent(draft: Draft, id: string): Need | LiveIntent | undefined {
  const ref = intentStream(id);
  const more = draft.need({ write: [ref] });
  if (more !== undefined) return more;
  const state = draft.state(ref);
  if (state.status === "none") return undefined;
  if (!isIntentOverdue(state, draft.now)) return state;
  const body = { deadline: state.deadline ?? draft.now };
  const missing = endIntent(draft, id, { type: "intent.timed_out", tv: 1, body });
  return missing ?? (draft.state(ref) as LiveIntent);
}

/** For a sweep: times out an overdue intent. */
export function timeOutIntentIfDue(draft: Draft, id: string): Need | { readonly status: string } {
  const state = lockIntent(draft, id);
  if (state === undefined) return { status: "none" };
  return "kind" in state ? state : { status: state.status };
}

/** The caller has locked the workflow. A repeated call adds no second waiter. */
function awaitIntent(
  draft: Draft,
  intent: string,
  waiter: Lineage,
): Need | { readonly kind: "unknown" | "open" | "over" } {
  const state = lockIntent(draft, intent);
  if (state === undefined) return { kind: "unknown" };
  if ("kind" in state) return state;
  if (!isIntentOpen(state)) {
    notifyIntentWaiter(draft, intent, state, waiter);
    return { kind: "over" };
  }
  const isKnown = state.waiters.some(({ workflow, op }) => workflow === waiter.workflow && op === waiter.op);
  if (!isKnown) draft.append(intentStream(intent), [{ type: "intent.awaited", tv: 1, body: waiter }]);
  return { kind: "open" };
}

type IntentCommand = Via & { readonly intent: string; readonly by: string };

export type IntentMove =
  | { readonly kind: "done" | "same"; readonly status: IntentStatus }
  | {
      readonly kind: "refused";
      readonly code: "not_eligible" | "wrong_state";
      readonly status: IntentStatus;
      readonly reason: string;
      readonly isRecorded: boolean;
    }
  | { readonly kind: "unknown" };

type IntentFault = { readonly code: "not_eligible" | "wrong_state"; readonly reason: string };

const liveIntentIn = (draft: Draft, id: string): LiveIntent => draft.state(intentStream(id)) as LiveIntent;

function refuseIntentCommand(
  draft: Draft,
  speaker: IntentCommand,
  asked: string,
  fault: IntentFault,
): IntentMove {
  const { intent, by } = speaker;
  const ref = intentStream(intent);
  const state = liveIntentIn(draft, intent);
  const { status } = state;
  const body = { asked, by, status, reason: fault.reason, ...channelField(speaker) };
  const isRecorded = appendRefusal(draft, ref, state, { type: "intent.refused", tv: 1, body });
  return { kind: "refused", status, ...fault, isRecorded };
}

function lockIntentAndRoster(
  draft: Draft,
  { intent }: IntentCommand,
): Need | { readonly kind: "unknown" } | LiveIntent {
  const more = draft.need({ read: [ROSTER] });
  if (more !== undefined) return more;
  return lockIntent(draft, intent) ?? { kind: "unknown" };
}

const notTheirsFault = (by: string): IntentFault => ({
  code: "not_eligible",
  reason: `it is not for ${by} to say`,
});

function standingFault(draft: Draft, by: string, owner: string): IntentFault | undefined {
  if (by === owner && !isPerson(by)) return undefined;
  if (!isPerson(by)) return notTheirsFault(by);
  if (!draft.state(ROSTER).suspended.includes(by)) return undefined;
  return { code: "not_eligible", reason: `${by} is not in good standing` };
}

/** Why this principal may not speak for the recipient. */
function recipientFault(draft: Draft, state: LiveIntent, { by }: IntentCommand): IntentFault | undefined {
  if (state.approval !== null)
    return { code: "wrong_state", reason: `people decide it, by the approval ${state.approval}` };
  const fault = standingFault(draft, by, state.to);
  if (fault !== undefined) return fault;
  // People may act for programs; each person answers for themselves.
  if (isPerson(state.to) && by !== state.to) return notTheirsFault(by);
  return isIntentOpen(state) ? undefined : { code: "wrong_state", reason: `it is ${state.status} already` };
}

/** Records the first delivery; repeated calls add nothing. */
export function markDelivered(draft: Draft, intent: string): Need | { readonly status: string } {
  const state = lockIntent(draft, intent);
  if (state === undefined) return { status: "none" };
  if (isNeed(state)) return state;
  if (state.status === "created")
    draft.append(intentStream(intent), [{ type: "intent.delivered", tv: 1, body: { to: state.to } }]);
  return { status: liveIntentIn(draft, intent).status };
}

function receiptEvents({ status, to }: LiveIntent, speaker: IntentCommand): readonly NewEvent[] {
  const body = { by: speaker.by, ...channelField(speaker) };
  const taken = { type: "intent.acknowledged", tv: 1, body };
  if (status === "created") return [{ type: "intent.delivered", tv: 1, body: { to } }, taken];
  return status === "delivered" ? [taken] : [];
}

export function markAcknowledged(draft: Draft, speaker: IntentCommand): Need | IntentMove {
  const state = lockIntentAndRoster(draft, speaker);
  if ("kind" in state) return state;
  const { intent, by } = speaker;
  if (state.acknowledged?.by === by) return { kind: "same", status: state.status };
  const fault =
    recipientFault(draft, state, speaker) ??
    (isUnacknowledged(state)
      ? undefined
      : ({ code: "wrong_state", reason: `${state.acknowledged?.by} has it already` } as const));
  if (fault !== undefined) return refuseIntentCommand(draft, speaker, "acknowledge", fault);
  draft.append(intentStream(intent), receiptEvents(state, speaker));
  return { kind: "done", status: "acknowledged" };
}

export function markWaiting(
  draft: Draft,
  speaker: IntentCommand & { readonly on: string },
): Need | IntentMove {
  const state = lockIntentAndRoster(draft, speaker);
  if ("kind" in state) return state;
  const { intent, by, on } = speaker;
  const fault = recipientFault(draft, state, speaker);
  if (fault !== undefined) return refuseIntentCommand(draft, speaker, "waiting", fault);
  if (state.status === "waiting" && state.waitsOn === on) return { kind: "same", status: "waiting" };
  const waiting = { type: "intent.waiting", tv: 1, body: { by, on, ...channelField(speaker) } };
  draft.append(intentStream(intent), [...receiptEvents(state, speaker), waiting]);
  return { kind: "done", status: "waiting" };
}

export type AnswerIntentCommand = IntentCommand &
  (
    | { readonly status: "completed"; readonly data: Json }
    | { readonly status: "failed"; readonly reason: string }
  );

function isSameAnswer(draft: Draft, { end }: LiveIntent, answering: AnswerIntentCommand): boolean {
  if (end === null || end.by !== answering.by || end.status !== answering.status) return false;
  if (end.status === "completed" && answering.status === "completed")
    return digestOf(end.data) === digestOf(draft.keep(answering.data));
  return end.status === "failed" && answering.status === "failed" && end.reason === answering.reason;
}

function endEventOfAnswer(draft: Draft, answering: AnswerIntentCommand): NewEvent {
  const said = { by: answering.by, ...channelField(answering) };
  return answering.status === "completed"
    ? intentKind.event("intent.completed", { ...said, data: draft.keep(answering.data) })
    : intentKind.event("intent.failed", { ...said, reason: answering.reason });
}

/** An answer by hand would end it, and stop its delivery, while its workflow still waits for the undo. */
function compensationFault(state: LiveIntent): IntentFault | undefined {
  const { intentType, from, correlation: workflow } = state;
  if (intentType !== COMPENSATION_INTENT || from !== `service:${workflow}` || !isIntentOpen(state))
    return undefined;
  return {
    code: "wrong_state",
    reason: `it is answered by what its agent does: start the compensation in ${workflow} and report its outcome, or end ${workflow}`,
  };
}

type AnswerCheck = (draft: Draft, state: LiveIntent, speaker: IntentCommand) => IntentFault | undefined;

function answerIfAllowed(draft: Draft, answering: AnswerIntentCommand, look: AnswerCheck): Need | IntentMove {
  const state = lockIntentAndRoster(draft, answering);
  if ("kind" in state) return state;
  if (isSameAnswer(draft, state, answering)) return { kind: "same", status: state.status };
  const fault = look(draft, state, answering);
  if (fault !== undefined) return refuseIntentCommand(draft, answering, answering.status, fault);
  const { intent } = answering;
  draft.append(intentStream(intent), receiptEvents(state, answering));
  return (
    endIntent(draft, intent, endEventOfAnswer(draft, answering)) ?? { kind: "done", status: answering.status }
  );
}

export const answerIntent = (draft: Draft, answering: AnswerIntentCommand): Need | IntentMove =>
  answerIfAllowed(
    draft,
    answering,
    (_, state, speaker) => recipientFault(draft, state, speaker) ?? compensationFault(state),
  );

/** Answers with the outcome of the requested undo. */
export const answerByOutcome = (draft: Draft, answering: AnswerIntentCommand): Need | IntentMove =>
  answerIfAllowed(draft, answering, recipientFault);

type CancelIntentCommand = IntentCommand & { readonly reason: string };

/** The caller has checked that this is allowed. */
export function withdrawIntent(draft: Draft, cancelling: CancelIntentCommand): Need | IntentMove {
  const { intent, by, reason } = cancelling;
  const said = { by, reason, ...channelField(cancelling) };
  const state = lockIntent(draft, intent);
  if (state === undefined) return { kind: "unknown" };
  if (isNeed(state)) return state;
  if (!isIntentOpen(state)) return { kind: "same", status: state.status };
  const more =
    state.approval === null
      ? endIntent(draft, intent, { type: "intent.cancelled", tv: 1, body: said })
      : cancelApproval(draft, { approval: state.approval, ...said });
  if (more !== undefined && isNeed(more)) return more;
  return { kind: "done", status: liveIntentIn(draft, intent).status };
}

/** For an intent that people approve, in a tenant with a roster. */
function mayCancelIntent(draft: Draft, { from, within }: LiveIntent, by: string): Need | boolean {
  const { members } = draft.state(ROSTER);
  if (members.size === 0 || by === from || members.get(by)?.roles.includes("admin") === true) return true;
  return within !== null && isParty(draft, within.workflow, by);
}

/** Why this principal may not cancel it. */
function cancelFault(draft: Draft, state: LiveIntent, by: string): Need | IntentFault | undefined {
  const fault = standingFault(draft, by, state.from);
  if (fault !== undefined) return fault;
  if (state.approval !== null && isPerson(by)) {
    const isTheirs = mayCancelIntent(draft, state, by);
    if (typeof isTheirs === "object") return isTheirs;
    if (!isTheirs) return notTheirsFault(by);
  }
  if (!isIntentOpen(state)) return { code: "wrong_state", reason: `it is ${state.status} already` };
  return compensationFault(state);
}

export function cancelIntent(draft: Draft, cancelling: CancelIntentCommand): Need | IntentMove {
  const state = lockIntentAndRoster(draft, cancelling);
  if ("kind" in state) return state;
  const { by } = cancelling;
  if (state.end?.status === "cancelled" && state.end.by === by) return { kind: "same", status: "cancelled" };
  const fault = cancelFault(draft, state, by);
  if (fault !== undefined)
    return "kind" in fault ? fault : refuseIntentCommand(draft, cancelling, "cancel", fault);
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

/** A rejection is an answer too: the intent is completed, and says that it was not approved. */
function decisionData(approval: LiveApproval, rationale: string): JsonObject {
  const { status, decided, args, edited } = approval;
  const by = [...(decided?.by ?? [])];
  const approved = status !== "rejected";
  return {
    approved,
    decision: status,
    rationale,
    modifications: approved && edited ? args : null,
    approved_by: approved ? by : [],
    decided_by: by,
    decided_at: new Date(decided?.at ?? 0).toISOString(),
  };
}

function endEventOfDecision(approval: LiveApproval, rationale: string): NewEvent {
  const by = approval.decided?.by[0] ?? "deadline";
  if (approval.status === "expired")
    return intentKind.event("intent.timed_out", { deadline: approval.decideBy ?? 0 });
  if (approval.status === "cancelled") return intentKind.event("intent.cancelled", { by, reason: rationale });
  return intentKind.event("intent.completed", { by, data: decisionData(approval, rationale) });
}

export const intentSubject: SubjectPort = {
  tell(draft, _approvalId, approval) {
    const ref = intentStream(approval.action);
    const more = draft.need({ write: [ref] });
    if (more !== undefined) return more;
    const state = draft.state(ref);
    if (state.status === "none" || !isIntentOpen(state)) return undefined;
    return endIntent(draft, approval.action, endEventOfDecision(approval, joinNotes(approval)));
  },
  mayCancel(draft, approval, by) {
    const intent = draft.state(intentStream(approval.action));
    return intent.status !== "none" && mayCancelIntent(draft, intent, by);
  },
  reviewEdit: null,
};

type FlowWait = {
  readonly op: string;
  readonly intent: string;
  readonly withinMs: number | null;
  /** It was recorded before, and is resumed. */
  readonly isKnown: boolean;
  readonly before: readonly NewEvent[];
};

function beginWait(draft: Draft, { op, intent, withinMs, isKnown, before }: FlowWait): readonly NewEvent[] {
  const until = withinMs === null ? null : draft.now + withinMs;
  const began = { type: "wait.began", tv: 1, body: { op, intent, until } };
  return isKnown ? before : [...before, began];
}

/** Returns none of the events it wrote: the runner reads the stream. */
export function waitInWorkflow(
  draft: Draft,
  runner: Runner,
  wait: FlowWait,
): Need | Recorded | { readonly kind: "unknown" } {
  const state = lockOwnRun(draft, runner, "run");
  if ("kind" in state) return state;
  if (wasRecorded(state, runner)) return reportWritten(draft, state, runner.workflow, []);
  if (state.status !== "executing" && !wait.isKnown) return { kind: "turned" };
  draft.append(workflowStream(runner.workflow), beginWait(draft, wait));
  const awaited = awaitIntent(draft, wait.intent, { workflow: runner.workflow, op: wait.op });
  if (isNeed(awaited) || awaited.kind === "unknown") return awaited as Need | { readonly kind: "unknown" };
  return reportWritten(draft, state, runner.workflow, []);
}
