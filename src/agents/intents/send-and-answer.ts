/** Sending an intent (durable when it resolves) and reading one, for its verbs and for workflows that send. */

import { plainJson } from "../../effects/arguments.ts";
import { HoldpointError } from "../../kernel/errors.ts";
import { checkFields, rejectInput } from "../../kernel/fields.ts";
import { isJsonObject, type Json } from "../../kernel/json.ts";
import { channelField, type Via } from "../../kernel/principal.ts";
import { approvalStream, intentStream, ROSTER } from "../../kernel/stream.ts";
import { displayValue } from "../../kernel/text.ts";
import type { Need } from "../../kernel/transaction.ts";
import { freshId, type Runtime } from "../../runtime/runtime.ts";
import { loadValue, readState, runCommand } from "../../runtime/store-access.ts";
import type { TenantStore } from "../../stores/store.ts";
import type { Lineage } from "../../workflows/events.ts";
import type { Intent, OutgoingIntent } from "./contract.ts";
import {
  HUMAN_APPROVAL_INTENT,
  type IntentApprovalRequest,
  intentName,
  type SendIntentCommand,
  sendIntent,
} from "./rules/send.ts";
import { type IntentEnd, type LiveIntent, lifecycleStatus } from "./stream.ts";

export type IntentWaitOptions = {
  /** How long to wait. Default: no limit. The intent goes on afterwards. */
  readonly timeoutSeconds?: number;
  readonly signal?: AbortSignal;
};

export function checkWaitOptions(options: IntentWaitOptions): IntentWaitOptions {
  const { timeoutSeconds, signal } = checkFields("Waiting", options, ["timeoutSeconds", "signal"]);
  if (timeoutSeconds !== undefined && !(Number.isFinite(timeoutSeconds) && timeoutSeconds >= 0))
    rejectInput("timeoutSeconds is a number of at least 0.");
  if (signal !== undefined && !(signal instanceof AbortSignal)) rejectInput("A signal is an AbortSignal.");
  return options;
}

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

export async function getIntent(place: TenantStore, id: string): Promise<Intent> {
  const state = await readState(place, intentStream(id));
  if (state.status === "none") throw unknownIntent(id);
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

type SentIntent = {
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
  return new HoldpointError("unsatisfiable_quorum", `No person can decide what is sent to ${to}: ${reason}.`);
}

export function notifyApprovers(runtime: Runtime, sending: SendIntentCommand, now: number): void {
  const { ask, intent, intentType, withinMs } = sending;
  if (ask === null) return;
  const decideBy = withinMs === null ? null : now + withinMs;
  runtime.notify({ kind: "waiting", action: intent, approval: ask.approval, tool: intentType, decideBy });
}

type NewIntent = OutgoingIntent & Via & { readonly to: string };
type SendDecision = Exclude<ReturnType<typeof sendIntent>, Need>;

/** The command, with what it locks. */
export function prepareIntent(runtime: Runtime, given: NewIntent) {
  const from = given.from ?? runtime.agent;
  const requester = from === runtime.agent ? runtime.requester : [from];
  const apart = runtime.separate === true ? [] : null;
  const terms = prepareSending(runtime, given, { from, requester, within: null, apart });
  const { ask, intent, requestId } = terms;
  const needs = {
    write: [intentStream(intent), ...(ask === null ? [] : [approvalStream(ask.approval)])],
    read: ask === null ? [] : [ROSTER],
    names: requestId === null ? [] : [intentName(requestId)],
  };
  return { input: { ...terms, ...channelField(given) }, needs };
}

/** After the commit. */
export function sentOrThrow(runtime: Runtime, answer: SendDecision, sending: SendIntentCommand): SentIntent {
  if (answer.kind === "unmeetable") throw nobodyCanDecideError(sending.to, answer.reason);
  if (answer.kind === "conflict")
    throw new HoldpointError(
      "request_conflict",
      `The request id "${sending.requestId}" was used for another intent, ${answer.intent}.`,
      {
        data: "Nothing was written.",
        next: "Use a new request id for a new intent.",
        details: { intent: answer.intent },
      },
    );
  if (answer.kind === "sent") notifyApprovers(runtime, sending, runtime.clock.now());
  return { id: answer.intent, approval: answer.approval, isKnown: answer.kind === "existing" };
}

export async function sendIntentNow(runtime: Runtime, given: NewIntent): Promise<SentIntent> {
  const { input, needs } = prepareIntent(runtime, given);
  return sentOrThrow(runtime, await runCommand(runtime, needs, (draft) => sendIntent(draft, input)), input);
}
