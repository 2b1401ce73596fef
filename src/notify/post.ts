/**
 * Posts to an address that a person entered, and cannot be made to reach anything else: webhooks and chats.
 * - The name is resolved once; if any of its addresses is not public, nothing is sent. The connection goes to those
 *   addresses only, even if the name resolves differently afterwards.
 * - https only; http only to this machine, and only if private addresses are allowed. No redirect, no user name.
 * - An IP address must be known to be public: of IPv6 only global unicast, and none that embeds an IPv4 address. A mail address is
 *   plain: no name, list or quoting that a header or SMTP could interpret.
 * - Of the response only the status and Retry-After are kept, and at most 1 KB is read.
 */
import { lookup as systemLookup } from "node:dns/promises";
import { request as httpRequest, type IncomingMessage } from "node:http";
import { request as httpsRequest, type RequestOptions } from "node:https";
import { BlockList, isIP, type LookupFunction } from "node:net";
import type { SendOutcome } from "./rules/message.ts";

/** https://www.iana.org/assignments/iana-ipv4-special-registry and iana-ipv6-special-registry. */
const NOT_PUBLIC_V4 = [
  "0.0.0.0/8",
  "10.0.0.0/8",
  "100.64.0.0/10",
  "127.0.0.0/8",
  "169.254.0.0/16",
  "172.16.0.0/12",
  "192.0.0.0/24",
  "192.0.2.0/24",
  "192.31.196.0/24",
  "192.52.193.0/24",
  "192.88.99.0/24",
  "192.168.0.0/16",
  "192.175.48.0/24",
  "198.18.0.0/15",
  "198.51.100.0/24",
  "203.0.113.0/24",
  "224.0.0.0/4",
  "240.0.0.0/4",
];
const PUBLIC_V6 = ["2000::/3"];
/** Teredo, ORCHID and other protocol assignments, documentation, 6to4, the AS112 servers, SRv6. */
const NOT_PUBLIC_V6 = ["2001::/23", "2001:db8::/32", "2002::/16", "2620:4f:8000::/48", "3fff::/20"];
/** Networks that an operator may allow: this machine and private networks; never link-local ones. */
const PRIVATE_V4 = ["127.0.0.0/8", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10"];
const PRIVATE_V6 = ["::1/128", "fc00::/7"];
const LOOPBACK_V4 = ["127.0.0.0/8"];
const LOOPBACK_V6 = ["::1/128"];

type Ranges = { readonly v4: BlockList; readonly v6: BlockList };

function listOf(ranges: readonly string[], family: "ipv4" | "ipv6"): BlockList {
  const list = new BlockList();
  for (const range of ranges) {
    const [address = "", bits] = range.split("/");
    list.addSubnet(address, Number(bits), family);
  }
  return list;
}

const ranges = (v4: readonly string[], v6: readonly string[]): Ranges => ({
  v4: listOf(v4, "ipv4"),
  v6: listOf(v6, "ipv6"),
});

/** One list per family: a combined list would check IPv4-mapped addresses against its IPv4 ranges only. */
const NOT_PUBLIC = ranges(NOT_PUBLIC_V4, NOT_PUBLIC_V6);
const PUBLIC = ranges([], PUBLIC_V6);
const PRIVATE = ranges(PRIVATE_V4, PRIVATE_V6);
const LOOPBACK = ranges(LOOPBACK_V4, LOOPBACK_V6);

type AddressKind = "public" | "loopback" | "private" | "refused";

export function kindOfAddress(address: string): AddressKind {
  const family = isIP(address);
  if (family === 0 || address.includes("%")) return "refused";
  const holds = ({ v4, v6 }: Ranges) =>
    family === 4 ? v4.check(address, "ipv4") : v6.check(address, "ipv6");
  if (holds(LOOPBACK)) return "loopback";
  if (holds(PRIVATE)) return "private";
  if (holds(NOT_PUBLIC)) return "refused";
  return family === 4 || holds(PUBLIC) ? "public" : "refused";
}

/** One plain mail address: no name, list or quoting, nothing that a header or an SMTP command could interpret. */
const LOCAL = /^[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}$/;
const DOMAIN =
  /^(?=.{1,253}$)[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?(?:\.[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?)*$/;

export function isMailAddress(value: unknown): value is string {
  if (typeof value !== "string") return false;
  const at = value.lastIndexOf("@");
  return LOCAL.test(value.slice(0, at)) && at > 0 && DOMAIN.test(value.slice(at + 1));
}

export type ResolveHost = (hostname: string) => Promise<readonly string[]>;

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
  | { readonly kind: "answered"; readonly status: number; readonly retryAfter?: string }
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
      const { statusCode: status = 0, headers } = answer;
      const { "retry-after": retryAfter } = headers;
      resolve({ kind: "answered", status, ...(retryAfter === undefined ? {} : { retryAfter }) });
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
/** Too many requests, and unavailable: the receiver may say when to try again. */
const BUSY: readonly number[] = [429, 503];
const MOST_RETRY_AFTER_MS = 24 * 60 * 60 * 1_000;

/** Retry-After is a number of seconds, or a date. 0 if it is neither, or in the past; at most one day. */
function retryAfterMs(header: string | undefined, now: number): number {
  if (header === undefined) return 0;
  const at = /^\d{1,9}$/.test(header) ? now + Number(header) * 1_000 : Date.parse(header);
  return Number.isNaN(at) ? 0 : Math.min(Math.max(at - now, 0), MOST_RETRY_AFTER_MS);
}

/** 2xx is delivered; 410 ends the endpoint; anything else is retried, also if the outcome is unknown. */
export function postOutcome(answer: SafeAnswer, now: number): SendOutcome {
  if (answer.kind !== "answered") return { kind: "failed", status: null, problem: answer.problem };
  const { status, retryAfter } = answer;
  if (status >= 200 && status < 300) return { kind: "delivered", status };
  const problem = `status_${status}`;
  if (status === HTTP_GONE) return { kind: "gone", status, problem };
  const waitMs = BUSY.includes(status) ? retryAfterMs(retryAfter, now) : 0;
  return { kind: "failed", status, problem, ...(waitMs === 0 ? {} : { waitMs }) };
}
