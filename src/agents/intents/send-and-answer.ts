/** Intents performed: send (durable when it resolves), read, list, acknowledge, wait, answer and cancel. */

import { plainJson } from "../../effects/arguments.ts";
import { HoldpointError } from "../../kernel/errors.ts";
import { isJsonObject, type Json } from "../../kernel/json.ts";
import { channelField, type Via } from "../../kernel/principal.ts";
import { refusalData } from "../../kernel/refusals.ts";
import { approvalStream, intentStream, ROSTER } from "../../kernel/stream.ts";
import { displayValue } from "../../kernel/text.ts";
import type { Draft, Need } from "../../kernel/transaction.ts";
import { rowPage, rowSummary } from "../../runtime/lists.ts";
import { freshId, type Runtime } from "../../runtime/runtime.ts";
import { redactJson, redactText, resolveSecrets } from "../../runtime/secrets.ts";
import { loadValue, readState, runCommand } from "../../runtime/store-access.ts";
import type { TenantStore, ViewRow } from "../../stores/store.ts";
import type { Lineage } from "../../workflows/events.ts";
import { checkCancelReason, type IntentAnswer, type IntentPage, type OutgoingIntent } from "./input.ts";
import {
  answerIntent,
  cancelIntent,
  type IntentMove,
  markAcknowledged,
  markWaiting,
} from "./rules/answer.ts";
import {
  HUMAN_APPROVAL_INTENT,
  type IntentApprovalRequest,
  intentName,
  readRecipient,
  type SendIntentCommand,
  sendIntent,
} from "./rules/send.ts";
import {
  type IntentEnd,
  type IntentTerms,
  type LifecycleStatus,
  type LiveIntent,
  lifecycleStatus,
} from "./stream.ts";

/** An intent in full. */
export type Intent = Omit<IntentTerms, "payloadDigest"> & {
  readonly id: string;
  readonly lifecycleStatus: LifecycleStatus;
} & Pick<LiveIntent, "status" | "sentAt" | "deliveredAt" | "acknowledged" | "waitsOn" | "end">;

export type IntentSummary = { readonly id: string; readonly [field: string]: Json };
export type IntentList = { readonly items: readonly IntentSummary[]; readonly next: string | null };

export function unknownIntent(id: string): HoldpointError {
  return new HoldpointError("unknown_id", `There is no intent ${displayValue(id)}.`, {
    next: "`holdpoint intents list` lists them.",
  });
}

/** People's modifications may be large; those are stored separately from the answer. */
export async function loadAnswerData(place: TenantStore, kept: Json, approval: string | null): Promise<Json> {
  const data = await loadValue(place, kept);
  if (approval === null || !isJsonObject(data) || data["modifications"] == null) return data;
  return { ...data, modifications: await loadValue(place, data["modifications"]) };
}

async function loadIntentEnd(place: TenantStore, { end, approval }: LiveIntent): Promise<IntentEnd | null> {
  if (end?.status !== "completed") return end;
  return { ...end, data: await loadAnswerData(place, end.data, approval) };
}

async function readLiveIntent(place: TenantStore, id: string): Promise<LiveIntent> {
  const state = await readState(place, intentStream(id));
  if (state.status === "none") throw unknownIntent(id);
  return state;
}

async function loadIntent(place: TenantStore, id: string, state: LiveIntent): Promise<Intent> {
  const {
    payloadDigest: _digest,
    waiters: _waiters,
    changedAt: _changed,
    refusals: _refused,
    ...rest
  } = state;
  const payload = await loadValue(place, state.payload);
  const end = await loadIntentEnd(place, state);
  return structuredClone({ ...rest, id, lifecycleStatus: lifecycleStatus(state.status), payload, end });
}

export async function getIntent(place: TenantStore, id: string): Promise<Intent> {
  return loadIntent(place, id, await readLiveIntent(place, id));
}

/** Senders write `agent://name`. */
function bucketOf(address: string): string {
  return address.startsWith("agent://") ? (readRecipient("", address) ?? address) : address;
}

/** The narrowest list that contains the requested intents. */
function viewOf({ to, from, status }: IntentPage): { readonly view: string; readonly bucket?: string } {
  if (to !== undefined) return { view: "intents_to", bucket: bucketOf(to) };
  if (from !== undefined) return { view: "intents_from", bucket: bucketOf(from) };
  return { view: "intents", ...(status === undefined ? {} : { bucket: status }) };
}

function matchesPage({ data }: ViewRow, { to, from, status }: IntentPage): boolean {
  const isOf = (field: string, wanted: string | undefined) => wanted === undefined || data[field] === wanted;
  const who = (name: string | undefined) => (name === undefined ? undefined : bucketOf(name));
  return isOf("to", who(to)) && isOf("from", who(from)) && isOf("status", status);
}

export async function listIntents(place: TenantStore, page: IntentPage = {}): Promise<IntentList> {
  const { limit = 100, order = "newest", after } = page;
  const list = { ...viewOf(page), kind: "intent", prefix: "int" } as const;
  const { rows, next } = await rowPage(place, { ...list, order, limit, after }, async (row) =>
    matchesPage(row, page),
  );
  return { items: rows.map(rowSummary), next };
}

function refusedIntentError(id: string, answer: Extract<IntentMove, { kind: "refused" }>): HoldpointError {
  return new HoldpointError(answer.code, `Nothing became of it: ${answer.reason} (${id}).`, {
    data: refusalData("request", answer.isRecorded, "the intent stands as it was"),
    details: { intent: id, status: answer.status },
  });
}

async function runIntentCommand(
  runtime: Pick<Runtime, "store" | "tenant" | "clock">,
  id: string,
  rules: (draft: Draft) => Need | IntentMove,
): Promise<Intent> {
  const needs = { write: [intentStream(id)], read: [ROSTER] };
  const answer = await runCommand(runtime, needs, rules);
  if (answer.kind === "unknown") throw unknownIntent(id);
  if (answer.kind === "refused") throw refusedIntentError(id, answer);
  return getIntent(runtime, id);
}

type SpeakerOptions = Via & { readonly by?: string };

const intentCommandBy = (runtime: Runtime, intent: string, said: SpeakerOptions) => ({
  ...{ intent, by: said.by ?? runtime.agent },
  ...channelField(said),
});

export const acknowledgeIntent = (runtime: Runtime, id: string, said: SpeakerOptions): Promise<Intent> =>
  runIntentCommand(runtime, id, (draft) => markAcknowledged(draft, intentCommandBy(runtime, id, said)));

export const recordIntentWaiting = (
  runtime: Runtime,
  id: string,
  said: SpeakerOptions & { readonly on: string },
): Promise<Intent> =>
  runIntentCommand(runtime, id, (draft) =>
    markWaiting(draft, { ...intentCommandBy(runtime, id, said), on: said.on }),
  );

/** Answers are stored in clear, so the values of the payload's secrets are redacted from them. */
async function secretsOfPayload(runtime: Runtime, id: string): Promise<ReadonlyMap<string, string>> {
  const { payload } = await getIntent(runtime, id);
  return resolveSecrets(runtime.secrets, payload).catch(() => new Map<string, string>());
}

export async function answerIntentNow(
  runtime: Runtime,
  id: string,
  answer: IntentAnswer & Via,
): Promise<Intent> {
  const speaker = intentCommandBy(runtime, id, {
    ...channelField(answer),
    ...(answer.by === undefined ? {} : { by: answer.by }),
  });
  const known = await secretsOfPayload(runtime, id);
  const said =
    "failed" in answer
      ? ({ status: "failed", reason: redactText(answer.failed, known) } as const)
      : ({ status: "completed", data: redactJson(plainJson(answer.data ?? null), known) } as const);
  return runIntentCommand(runtime, id, (draft) => answerIntent(draft, { ...speaker, ...said }));
}

export async function cancelIntentNow(
  runtime: Runtime,
  id: string,
  said: SpeakerOptions & { readonly reason: string },
): Promise<Intent> {
  const text = redactText(checkCancelReason(said.reason), await secretsOfPayload(runtime, id));
  const cancelling = { ...intentCommandBy(runtime, id, said), reason: text };
  return runIntentCommand(runtime, id, (draft) => cancelIntent(draft, cancelling));
}

export type SentIntent = {
  readonly id: string;
  /** The approval that it opened. */
  readonly approval: string | null;
  /** It was sent before, under the same request id. */
  readonly isKnown: boolean;
};

/** The agent's own description, which is not verified. */
function agentWords(payload: Json): string | null {
  if (!isJsonObject(payload)) return null;
  const { task, risk_level: risk } = payload;
  const parts = [
    typeof task === "string" ? task : "",
    typeof risk === "string" ? `(risk level: ${risk})` : "",
  ].filter((part) => part !== "");
  return parts.length === 0 ? null : parts.join(" ").slice(0, 10_000).toWellFormed();
}

type IntentOrigin = {
  readonly from: string;
  readonly requester: readonly string[];
  readonly within: Lineage | null;
  /** People excluded by separation of duties; null: not required. */
  readonly apart: readonly string[] | null;
};

/** Builds the command for the rules; for people, with the approval request. */
export function prepareSending(
  runtime: Runtime,
  given: OutgoingIntent & { readonly to: string },
  { from, requester, within, apart }: IntentOrigin,
): SendIntentCommand {
  const payload = plainJson(given.payload);
  const ask: IntentApprovalRequest | null =
    given.intentType === HUMAN_APPROVAL_INTENT
      ? {
          approval: freshId(runtime, "apr"),
          nonce: freshId(runtime, "non"),
          says: agentWords(payload),
          requester,
          apart,
        }
      : null;
  const { intentType, toAgent, to, requestId = null, withinMs = null } = given;
  const { parent = null, correlation = null } = given;
  const terms = { intentType, toAgent, to, from, payload, requestId, withinMs, parent, correlation };
  return { ...terms, intent: freshId(runtime, "int"), within, ask };
}

export function nobodyCanDecideError(to: string, reason: string): HoldpointError {
  return new HoldpointError("unsatisfiable_quorum", `Nobody could decide what is sent to ${to}: ${reason}.`);
}

export function notifyApprovers(runtime: Runtime, sending: SendIntentCommand, now: number): void {
  const { ask, intent, intentType, withinMs } = sending;
  if (ask === null) return;
  const decideBy = withinMs === null ? null : now + withinMs;
  runtime.notify({ kind: "waiting", action: intent, approval: ask.approval, tool: intentType, decideBy });
}

export async function sendIntentNow(
  runtime: Runtime,
  given: OutgoingIntent & Via & { readonly to: string },
): Promise<SentIntent> {
  const from = given.from ?? runtime.agent;
  const requester = from === runtime.agent ? runtime.requester : [from];
  const apart = runtime.separate === true ? [] : null;
  const terms = prepareSending(runtime, given, { from, requester, within: null, apart });
  const sending = { ...terms, ...channelField(given) };
  const { ask, intent, requestId, to } = sending;
  const needs = {
    write: [intentStream(intent), ...(ask === null ? [] : [approvalStream(ask.approval)])],
    read: ask === null ? [] : [ROSTER],
    names: requestId === null ? [] : [intentName(requestId)],
  };
  const answer = await runCommand(runtime, needs, (draft) => sendIntent(draft, sending));
  if (answer.kind === "unmeetable") throw nobodyCanDecideError(to, answer.reason);
  if (answer.kind === "conflict")
    throw new HoldpointError(
      "request_conflict",
      `The request id "${requestId}" was used for another intent, ${answer.intent}.`,
      {
        data: "Nothing was written.",
        next: "Use a new request id for a new intent.",
        details: { intent: answer.intent },
      },
    );
  if (answer.kind === "sent") notifyApprovers(runtime, sending, runtime.clock.now());
  return { id: answer.intent, approval: answer.approval, isKnown: answer.kind === "existing" };
}
