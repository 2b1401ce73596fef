/**
 * The sending of an intent.
 *
 * S1. A request id leads to one intent of a tenant for ever: sending the same again answers the same, other content is a
 *     conflict.
 * S2. One that people are to approve is an approval: both come to be in one commit, and it waits from then on.
 */
import { openQuestion } from "../../approvals/rules/ask.ts";
import { digestOf } from "../../kernel/canonical-json.ts";
import type { Json } from "../../kernel/json.ts";
import type { Via } from "../../kernel/principal.ts";
import { approvalStream, intentStream, ROSTER } from "../../kernel/stream.ts";
import type { Draft, Need } from "../../kernel/transaction.ts";

import { whyUnmeetable } from "../../policy/rules/stages.ts";
import { ANY_ONE_PERSON, type ApproverRule, excludedPeople, plainRule } from "../../policy/rules/verdict.ts";

import { approversAt, whyNobody } from "./address.ts";
import type { IntentTerms } from "./events.ts";
import type { LiveIntent } from "./state.ts";

/** What the question to people is made of, beside the intent. */
export type PeopleAsked = {
  readonly approval: string;
  readonly nonce: string;
  /** The agent's words: they are untrusted. */
  readonly says: string | null;
  readonly requester: readonly string[];
  /** Whom separation of duties leaves out; null: it is not asked for. */
  readonly apart: readonly string[] | null;
};

export type Sending = Omit<IntentTerms, "payloadDigest" | "deadline" | "approval"> &
  Via & {
    readonly intent: string;
    readonly withinMs: number | null;
    /** null: an agent answers. */
    readonly ask: PeopleAsked | null;
  };

export type Sent =
  | { readonly kind: "sent" | "existing"; readonly intent: string; readonly approval: string | null }
  | { readonly kind: "conflict"; readonly intent: string }
  | { readonly kind: "unmeetable"; readonly reason: string };

export const intentName = (requestId: string): string => `intent:${requestId}`;

function isSame(state: LiveIntent, sending: Sending): boolean {
  const { intentType, to, from, payload, parent, correlation, withinMs } = sending;
  const span = state.deadline === null ? null : state.deadline - state.sentAt;
  const fields = { intentType, to, from, parent, correlation };
  const same = Object.entries(fields).every(
    ([field, value]) => state[field as keyof typeof fields] === value,
  );
  return same && span === withinMs && state.payloadDigest === digestOf(payload);
}

function known(draft: Draft, sending: Sending): Need | Sent | undefined {
  const { requestId } = sending;
  const found = requestId === null ? undefined : draft.lookUp(intentName(requestId));
  const id = found?.id ?? sending.intent;
  const ref = intentStream(id);
  const more = draft.need({ read: [ref] });
  if (more !== undefined) return more;
  const state = draft.state(ref);
  if (state.status === "none") return undefined;
  if (id !== sending.intent && !isSame(state, sending)) return { kind: "conflict", intent: id };
  return { kind: "existing", intent: id, approval: state.approval };
}

function ruleFor(draft: Draft, { to }: Sending, { apart }: PeopleAsked): ApproverRule {
  const from = approversAt(to, draft.state(ROSTER));
  return plainRule({ ...ANY_ONE_PERSON, from, ...(apart === null ? {} : { separate: true }) });
}

function askPeople(draft: Draft, sending: Sending, ask: PeopleAsked, approvers: ApproverRule): void {
  const { intent, intentType, to, from, payload, withinMs } = sending;
  const { approval, nonce, says, requester, apart } = ask;
  openQuestion(draft, approval, {
    action: intent,
    tool: intentType,
    schema: digestOf({}),
    effectClass: "intent",
    args: draft.keep(payload),
    argsDigest: digestOf(payload),
    agent: from,
    requester,
    says,
    reason: `${from} asks for approval`,
    rule: "intent",
    policy: digestOf({ intent: intentType, to }),
    approvers,
    nonce,
    decideBy: withinMs === null ? null : draft.now + withinMs,
    executeBy: null,
    ...(apart === null || apart.length === 0 ? {} : { apart }),
    subject: { kind: "intent", intent, op: intent },
  });
}

function sentEvent(draft: Draft, sending: Sending) {
  const { intent: _id, withinMs, ask, payload, ...terms } = sending;
  const kept: Json = draft.keep(payload);
  const deadline = withinMs === null ? null : draft.now + withinMs;
  const body = {
    ...terms,
    payload: kept,
    payloadDigest: digestOf(payload),
    deadline,
    approval: ask?.approval ?? null,
  };
  return { type: "intent.sent", tv: 1, body } as const;
}

/** People find it in their inbox at once: it is with them, and waits for their answer. */
function putToPeople(draft: Draft, sending: Sending, ask: PeopleAsked): Sent | undefined {
  const approvers = ruleFor(draft, sending, ask);
  const roster = draft.state(ROSTER);
  const apart = ask.apart ?? [];
  const reason =
    whyUnmeetable({ approvers }, ask.requester, { roster, apart }) ??
    (approvers.from === null
      ? undefined
      : whyNobody(sending.to, roster, excludedPeople(approvers, ask.requester, apart)));
  if (reason !== undefined) return { kind: "unmeetable", reason };
  const { approval } = ask;
  draft.append(intentStream(sending.intent), [
    sentEvent(draft, sending),
    { type: "intent.delivered", tv: 1, body: { to: sending.to } },
    { type: "intent.acknowledged", tv: 1, body: { by: "approval" } },
    { type: "intent.waiting", tv: 1, body: { by: "approval", on: approval } },
  ]);
  askPeople(draft, sending, ask, approvers);
  return undefined;
}

export function sendIntent(draft: Draft, sending: Sending): Need | Sent {
  const { intent, requestId, ask } = sending;
  const ref = intentStream(intent);
  const write = [ref, ...(ask === null ? [] : [approvalStream(ask.approval)])];
  const names = requestId === null ? [] : [intentName(requestId)];
  const more = draft.need({ write, names, read: ask === null ? [] : [ROSTER] });
  if (more !== undefined) return more;
  const before = known(draft, sending);
  if (before !== undefined) return before;
  const fault = ask === null ? undefined : putToPeople(draft, sending, ask);
  if (fault !== undefined) return fault;
  if (ask === null) draft.append(ref, [sentEvent(draft, sending)]);
  if (requestId !== null) draft.take(intentName(requestId), ref);
  return { kind: "sent", intent, approval: ask?.approval ?? null };
}
