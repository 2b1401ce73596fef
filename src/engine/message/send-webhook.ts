/** One attempt to tell a webhook. */

import { type LiveEndpoint, secretsAt } from "../../core/message/endpoint-state.ts";
import type { Outcome } from "../../core/message/message.ts";
import { webhookHeaders } from "../../core/message/signature.ts";
import type { JsonObject } from "../../kernel/json.ts";
import type { Runtime } from "../../runtime/runtime.ts";
import { type Content, linkTo } from "./content.ts";
import { safeRequest } from "./safe-request.ts";
import type { DeliverySettings } from "./settings.ts";

const GONE = 410;

/** The same bytes at every attempt, unless the settings were changed. */
function payloadOf({ type, at, data, ref }: Content, publicUrl: string | null): JsonObject {
  const url = linkTo(publicUrl, ref);
  return {
    type,
    timestamp: new Date(at).toISOString(),
    data: url === null ? data : { ...data, url },
  };
}

export type Letter = {
  readonly message: string;
  readonly endpoint: LiveEndpoint;
  readonly content: Content;
  readonly now: number;
};

export async function sendWebhook(
  { secrets }: Pick<Runtime, "secrets">,
  settings: DeliverySettings,
  letter: Letter & { readonly url: string },
): Promise<Outcome> {
  const { message: id, endpoint, content, now, url } = letter;
  const keys = await Promise.all(secretsAt(endpoint, now).map((handle) => secrets.resolve(handle)));
  const body = JSON.stringify(payloadOf(content, settings.publicUrl));
  const signed = webhookHeaders(keys, { id, seconds: Math.floor(now / 1_000), body });
  const headers = { ...signed, "content-type": "application/json", "user-agent": "holdpoint" };
  const answer = await safeRequest({ ...settings, url, headers, body });
  if (answer.kind !== "answered") return { kind: "failed", status: null, problem: answer.problem };
  const { status } = answer;
  if (status >= 200 && status < 300) return { kind: "delivered", status };
  const problem = `status_${status}`;
  return status === GONE ? { kind: "gone", status, problem } : { kind: "failed", status, problem };
}
