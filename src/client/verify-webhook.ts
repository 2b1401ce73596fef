/**
 * For receivers: checks that a webhook was signed with the secret, and recently. Works in Node and in browsers.
 *
 * - The body is the text as received: parsing and serialising it again may change it.
 * - A webhook older or newer than the tolerance is refused, even if its signature is valid.
 */

/** Headers of the request: an object with lower-case names, or `Headers`. */
export type WebhookHeaders =
  | { get(name: string): string | null }
  | { readonly [name: string]: string | readonly string[] | undefined };

const TOLERANCE_SECONDS = 300;
const PREFIX = "whsec_";

function headerOf(headers: WebhookHeaders, name: string): string {
  const { get } = headers as { readonly get?: unknown };
  const value =
    typeof get === "function"
      ? (headers as { get(name: string): string | null }).get(name)
      : (headers as { readonly [name: string]: unknown })[name];
  return typeof value === "string" ? value : "";
}

function bytesOf(base64: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  } catch {
    return undefined;
  }
}

type Key = Awaited<ReturnType<typeof crypto.subtle.importKey>>;

/** Compared by the platform, in constant time. */
async function isSigned(key: Key, signature: string, text: Uint8Array<ArrayBuffer>): Promise<boolean> {
  const [version, value = ""] = signature.split(",", 2);
  const bytes = version === "v1" ? bytesOf(value) : undefined;
  return bytes !== undefined && crypto.subtle.verify("HMAC", key, bytes, text);
}

export type VerifyWebhook = {
  /** `whsec_…`; several during a rotation. */
  readonly secret: string | readonly string[];
  readonly headers: WebhookHeaders;
  /** The body as received. */
  readonly body: string;
  /** Largest allowed difference from the current time. Default: 300. */
  readonly toleranceSeconds?: number;
  /** Current time in milliseconds. Default: the clock's. */
  readonly now?: number;
};

/** Returns the webhook's id, which all its attempts share: drop duplicates by it. undefined: do not trust it. */
export async function verifyWebhook(given: VerifyWebhook): Promise<{ readonly id: string } | undefined> {
  const { secret, headers, body, toleranceSeconds = TOLERANCE_SECONDS, now = Date.now() } = given;
  const [id, seconds] = [headerOf(headers, "webhook-id"), headerOf(headers, "webhook-timestamp")];
  const isTimely = Math.abs(now / 1_000 - Number(seconds)) <= toleranceSeconds;
  if (id === "" || !/^\d{1,12}$/.test(seconds) || !isTimely) return undefined;
  const text = new TextEncoder().encode(`${id}.${seconds}.${body}`);
  const signatures = headerOf(headers, "webhook-signature").split(" ").slice(0, 10);
  for (const one of typeof secret === "string" ? [secret] : secret) {
    const bytes = one.startsWith(PREFIX) ? bytesOf(one.slice(PREFIX.length)) : undefined;
    if (bytes === undefined || bytes.length === 0) continue;
    const key = await crypto.subtle.importKey("raw", bytes, { name: "HMAC", hash: "SHA-256" }, false, [
      "verify",
    ]);
    for (const signature of signatures) if (await isSigned(key, signature, text)) return { id };
  }
  return undefined;
}
