/**
 * Channel: webhooks. JSON that is signed by the rules of Standard Webhooks; every attempt sends the same bytes.
 * An intent for the agent that owns the endpoint is sent again until it is acknowledged: a webhook's response does not
 * acknowledge it.
 */
import { z } from "zod";
import { markDelivered } from "../agents/intents/rules/answer.ts";
import { isUnacknowledged } from "../agents/intents/stream.ts";
import type { JsonObject } from "../kernel/json.ts";
import { intentStream, type StreamRef } from "../kernel/stream.ts";
import type { Runtime } from "../runtime/runtime.ts";
import { readState, runCommand } from "../runtime/store-access.ts";
import {
  type Channel,
  type Delivery,
  type DeliveryContext,
  type DroppedOutcome,
  linkToPage,
  type MessageContent,
} from "./channel.ts";
import { postOutcome, postSafely } from "./post.ts";
import { webhookHeaders } from "./rules/endpoint.ts";
import type { SendOutcome } from "./rules/message.ts";
import { type LiveEndpoint, type LiveMessage, signingSecretsAt } from "./stream.ts";

type TenantStoreAndClock = Pick<Runtime, "store" | "tenant" | "clock">;

const NOT_ACKNOWLEDGED = "not_acknowledged";

async function isStillUnacknowledged(
  place: TenantStoreAndClock,
  { owner }: LiveEndpoint,
  ref: StreamRef,
): Promise<boolean | undefined> {
  const state = await readState(place, intentStream(ref.id));
  if (state.status === "none" || state.to !== owner || state.approval !== null) return undefined;
  return isUnacknowledged(state);
}

type IntentHandOver = {
  readonly endpoint: LiveEndpoint;
  readonly message: LiveMessage;
  readonly ref: StreamRef;
};
/** Sends the message if it is still wanted. Only an intent for the owner is checked and repeated. */
async function sendUntilAcknowledged(
  place: TenantStoreAndClock,
  hand: IntentHandOver,
  send: () => Promise<SendOutcome>,
): Promise<SendOutcome | DroppedOutcome> {
  const { endpoint, message, ref } = hand;
  const before =
    message.type === "intent.sent" ? await isStillUnacknowledged(place, endpoint, ref) : undefined;
  if (before === undefined) return send();
  if (!before) {
    const { last } = message;
    if (last?.problem === NOT_ACKNOWLEDGED) return { kind: "delivered", status: last.status };
    return { kind: "dropped", reason: "the agent has it already, or it is over" };
  }
  const outcome = await send();
  if (outcome.kind !== "delivered") return outcome;
  await runCommand(place, { write: [intentStream(ref.id)] }, (draft) => markDelivered(draft, ref.id));
  const isLeft = await isStillUnacknowledged(place, endpoint, ref);
  return isLeft === true ? { kind: "failed", status: outcome.status, problem: NOT_ACKNOWLEDGED } : outcome;
}

/** The same bytes at every attempt, unless the settings change. */
function webhookPayload({ type, at, data, ref }: MessageContent, publicUrl: string | null): JsonObject {
  const url = linkToPage(publicUrl, ref);
  return {
    type,
    timestamp: new Date(at).toISOString(),
    data: url === null ? data : { ...data, url },
  };
}

async function sendWebhook(
  { runtime: { secrets }, settings }: DeliveryContext,
  { job: { id, now }, endpoint, content }: Delivery,
  url: string,
) {
  const keys = await Promise.all(signingSecretsAt(endpoint, now).map((handle) => secrets.resolve(handle)));
  const body = JSON.stringify(webhookPayload(content, settings.publicUrl));
  const signed = webhookHeaders(keys, { id, seconds: Math.floor(now / 1_000), body });
  const headers = { ...signed, "content-type": "application/json", "user-agent": "holdpoint" };
  return postOutcome(await postSafely({ ...settings, url, headers, body }), now);
}

export const webhook = {
  kind: "webhook",
  title: "Webhook",
  address: "shown",
  example: "https://example.com/holdpoint",
  hint: "Messages are signed. The secret is shown once, when the endpoint is added.",
  target: z.object({ kind: z.literal("webhook"), url: z.string() }),
  async send(context, delivery) {
    const { endpoint, content, job } = delivery;
    if (endpoint.target.kind !== "webhook") throw new TypeError("the endpoint is not a webhook");
    const { url } = endpoint.target;
    return sendUntilAcknowledged(context.runtime, { endpoint, message: job.state, ref: content.ref }, () =>
      sendWebhook(context, delivery, url),
    );
  },
} as const satisfies Channel;
