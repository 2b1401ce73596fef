/**
 * Checks before a request reaches its handler.
 * - `Host` is a loopback name, the address the connection came in on, or a configured name.
 * - `Origin`, if present, is the same host and port as `Host`, or a configured name.
 * - Credential and scope are checked before the body is read.
 * - Bodies are strict JSON in valid UTF-8, within limits: text that two parsers could read differently is refused.
 */

import type { FastifyRequest } from "fastify";
import { HoldpointError } from "../../kernel/errors.ts";
import { type Json, parseJson } from "../../kernel/json.ts";
import type { Authenticate, PresentedCredential, Who } from "../authenticate.ts";
import { type Route, type ScopedRoute, scopesOfRoute } from "../route.ts";
import { createRateLimiter, type RateLimit } from "./quotas.ts";

export type Hosts = {
  /** Names in addition to loopback, in lower case: `name` or `name:port`. */
  readonly allowed: readonly string[];
};

type RequestTarget = {
  readonly host: string | undefined;
  readonly origin: string | undefined;
  /** Local address of the connection. */
  readonly localAddress: string | undefined;
};

const LOOPBACK = new Set(["localhost", "127.0.0.1", "[::1]"]);
const HOST = /^(\[[0-9a-f:.]+\]|[a-z0-9.-]+)(?::(\d{1,5}))?$/;

type Name = { readonly name: string; readonly port: string | undefined; readonly text: string };

function parse(host: string): Name | undefined {
  const text = host.toLowerCase();
  const [, name, port] = HOST.exec(text) ?? [];
  return name === undefined ? undefined : { name: name.replace(/\.$/, ""), port, text };
}

const isTold = ({ allowed }: Hosts, { name, text }: Name): boolean =>
  allowed.includes(name) || allowed.includes(text);

/** An IPv4 address on an IPv6 socket has a prefix. */
function isSame(localAddress: string | undefined, name: string): boolean {
  if (localAddress === undefined) return false;
  const plain = localAddress.replace(/^::ffff:/, "");
  return name === plain || name === `[${plain}]`;
}

function originName(origin: string): Name | undefined {
  const [, host] = /^https?:\/\/([^/]+)$/.exec(origin.toLowerCase()) ?? [];
  return host === undefined ? undefined : parse(host);
}

function isOwnOrigin(hosts: Hosts, host: Name, origin: string): boolean {
  const name = originName(origin);
  return name !== undefined && (name.text === host.text || isTold(hosts, name));
}

const foreign = (header: string): HoldpointError =>
  new HoldpointError("foreign_origin", `The request's ${header} is not a name of this server.`);

export function checkHost(hosts: Hosts, { host, origin, localAddress }: RequestTarget): void {
  const name = host === undefined ? undefined : parse(host);
  const isOwn =
    name !== undefined && (LOOPBACK.has(name.name) || isTold(hosts, name) || isSame(localAddress, name.name));
  if (!isOwn) throw foreign("Host");
  if (origin !== undefined && !isOwnOrigin(hosts, name, origin)) throw foreign("Origin");
}

/** Limit on failed authentications per address. */
const GUESSES: RateLimit = { perSecond: 10, burst: 100 };

export function credentialOf({ headers, method, ip, raw }: FastifyRequest): PresentedCredential {
  const csrf = headers["x-csrf-token"];
  return {
    authorization: headers.authorization,
    cookie: headers.cookie,
    csrf: typeof csrf === "string" ? csrf : undefined,
    method,
    address: ip,
    connection: raw.socket,
  };
}

const unknown = (): HoldpointError =>
  new HoldpointError("unauthenticated", "There is no credential that is valid here.");

function checkScope(who: Who, route: ScopedRoute): void {
  const { scope, orScope } = route;
  const isOther = orScope !== undefined && who.can(orScope);
  if (scope !== "any" && !who.can(scope) && !isOther)
    throw new HoldpointError("forbidden", `This needs the scope ${scopesOfRoute(route).join(" or ")}.`);
}

/** For a request that was admitted a while ago. */
export function checkCredentialStillValid(now: Who | undefined, route: ScopedRoute): void {
  if (now === undefined) throw unknown();
  checkScope(now, route);
}

/** Returns the caller; undefined for a public route. */
type Authorize = (request: FastifyRequest, route: Route | undefined) => Promise<Who | undefined>;

export function createAuthorize(
  authenticate: Authenticate,
  rate: RateLimit,
  elapsed: () => number,
): Authorize {
  const asking = createRateLimiter(rate, elapsed);
  const guessing = createRateLimiter(GUESSES, elapsed);

  /** Answers a wrong credential like a missing one, and limits them per address. Valid ones are not affected. */
  async function identify(request: FastifyRequest): Promise<Who> {
    const who = await authenticate(credentialOf(request));
    if (who !== undefined) return who;
    guessing.take(request.ip);
    throw unknown();
  }

  return async (request, route) => {
    if (route === undefined || route.scope === "public") {
      asking.take(request.ip);
      return undefined;
    }
    const who = await identify(request);
    asking.take(who.credential);
    checkScope(who, route);
    return who;
  };
}

export const BODY_BYTES = 1_048_576;
const MOST_KEYS = 10_000;
/** The shortest text of a key and its value: `"a":1,`. */
const KEY_BYTES = 6;

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Iterative, and stops as soon as the limit is exceeded. */
function hasTooManyKeys(value: Json): boolean {
  const rest: Json[] = [value];
  let keys = 0;
  for (let next = rest.pop(); next !== undefined; next = rest.pop()) {
    if (typeof next !== "object" || next === null) continue;
    if (!Array.isArray(next)) keys += Object.keys(next).length;
    if (keys > MOST_KEYS) return true;
    for (const part of Object.values(next)) if (typeof part === "object" && part !== null) rest.push(part);
  }
  return false;
}

const notText = (cause: unknown): HoldpointError =>
  new HoldpointError("invalid_json", "The body is not valid UTF-8.", { cause });

function textOf(bytes: Buffer): string {
  try {
    return decoder.decode(bytes);
  } catch (error) {
    throw notText(error);
  }
}

/** Returns undefined for an empty body. */
export function readBody(bytes: Buffer): Json | undefined {
  if (bytes.length === 0) return undefined;
  const value = parseJson(textOf(bytes));
  if (bytes.length > MOST_KEYS * KEY_BYTES && hasTooManyKeys(value))
    throw new HoldpointError("payload_too_large", `The body has more than ${MOST_KEYS} keys.`);
  return value;
}
