/**
 * Signatures of webhooks by the rules of Standard Webhooks: HMAC-SHA256 over `id.timestamp.body` with the bytes behind
 * `whsec_`, once for each secret that holds.
 */
import { createHmac } from "node:crypto";

const PREFIX = "whsec_";
const FORM = /^whsec_[A-Za-z0-9+/]{32,88}={0,2}$/;
const FEWEST_BYTES = 24;
const MOST_BYTES = 64;
export const SECRET_BYTES = 32;

export const secretText = (bytes: Uint8Array): string => PREFIX + Buffer.from(bytes).toString("base64");

export function isSigningSecret(text: unknown): text is string {
  if (typeof text !== "string" || !FORM.test(text)) return false;
  const bytes = Buffer.from(text.slice(PREFIX.length), "base64");
  return bytes.length >= FEWEST_BYTES && bytes.length <= MOST_BYTES && secretText(bytes) === text;
}

export type Signed = { readonly id: string; readonly seconds: number; readonly body: string };

const signature = (secret: string, { id, seconds, body }: Signed): string =>
  createHmac("sha256", Buffer.from(secret.slice(PREFIX.length), "base64"))
    .update(`${id}.${seconds}.${body}`)
    .digest("base64");

export function webhookHeaders(secrets: readonly string[], signed: Signed): Readonly<Record<string, string>> {
  return {
    "webhook-id": signed.id,
    "webhook-timestamp": String(signed.seconds),
    "webhook-signature": secrets.map((secret) => `v1,${signature(secret, signed)}`).join(" "),
  };
}
