/** Channel: webhooks. JSON that is signed by the rules of Standard Webhooks; every attempt sends the same bytes. */
import { z } from "zod";
import type { JsonObject } from "../kernel/json.ts";
import type { Channel, Delivery } from "./channel.ts";
import { type DeliveryContext, linkToPage, type MessageContent } from "./content.ts";
import { sendUntilAcknowledged } from "./make-messages.ts";
import { postOutcome, postSafely } from "./post.ts";
import { webhookHeaders } from "./rules/endpoint.ts";
import { signingSecretsAt } from "./stream.ts";

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
