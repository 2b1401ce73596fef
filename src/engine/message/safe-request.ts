/**
 * Posts to an address that somebody typed in, and cannot be talked into reaching anything else.
 *
 * X1. The name is resolved once; if any of its addresses is not public, nothing is sent. The connection goes to those
 *     addresses and no others: what the name resolves to afterwards does not matter.
 * X2. https only; http only to the machine itself, and only where private addresses are allowed. No redirect is followed,
 *     and no user name is sent.
 * X3. Of the answer only its status is kept; no more than 1 KB of it is read.
 */
import { lookup as systemLookup } from "node:dns/promises";
import { request as httpRequest, type IncomingMessage } from "node:http";
import { request as httpsRequest, type RequestOptions } from "node:https";
import { isIP, type LookupFunction } from "node:net";
import { kindOfAddress } from "./public-address.ts";

export type Resolve = (hostname: string) => Promise<readonly string[]>;

export type SafeRequest = {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly allowPrivate: boolean;
  readonly timeoutMs: number;
  readonly resolve?: Resolve;
  /** Further authorities whose certificates are good. */
  readonly ca?: string;
};

/** `refused`: nothing was sent. `problem` is a word, and never what was answered. */
export type SafeAnswer =
  | { readonly kind: "answered"; readonly status: number }
  | { readonly kind: "refused" | "failed"; readonly problem: string };

const MOST_BYTES = 1_024;

const resolveByName: Resolve = async (hostname) =>
  (await systemLookup(hostname, { all: true, verbatim: true })).map(({ address }) => address);

const refused = (problem: string): SafeAnswer => ({ kind: "refused", problem });

type Target = { readonly url: URL; readonly hostname: string };

/** What can be said of the text alone. */
export function readTarget(text: string): Target | { readonly problem: string } {
  if (!URL.canParse(text)) return { problem: "not_a_url" };
  const url = new URL(text);
  if (url.protocol !== "https:" && url.protocol !== "http:") return { problem: "not_https" };
  if (url.username !== "" || url.password !== "") return { problem: "user_in_url" };
  const hostname = url.hostname.replace(/^\[|\]$/g, "");
  return hostname === "" ? { problem: "not_a_url" } : { url, hostname };
}

type Checked = { readonly addresses: readonly string[] } | { readonly problem: string };

/** Nothing where the name is unknown, or its servers do not answer in time. */
async function lookUp(hostname: string, { resolve = resolveByName }: SafeRequest, late: AbortSignal) {
  if (isIP(hostname) !== 0) return [hostname];
  const tooLate = new Promise<readonly string[]>((done) => {
    late.addEventListener("abort", () => done([]), { once: true });
  });
  const found: Promise<readonly string[]> = resolve(hostname).catch(() => []);
  return Promise.race([found, tooLate]);
}

async function addressesOf(
  { url, hostname }: Target,
  request: SafeRequest,
  late: AbortSignal,
): Promise<Checked> {
  const { allowPrivate } = request;
  const addresses: readonly string[] = await lookUp(hostname, request, late);
  if (addresses.length === 0) return { problem: "name_not_found" };
  const kinds = addresses.map(kindOfAddress);
  const isAllowed = (kind: string) => kind === "public" || (allowPrivate && kind !== "refused");
  if (!kinds.every(isAllowed)) return { problem: "not_public" };
  const isPlain = url.protocol === "http:";
  if (isPlain && !(allowPrivate && kinds.every((kind) => kind === "loopback")))
    return { problem: "not_https" };
  return { addresses };
}

/** Answers every question with what was checked. */
function pinned(addresses: readonly string[]): LookupFunction {
  const all = addresses.map((address) => ({ address, family: isIP(address) }));
  const [first = { address: "", family: 4 }] = all;
  return (_hostname, options, done) => {
    if (options.all === true) done(null, all);
    else done(null, first.address, first.family);
  };
}

/** A word for what went wrong; texts may hold what nobody is to see. */
function problemOf(error: unknown): string {
  const { code } = error as { readonly code?: unknown };
  return typeof code === "string" && /^[A-Za-z][A-Za-z0-9_]{0,63}$/.test(code) ? code : "connection_failed";
}

/** Reads a little, so that the receiver can finish its sentence, and hangs up. */
function hangUp(answer: IncomingMessage): void {
  let read = 0;
  answer.on("data", (chunk: Buffer) => {
    read += chunk.length;
    if (read > MOST_BYTES) answer.destroy();
  });
  answer.on("error", () => {});
}

type Connection = { readonly lookup: LookupFunction; readonly late: AbortSignal };

function post({ url, hostname }: Target, request: SafeRequest, to: Connection): Promise<SafeAnswer> {
  const { headers, body, ca } = request;
  const bytes = Buffer.from(body);
  const options: RequestOptions = {
    method: "POST",
    lookup: to.lookup,
    signal: to.late,
    // A connection of its own: none that was opened for a name at another time is used again.
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

export async function safeRequest(request: SafeRequest): Promise<SafeAnswer> {
  const target = readTarget(request.url);
  if ("problem" in target) return refused(target.problem);
  const late = AbortSignal.timeout(request.timeoutMs);
  const checked = await addressesOf(target, request, late);
  if ("problem" in checked) return refused(checked.problem);
  return post(target, request, { lookup: pinned(checked.addresses), late });
}
