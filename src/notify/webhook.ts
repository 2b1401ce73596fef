/**
 * Channel: webhooks. Posts to an address that a person entered, and cannot be made to reach anything else.
 * - The name is resolved once; if any of its addresses is not public, nothing is sent. The connection goes to those
 *   addresses only, even if the name resolves differently afterwards.
 * - https only; http only to this machine, and only if private addresses are allowed. No redirect, no user name.
 * - Of the response only the status is kept, and at most 1 KB is read. Every attempt sends the same bytes.
 */
import { lookup as systemLookup } from "node:dns/promises";
import { request as httpRequest, type IncomingMessage } from "node:http";
import { request as httpsRequest, type RequestOptions } from "node:https";
import { isIP, type LookupFunction } from "node:net";
import type { JsonObject } from "../kernel/json.ts";
import type { Runtime } from "../runtime/runtime.ts";
import { kindOfAddress, type ResolveHost } from "./addresses.ts";
import { linkToPage, type MessageContent } from "./content.ts";
import { webhookHeaders } from "./rules/endpoint.ts";
import type { SendOutcome } from "./rules/message.ts";
import type { DeliverySettings } from "./settings.ts";
import { type LiveEndpoint, signingSecretsAt } from "./stream.ts";

type SafeRequest = {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly allowPrivate: boolean;
  readonly timeoutMs: number;
  readonly resolve?: ResolveHost;
  /** Additional certificate authorities to trust. */
  readonly ca?: string;
};

/** `refused`: nothing was sent. `problem` is a code, and never the response text. */
export type SafeAnswer =
  | { readonly kind: "answered"; readonly status: number }
  | { readonly kind: "refused" | "failed"; readonly problem: string };

const MOST_BYTES = 1_024;

const resolveByName: ResolveHost = async (hostname) =>
  (await systemLookup(hostname, { all: true, verbatim: true })).map(({ address }) => address);

const refusedRequest = (problem: string): SafeAnswer => ({ kind: "refused", problem });

type RequestTarget = { readonly url: URL; readonly hostname: string };

/** Checks that need only the text. */
export function readWebhookUrl(text: string): RequestTarget | { readonly problem: string } {
  if (!URL.canParse(text)) return { problem: "not_a_url" };
  const url = new URL(text);
  if (url.protocol !== "https:" && url.protocol !== "http:") return { problem: "not_https" };
  if (url.username !== "" || url.password !== "") return { problem: "user_in_url" };
  const hostname = url.hostname.replace(/^\[|\]$/g, "");
  return hostname === "" ? { problem: "not_a_url" } : { url, hostname };
}

type CheckedAddresses = { readonly addresses: readonly string[] } | { readonly problem: string };

/** Empty if the name is unknown, or DNS does not answer in time. */
async function lookUpHost(hostname: string, { resolve = resolveByName }: SafeRequest, late: AbortSignal) {
  if (isIP(hostname) !== 0) return [hostname];
  const tooLate = new Promise<readonly string[]>((done) => {
    late.addEventListener("abort", () => done([]), { once: true });
  });
  const found: Promise<readonly string[]> = resolve(hostname).catch(() => []);
  return Promise.race([found, tooLate]);
}

async function addressesOf(
  { url, hostname }: RequestTarget,
  request: SafeRequest,
  late: AbortSignal,
): Promise<CheckedAddresses> {
  const { allowPrivate } = request;
  const addresses: readonly string[] = await lookUpHost(hostname, request, late);
  if (addresses.length === 0) return { problem: "name_not_found" };
  const kinds = addresses.map(kindOfAddress);
  const isAllowed = (kind: string) => kind === "public" || (allowPrivate && kind !== "refused");
  if (!kinds.every(isAllowed)) return { problem: "not_public" };
  const isPlain = url.protocol === "http:";
  if (isPlain && !(allowPrivate && kinds.every((kind) => kind === "loopback")))
    return { problem: "not_https" };
  return { addresses };
}

/** Resolves every name to the addresses that were checked. */
function pinnedLookup(addresses: readonly string[]): LookupFunction {
  const all = addresses.map((address) => ({ address, family: isIP(address) }));
  const [first = { address: "", family: 4 }] = all;
  return (_hostname, options, done) => {
    if (options.all === true) done(null, all);
    else done(null, first.address, first.family);
  };
}

/** An error code: error texts may be confidential. */
function problemOf(error: unknown): string {
  const { code } = error as { readonly code?: unknown };
  return typeof code === "string" && /^[A-Za-z][A-Za-z0-9_]{0,63}$/.test(code) ? code : "connection_failed";
}

/** Reads a little, so that the receiver can finish its response, then closes. */
function hangUp(answer: IncomingMessage): void {
  let read = 0;
  answer.on("data", (chunk: Buffer) => {
    read += chunk.length;
    if (read > MOST_BYTES) answer.destroy();
  });
  answer.on("error", () => {});
}

type Connection = { readonly lookup: LookupFunction; readonly late: AbortSignal };

function post({ url, hostname }: RequestTarget, request: SafeRequest, to: Connection): Promise<SafeAnswer> {
  const { headers, body, ca } = request;
  const bytes = Buffer.from(body);
  const options: RequestOptions = {
    method: "POST",
    lookup: to.lookup,
    signal: to.late,
    // A new connection: none that was opened earlier for this name is reused.
    agent: false,
    headers: { ...headers, "content-length": bytes.length, connection: "close" },
    ...(isIP(hostname) === 0 ? { servername: hostname } : {}),
    ...(ca === undefined ? {} : { ca }),
  };
  const send = url.protocol === "https:" ? httpsRequest : httpRequest;
  return new Promise((resolve) => {
    const sent = send(url, options, (answer) => {
      hangUp(answer);
      resolve({ kind: "answered", status: answer.statusCode ?? 0 });
    });
    sent.on("error", (error) => {
      const isLate = error.name === "AbortError" || error.name === "TimeoutError";
      resolve({ kind: "failed", problem: isLate ? "timed_out" : problemOf(error) });
    });
    sent.end(bytes);
  });
}

export async function postSafely(request: SafeRequest): Promise<SafeAnswer> {
  const target = readWebhookUrl(request.url);
  if ("problem" in target) return refusedRequest(target.problem);
  const late = AbortSignal.timeout(request.timeoutMs);
  const checked = await addressesOf(target, request, late);
  if ("problem" in checked) return refusedRequest(checked.problem);
  return post(target, request, { lookup: pinnedLookup(checked.addresses), late });
}

const HTTP_GONE = 410;

/** The same bytes at every attempt, unless the settings change. */
function webhookPayload({ type, at, data, ref }: MessageContent, publicUrl: string | null): JsonObject {
  const url = linkToPage(publicUrl, ref);
  return {
    type,
    timestamp: new Date(at).toISOString(),
    data: url === null ? data : { ...data, url },
  };
}

type WebhookJob = {
  readonly message: string;
  readonly endpoint: LiveEndpoint;
  readonly content: MessageContent;
  readonly now: number;
};

export async function sendWebhook(
  { secrets }: Pick<Runtime, "secrets">,
  settings: DeliverySettings,
  letter: WebhookJob & { readonly url: string },
): Promise<SendOutcome> {
  const { message: id, endpoint, content, now, url } = letter;
  const keys = await Promise.all(signingSecretsAt(endpoint, now).map((handle) => secrets.resolve(handle)));
  const body = JSON.stringify(webhookPayload(content, settings.publicUrl));
  const signed = webhookHeaders(keys, { id, seconds: Math.floor(now / 1_000), body });
  const headers = { ...signed, "content-type": "application/json", "user-agent": "holdpoint" };
  const answer = await postSafely({ ...settings, url, headers, body });
  if (answer.kind !== "answered") return { kind: "failed", status: null, problem: answer.problem };
  const { status } = answer;
  if (status >= 200 && status < 300) return { kind: "delivered", status };
  const problem = `status_${status}`;
  return status === HTTP_GONE ? { kind: "gone", status, problem } : { kind: "failed", status, problem };
}
