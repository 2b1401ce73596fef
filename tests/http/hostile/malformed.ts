/** Requests that no client should send: to every route, with and without credentials, whole and in pieces. */
import type { OpenApi, OpenApiOperation } from "../../../src/api/openapi.ts";
import { broken, brokenText, oddText, pick, type Random, sample } from "../../server/sample.ts";
import { type Address, type Exchanged, exchange } from "./exchange.ts";
import { inLanes, type Target } from "./server-process.ts";

type Route = { readonly method: string; readonly path: string; readonly operation: OpenApiOperation };
type Message = {
  readonly bytes: Buffer;
  /** HTTP that has to be answered. */
  readonly isWhole: boolean;
  readonly isHead: boolean;
  /** Whoever guesses does so from an address of their own: too many guesses close it. */
  readonly isGuess: boolean;
};

export type Malformed = {
  readonly sent: number;
  readonly silent: number;
  readonly byStatus: ReadonlyMap<number, number>;
  readonly wrong: readonly string[];
};

async function routesOf(port: number): Promise<readonly Route[]> {
  const answer = await fetch(`http://127.0.0.1:${port}/api/openapi.json`);
  const { paths } = (await answer.json()) as OpenApi;
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  );
}

/** Half of a surrogate pair cannot be written in an address. */
const encoded = (text: string): string => encodeURIComponent(text.toWellFormed());

/** To wait for an answer is well-formed, and only slow. */
const queryValue = (
  name: string,
  schema: OpenApiOperation["parameters"][number]["schema"],
  random: Random,
): string =>
  name === "hold_seconds"
    ? pick(random, ["0", "-1", "1e9", "x", ""])
    : String(random() < 0.5 ? sample(schema, random) : oddText(random));

function addressOf({ path, operation }: Route, random: Random): string {
  const filled = path.replaceAll(/\{\w+\}/g, () => encoded(oddText(random)) || "x");
  const query = operation.parameters
    .filter(({ in: place }) => place === "query" && random() < 0.7)
    .map(({ name, schema }) => `${name}=${encoded(queryValue(name, schema, random))}`);
  const extra = random() < 0.2 ? [`${encoded(oddText(random))}=${encoded(oddText(random))}`] : [];
  const raw = random() < 0.05 ? pick(random, ["%", "%zz", "//", "/../", "?".repeat(50), "%2e%2e/"]) : "";
  const search = [...query, ...extra].join("&");
  return `${filled}${raw}${search === "" ? "" : `?${search}`}`;
}

function bodyOf({ operation }: Route, random: Random): string | undefined {
  const schema = operation.requestBody?.content["application/json"]?.schema;
  if (schema === undefined) return random() < 0.2 ? "{}" : undefined;
  const value = sample(schema, random);
  const text = JSON.stringify(random() < 0.6 ? broken(value, random) : value) ?? "";
  return random() < 0.25 ? brokenText(text, random) : text;
}

const HEADERS: readonly (readonly string[])[] = [
  [],
  ["Idempotency-Key: k"],
  [`Idempotency-Key: ${"\t".repeat(300)}`],
  ["X-Request-Id: <b>"],
  ["Last-Event-ID: x"],
  ["X-CSRF-Token: x", "Cookie: __Host-holdpoint=default.x.y; __Host-holdpoint=z"],
  ["Expect: 100-continue"],
  ["Expect: tea"],
  ["Content-Encoding: gzip"],
  ["Range: bytes=0-1"],
  ["Upgrade: websocket", "Connection: upgrade"],
  ["Transfer-Encoding: gzip, chunked"],
  ["Forwarded: for=1.2.3.4", "X-Forwarded-Host: evil.example"],
  [`X-Long: ${"x".repeat(20_000)}`],
  Array.from({ length: 300 }, (_, n) => `X-${n}: y`),
];
const TYPES = [
  "application/json",
  "text/plain",
  "application/json; charset=utf-16",
  "",
  "multipart/form-data",
];
const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "TRACE", "PROPFIND", "x"];

/** Nothing is known of what a server should say of these. */
const isStrange = (lines: readonly string[], method: string): boolean =>
  method === "x" || lines.some((line) => /^(Expect|Transfer-Encoding|Upgrade|X-Long)/.test(line));

function wholeMessage(route: Route, target: Target, random: Random): Message {
  const method = random() < 0.93 ? route.method : pick(random, METHODS);
  const { ann, agent } = target.keys;
  const guess = `${agent.slice(0, -10)}${"A".repeat(10)}`;
  const key = pick(random, [ann, ann, agent, guess, undefined]);
  const body = method === "GET" ? undefined : bodyOf(route, random);
  const more = random() < 0.5 ? [] : pick(random, HEADERS);
  const type = random() < 0.9 ? "application/json" : pick(random, TYPES);
  const lines = [
    `${method} ${addressOf(route, random)} HTTP/1.1`,
    `Host: ${random() < 0.97 ? "localhost" : pick(random, ["", "a b", "[::1", "evil.example"])}`,
    ...(key === undefined ? [] : [`Authorization: Bearer ${key}`]),
    ...(body === undefined ? [] : [`Content-Type: ${type}`, `Content-Length: ${Buffer.byteLength(body)}`]),
    ...more,
  ];
  const bytes = Buffer.from(`${lines.join("\r\n")}\r\n\r\n${body ?? ""}`);
  const isGuess = key === guess || key === undefined;
  return { bytes, isWhole: !isStrange(more, method), isHead: method === "HEAD", isGuess };
}

const PIECES: readonly string[] = [
  "GET / HTTP/1.1\r\n\r\n",
  "GET / HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n",
  "GET http://evil.example/api/session HTTP/1.1\r\nHost: localhost\r\n\r\n",
  "GET /api/health HTTP/9.9\r\nHost: localhost\r\n\r\n",
  "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
  "CONNECT evil.example:443 HTTP/1.1\r\nHost: evil.example\r\n\r\n",
  "OPTIONS * HTTP/1.1\r\nHost: localhost\r\n\r\n",
  "POST /api/session HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n",
  "POST /api/session HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n12345",
  "POST /api/session HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{}",
  "POST /api/session HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
  "POST /api/session HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
  "POST /api/session HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nFFFFFFFFFFFFFFFF\r\n",
  "GET /api/health HTTP/1.1\r\nHost: localhost\r\n X: folded\r\n\r\n",
  "GET /api/health HTTP/1.1\nHost: localhost\n\n",
  "\r\n\r\n\r\n\r\n",
  "",
];

/** One byte is another, one is missing, or one too many. */
function mutated(bytes: Buffer, random: Random): Buffer {
  const at = Math.floor(random() * bytes.length);
  const byte = Buffer.from([Math.floor(random() * 256)]);
  const keep = Math.floor(random() * 3);
  const gone = keep === 2 ? 0 : 1;
  return Buffer.concat([
    bytes.subarray(0, at),
    keep === 1 ? Buffer.alloc(0) : byte,
    bytes.subarray(at + gone),
  ]);
}

function messageOf(routes: readonly Route[], target: Target, random: Random): Message {
  const pieces = { isWhole: false, isHead: false, isGuess: true };
  const how = random();
  if (how < 0.05) return { ...pieces, bytes: Buffer.from(pick(random, PIECES)) };
  if (how < 0.1)
    return {
      ...pieces,
      bytes: Buffer.from(Array.from({ length: 1 + Math.floor(random() * 300) }, () => random() * 256)),
    };
  const whole = wholeMessage(pick(random, routes), target, random);
  return how < 0.25 ? { ...pieces, isHead: true, bytes: mutated(whole.bytes, random) } : whole;
}

function isProblem({ type, body }: Exclude<Exchanged, "silent">): boolean {
  if (!type.startsWith("application/problem+json")) return false;
  try {
    const { code, status, detail } = JSON.parse(body) as Record<string, unknown>;
    return typeof code === "string" && typeof status === "number" && typeof detail === "string";
  } catch {
    return false;
  }
}

function faultOf(answer: Exchanged, { isWhole, isHead }: Message): string | undefined {
  if (answer === "silent") return isWhole ? "no answer" : undefined;
  if (answer.status >= 500) return `${answer.status} ${answer.body}`;
  if (answer.status < 400 || isHead) return undefined;
  return isProblem(answer)
    ? undefined
    : `no problem document: ${answer.status} ${answer.type} ${answer.body}`;
}

const ADDRESSES = 60_000;

export async function sendMalformed(target: Target, count: number, random: Random): Promise<Malformed> {
  const routes = await routesOf(target.port);
  const byStatus = new Map<number, number>();
  const wrong: string[] = [];
  let silent = 0;
  const numbers = Array.from({ length: count }, (_, n) => n);
  await inLanes(24, numbers, async (n) => {
    const message = messageOf(routes, target, random);
    const place = n % ADDRESSES;
    const own = message.isGuess ? { localAddress: `127.1.${place >> 8}.${1 + (place & 127)}` } : {};
    const address: Address = { port: target.port, ...own };
    const answer = await exchange(address, message.bytes);
    if (answer === "silent") silent++;
    else byStatus.set(answer.status, (byStatus.get(answer.status) ?? 0) + 1);
    const fault = faultOf(answer, message);
    if (fault !== undefined) wrong.push(`${fault} ← ${message.bytes.toString("latin1").slice(0, 2_000)}`);
  });
  return { sent: count, silent, byStatus, wrong };
}
