/** Reading intents, and saying what becomes of them. */

import { recipientOf } from "../../core/intent/address.ts";
import type { IntentTerms } from "../../core/intent/events.ts";
import { acknowledge, answerIntent, cancelIntent, type Moved, waitsFor } from "../../core/intent/move.ts";
import {
  type IntentEnd,
  type LifecycleStatus,
  type LiveIntent,
  lifecycleOf,
} from "../../core/intent/state.ts";
import { plainJson } from "../../effects/arguments.ts";
import { HoldpointError } from "../../kernel/errors.ts";
import { isJsonObject, type Json } from "../../kernel/json.ts";
import { channelField, type Via } from "../../kernel/principal.ts";
import { refusalData } from "../../kernel/refusals.ts";
import { intentStream, ROSTER } from "../../kernel/stream.ts";
import { displayValue } from "../../kernel/text.ts";
import type { Draft, Need } from "../../kernel/transaction.ts";
import { rowPage, rowSummary } from "../../runtime/lists.ts";
import type { Runtime } from "../../runtime/runtime.ts";
import { redactJson, redactText, resolveSecrets } from "../../runtime/secrets.ts";
import { loadValue, readState, runCommand } from "../../runtime/store-access.ts";
import type { ViewRow } from "../../stores/store.ts";

import { checkReason, type IntentAnswer, type IntentPage } from "./check-intent.ts";

type Place = Pick<Runtime, "store" | "tenant">;

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

/** What people changed may be large, and is then kept beside the answer. */
export async function loadData(place: Place, kept: Json, approval: string | null): Promise<Json> {
  const data = await loadValue(place, kept);
  if (approval === null || !isJsonObject(data) || data["modifications"] == null) return data;
  return { ...data, modifications: await loadValue(place, data["modifications"]) };
}

async function loadEnd(place: Place, { end, approval }: LiveIntent): Promise<IntentEnd | null> {
  if (end?.status !== "completed") return end;
  return { ...end, data: await loadData(place, end.data, approval) };
}

export async function liveIntent(place: Place, id: string): Promise<LiveIntent> {
  const state = await readState(place, intentStream(id));
  if (state.status === "none") throw unknownIntent(id);
  return state;
}

export async function intentOf(place: Place, id: string, state: LiveIntent): Promise<Intent> {
  const {
    payloadDigest: _digest,
    waiters: _waiters,
    changedAt: _changed,
    refusals: _refused,
    ...rest
  } = state;
  const payload = await loadValue(place, state.payload);
  const end = await loadEnd(place, state);
  return structuredClone({ ...rest, id, lifecycleStatus: lifecycleOf(state.status), payload, end });
}

export async function getIntent(place: Place, id: string): Promise<Intent> {
  return intentOf(place, id, await liveIntent(place, id));
}

/** `agent://name` is what senders write. */
function bucketOf(address: string): string {
  return address.startsWith("agent://") ? (recipientOf("", address) ?? address) : address;
}

/** The narrowest list that holds what is asked for. */
function viewOf({ to, from, status }: IntentPage): { readonly view: string; readonly bucket?: string } {
  if (to !== undefined) return { view: "intents_to", bucket: bucketOf(to) };
  if (from !== undefined) return { view: "intents_from", bucket: bucketOf(from) };
  return { view: "intents", ...(status === undefined ? {} : { bucket: status }) };
}

function fits({ data }: ViewRow, { to, from, status }: IntentPage): boolean {
  const isOf = (field: string, wanted: string | undefined) => wanted === undefined || data[field] === wanted;
  const who = (name: string | undefined) => (name === undefined ? undefined : bucketOf(name));
  return isOf("to", who(to)) && isOf("from", who(from)) && isOf("status", status);
}

export async function listIntents(place: Place, page: IntentPage = {}): Promise<IntentList> {
  const { limit = 100, order = "newest", after } = page;
  const list = { ...viewOf(page), kind: "intent", prefix: "int" } as const;
  const { rows, next } = await rowPage(place, { ...list, order, limit, after }, async (row) =>
    fits(row, page),
  );
  return { items: rows.map(rowSummary), next };
}

function refused(id: string, answer: Extract<Moved, { kind: "refused" }>): HoldpointError {
  return new HoldpointError(answer.code, `Nothing became of it: ${answer.reason} (${id}).`, {
    data: refusalData("request", answer.isRecorded, "the intent stands as it was"),
    details: { intent: id, status: answer.status },
  });
}

async function say(
  runtime: Pick<Runtime, "store" | "tenant" | "clock">,
  id: string,
  rules: (draft: Draft) => Need | Moved,
): Promise<Intent> {
  const needs = { write: [intentStream(id)], read: [ROSTER] };
  const answer = await runCommand(runtime, needs, rules);
  if (answer.kind === "unknown") throw unknownIntent(id);
  if (answer.kind === "refused") throw refused(id, answer);
  return getIntent(runtime, id);
}

type Speaking = Via & { readonly by?: string };

const speakerOf = (runtime: Runtime, intent: string, said: Speaking) => ({
  ...{ intent, by: said.by ?? runtime.agent },
  ...channelField(said),
});

export const acknowledgeIntent = (runtime: Runtime, id: string, said: Speaking): Promise<Intent> =>
  say(runtime, id, (draft) => acknowledge(draft, speakerOf(runtime, id, said)));

export const intentWaits = (
  runtime: Runtime,
  id: string,
  said: Speaking & { readonly on: string },
): Promise<Intent> =>
  say(runtime, id, (draft) => waitsFor(draft, { ...speakerOf(runtime, id, said), on: said.on }));

/** What is said back is kept in clear, so the values of the payload's secrets are taken out of it. */
async function secretsIn(runtime: Runtime, id: string): Promise<ReadonlyMap<string, string>> {
  const { payload } = await getIntent(runtime, id);
  return resolveSecrets(runtime.secrets, payload).catch(() => new Map<string, string>());
}

export async function answerNow(runtime: Runtime, id: string, answer: IntentAnswer & Via): Promise<Intent> {
  const speaker = speakerOf(runtime, id, {
    ...channelField(answer),
    ...(answer.by === undefined ? {} : { by: answer.by }),
  });
  const known = await secretsIn(runtime, id);
  const said =
    "failed" in answer
      ? ({ status: "failed", reason: redactText(answer.failed, known) } as const)
      : ({ status: "completed", data: redactJson(plainJson(answer.data ?? null), known) } as const);
  return say(runtime, id, (draft) => answerIntent(draft, { ...speaker, ...said }));
}

export async function cancelNow(
  runtime: Runtime,
  id: string,
  said: Speaking & { readonly reason: string },
): Promise<Intent> {
  const text = redactText(checkReason(said.reason), await secretsIn(runtime, id));
  const cancelling = { ...speakerOf(runtime, id, said), reason: text };
  return say(runtime, id, (draft) => cancelIntent(draft, cancelling));
}
