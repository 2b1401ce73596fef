/**
 * Sending an intent, and resolving its address: an agent by its name, a service or a person by `service:` or `person:`
 * before it; for an approval by people, a person, a role or a group.
 * - Per tenant, a request id always leads to one intent; with other content it is a conflict.
 * - An intent that people are to approve is an approval: both are written in one commit.
 * - `agent://approver` means `role:supervisor`. In a tenant without a roster any person may decide instead.
 * - With a roster, approvers must be in it, in good standing, and have no role or one that decides.
 * - A workflow's intent is created in the commit in which the workflow's stream records it, and sent once however often it is
 *   replayed.
 */

import { openQuestion } from "../../../approvals/rules/ask.ts";
import { digestOf } from "../../../kernel/canonical-json.ts";
import type { Json } from "../../../kernel/json.ts";
import { isPrincipal, type Via } from "../../../kernel/principal.ts";
import {
  approvalStream,
  intentStream,
  type NewEvent,
  ROSTER,
  workflowStream,
} from "../../../kernel/stream.ts";
import type { Draft, Need } from "../../../kernel/transaction.ts";
import { ROLE_SCOPES } from "../../../people/rules/scopes.ts";
import { type Member, peopleAmong, ROLES, type RosterState } from "../../../people/stream.ts";
import { whyUnmeetable } from "../../../policy/rules/stages.ts";
import {
  ANY_ONE_PERSON,
  type ApproverRule,
  excludedPeople,
  plainRule,
} from "../../../policy/rules/verdict.ts";
import {
  lockOwnRun,
  type Recorded,
  type Runner,
  reportWritten,
  wasRecorded,
} from "../../../workflows/rules/lifecycle.ts";
import type { IntentTerms, LiveIntent } from "../stream.ts";

export const HUMAN_APPROVAL_INTENT = "human_approval";
/** A rollback's request to its agent. Only the engine sends this type. */
export const COMPENSATION_INTENT = "compensation";
const SCHEME = "agent://";
const APPROVER = "approver";
const MOST_NAMED = 5;

const bare = (address: string): string =>
  address.startsWith(SCHEME) ? address.slice(SCHEME.length) : address;

/** A bare name is an agent's. A role or a group cannot answer: each of its people would have to. */
function principalAtAddress(name: string): string | undefined {
  if (/^(role|group):/.test(name)) return undefined;
  const principal = /^(agent|service|person):/.test(name) ? name : `agent:${name}`;
  return isPrincipal(principal) ? principal : undefined;
}

function peopleAtAddress(name: string): string | undefined {
  if (name === APPROVER) return "role:supervisor";
  if (ROLES.some((role) => role === name)) return `role:${name}`;
  if (/^role:/.test(name)) return ROLES.some((role) => `role:${role}` === name) ? name : undefined;
  if (/^group:[^\s]{1,128}$/.test(name)) return name;
  return name.startsWith("person:") && isPrincipal(name) ? name : undefined;
}

/** undefined: the address has no recipient that could answer this type. */
export function readRecipient(intentType: string, address: string): string | undefined {
  return intentType === HUMAN_APPROVAL_INTENT
    ? peopleAtAddress(bare(address))
    : principalAtAddress(bare(address));
}

/** Who may decide, in the form of an approver rule; null: any person. */
function approversAtAddress(to: string, roster: RosterState): readonly string[] | null {
  return to === "role:supervisor" && roster.members.size === 0 ? null : [to];
}

const hasDecidingRole = ({ roles }: Member): boolean =>
  roles.length === 0 || roles.some((role) => ROLE_SCOPES[role].includes("approvals:decide"));

function personFault({ members, suspended }: RosterState, person: string): string | undefined {
  if (suspended.includes(person)) return `${person} is suspended`;
  if (members.size === 0) return undefined;
  const member = members.get(person);
  if (member === undefined) return `${person} is not in the list of people`;
  return hasDecidingRole(member) ? undefined : `${person} has no role that decides`;
}

/** Why none of the addressed people can decide; undefined if one can. `out`: people excluded in any case. */
function whyNobodyCanApprove(to: string, roster: RosterState, out: readonly string[]): string | undefined {
  const meant = peopleAmong(roster, [to]);
  const faults = meant.map((person) =>
    out.includes(person) ? `${person} may not decide this` : personFault(roster, person),
  );
  const isMet = meant.length === 0 || faults.includes(undefined);
  return isMet ? undefined : faults.slice(0, MOST_NAMED).join("; ");
}

/** What the approval consists of, in addition to the intent. */
export type IntentApprovalRequest = {
  readonly approval: string;
  readonly nonce: string;
  /** The agent's words: they are untrusted. */
  readonly says: string | null;
  readonly requester: readonly string[];
  /** People excluded by separation of duties; null: not required. */
  readonly apart: readonly string[] | null;
};

export type SendIntentCommand = Omit<IntentTerms, "payloadDigest" | "deadline" | "approval"> &
  Via & {
    readonly intent: string;
    readonly withinMs: number | null;
    /** null: an agent answers. */
    readonly ask: IntentApprovalRequest | null;
  };

type SendIntentAnswer =
  | { readonly kind: "sent" | "existing"; readonly intent: string; readonly approval: string | null }
  | { readonly kind: "conflict"; readonly intent: string }
  | { readonly kind: "unmeetable"; readonly reason: string };

export const intentName = (requestId: string): string => `intent:${requestId}`;

function isSame(state: LiveIntent, sending: SendIntentCommand): boolean {
  const { intentType, to, from, payload, parent, correlation, withinMs } = sending;
  const span = state.deadline === null ? null : state.deadline - state.sentAt;
  const fields = { intentType, to, from, parent, correlation };
  const same = Object.entries(fields).every(
    ([field, value]) => state[field as keyof typeof fields] === value,
  );
  return same && span === withinMs && state.payloadDigest === digestOf(payload);
}

function existingIntent(draft: Draft, sending: SendIntentCommand): Need | SendIntentAnswer | undefined {
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

function ruleFor(draft: Draft, { to }: SendIntentCommand, { apart }: IntentApprovalRequest): ApproverRule {
  const from = approversAtAddress(to, draft.state(ROSTER));
  return plainRule({ ...ANY_ONE_PERSON, from, ...(apart === null ? {} : { separate: true }) });
}

function openIntentApproval(
  draft: Draft,
  sending: SendIntentCommand,
  ask: IntentApprovalRequest,
  approvers: ApproverRule,
): void {
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

function sentEvent(draft: Draft, sending: SendIntentCommand) {
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

/** It is in people's inbox at once, so it is recorded as delivered, acknowledged and waiting. */
function sendToPeople(
  draft: Draft,
  sending: SendIntentCommand,
  ask: IntentApprovalRequest,
): SendIntentAnswer | undefined {
  const approvers = ruleFor(draft, sending, ask);
  const roster = draft.state(ROSTER);
  const apart = ask.apart ?? [];
  const reason =
    whyUnmeetable({ approvers }, ask.requester, { roster, apart }) ??
    (approvers.from === null
      ? undefined
      : whyNobodyCanApprove(sending.to, roster, excludedPeople(approvers, ask.requester, apart)));
  if (reason !== undefined) return { kind: "unmeetable", reason };
  const { approval } = ask;
  draft.append(intentStream(sending.intent), [
    sentEvent(draft, sending),
    { type: "intent.delivered", tv: 1, body: { to: sending.to } },
    { type: "intent.acknowledged", tv: 1, body: { by: "approval" } },
    { type: "intent.waiting", tv: 1, body: { by: "approval", on: approval } },
  ]);
  openIntentApproval(draft, sending, ask, approvers);
  return undefined;
}

export function sendIntent(draft: Draft, sending: SendIntentCommand): Need | SendIntentAnswer {
  const { intent, requestId, ask } = sending;
  const ref = intentStream(intent);
  const write = [ref, ...(ask === null ? [] : [approvalStream(ask.approval)])];
  const names = requestId === null ? [] : [intentName(requestId)];
  const more = draft.need({ write, names, read: ask === null ? [] : [ROSTER] });
  if (more !== undefined) return more;
  const before = existingIntent(draft, sending);
  if (before !== undefined) return before;
  const fault = ask === null ? undefined : sendToPeople(draft, sending, ask);
  if (fault !== undefined) return fault;
  if (ask === null) draft.append(ref, [sentEvent(draft, sending)]);
  if (requestId !== null) draft.take(intentName(requestId), ref);
  return { kind: "sent", intent, approval: ask?.approval ?? null };
}

type NotSent = { readonly kind: "unmeetable"; readonly reason: string };

export function sendFromWorkflow(
  draft: Draft,
  runner: Runner,
  {
    op,
    before,
    sending,
  }: { readonly op: string; readonly before: readonly NewEvent[]; readonly sending: SendIntentCommand },
): Need | Recorded | NotSent {
  const state = lockOwnRun(draft, runner, "run");
  if ("kind" in state) return state;
  if (wasRecorded(state, runner)) return reportWritten(draft, state, runner.workflow, []);
  if (state.status !== "executing") return { kind: "turned" };
  const sent = sendIntent(draft, sending);
  if (sent.kind === "need" || sent.kind === "unmeetable") return sent;
  const { intentType, to, payload } = sending;
  const body = { op, intent: sent.intent, intentType, to, payloadDigest: digestOf(payload) };
  const events = [...before, { type: "send.made", tv: 1, body }];
  draft.append(workflowStream(runner.workflow), events);
  return reportWritten(draft, state, runner.workflow, events);
}
