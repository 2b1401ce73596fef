/**
 * Replies as they leave: bodies, problems, security headers, and errors below HTTP routing (answered, then closed).
 * With the security headers on every reply, a browser does not frame, sniff, cache or forward any of it.
 */

import { type ServerResponse, STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import type { FastifyReply, FastifyRequest } from "fastify";
import { HoldpointError } from "../kernel/errors.ts";
import {
  asHoldpointError,
  PROBLEM_TYPE,
  problemOf,
  type ReplyHeaders,
  type Route,
  type RouteAnswer,
  routeName,
} from "./route.ts";

/** Checks the answer against the schema that the route declares. A kept one may have been given by an earlier version. */
export function checkAnswerSchema(route: Route, answer: RouteAnswer): void {
  const schema = route.answers[answer.status];
  if (answer.status >= 400) return;
  if (schema === undefined)
    throw new HoldpointError("broken_rule", `${routeName(route)} answers ${answer.status}, undeclared.`);
  if (typeof schema === "string" || !("body" in answer)) return;
  if (answer.headers?.["idempotency-replayed"] !== undefined) return;
  // As the client will read it: without what JSON omits.
  const result = schema.safeParse(JSON.parse(JSON.stringify(answer.body)));
  if (!result.success)
    throw new HoldpointError("broken_rule", `${routeName(route)} answers otherwise than it says.`, {
      cause: result.error,
    });
}

type Outgoing = Exclude<RouteAnswer, { readonly body: unknown }>;
const JSON_TYPE = "application/json; charset=utf-8";

/** Serialises a JSON body. Other answers pass unchanged. */
export function prepareReply(answer: RouteAnswer): Outgoing {
  if (!("body" in answer)) return answer;
  const { status, body, headers } = answer;
  return {
    status,
    text: JSON.stringify(body),
    type: headers?.["content-type"] ?? JSON_TYPE,
    headers: headers ?? {},
  };
}

export function replyBytes(answer: Outgoing): number {
  if ("bytes" in answer) return answer.bytes.byteLength;
  return "text" in answer ? Buffer.byteLength(answer.text) : 0;
}

export function sendReply(reply: FastifyReply, answer: Outgoing): FastifyReply {
  if ("takeOver" in answer) {
    reply.hijack();
    answer.takeOver(reply);
    return reply;
  }
  reply.code(answer.status).headers(answer.headers ?? {});
  return reply.type(answer.type).send("bytes" in answer ? answer.bytes : answer.text);
}

export const wantsPage = ({ headers }: FastifyRequest): boolean =>
  /(^|,)\s*text\/html\s*(;|,|$)/.test(headers.accept ?? "");

export function sendProblem(request: FastifyRequest, reply: FastifyReply, error: unknown): FastifyReply {
  const ours = asHoldpointError(error);
  const [instance = "/"] = request.url.split("?");
  const wait = ours.details["retry_after"];
  if (typeof wait === "number") reply.header("retry-after", String(wait));
  if (ours.code === "unauthenticated") reply.header("www-authenticate", 'Bearer realm="Holdpoint"');
  const problem = problemOf(ours, { instance, requestId: request.id });
  const page = request.routeOptions.config.holdpoint?.problem;
  if (page !== undefined && wantsPage(request))
    return sendReply(reply, prepareReply(page(problem, request.url)));
  return reply.code(ours.status).type(PROBLEM_TYPE).send(JSON.stringify(problem));
}

const POLICY = ["default-src 'none'", "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'"];

/** `more`: directives in addition to the default, which allows nothing. */
export const contentPolicy = (...more: readonly string[]): string => [...POLICY, ...more].join("; ");

export const SECURITY_HEADERS: ReplyHeaders = {
  "content-security-policy": contentPolicy(),
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "cache-control": "no-store",
};

const STATUSES: { readonly [code: string]: number } = {
  ERR_HTTP_REQUEST_TIMEOUT: 408,
  HPE_HEADER_OVERFLOW: 431,
};

function problemText(status: number, what: string, requestId: string): string {
  const problem = problemOf(new HoldpointError("invalid_input", what), { instance: "/", requestId });
  return JSON.stringify({ ...problem, status });
}

/** Refuses every `Expect` other than 100-continue. */
export function replyToExpectation(response: ServerResponse, requestId: string): void {
  const body = problemText(417, "Nothing but 100-continue can be expected.", requestId);
  const own = {
    "content-type": PROBLEM_TYPE,
    "content-length": Buffer.byteLength(body),
    connection: "close",
  };
  response.writeHead(417, { ...SECURITY_HEADERS, ...own });
  response.end(body);
}

export function replyToClientError(error: NodeJS.ErrnoException, socket: Socket, requestId: string): void {
  if (error.code === "ECONNRESET" || !socket.writable) {
    socket.destroy();
    return;
  }
  const status = STATUSES[error.code ?? ""] ?? 400;
  const what = status === 408 ? "The request did not come in time." : "This is not HTTP that can be read.";
  const body = problemText(status, what, requestId);
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    "Connection: close",
    `Content-Type: ${PROBLEM_TYPE}`,
    `Content-Length: ${Buffer.byteLength(body)}`,
  ];
  socket.end(`${head.join("\r\n")}\r\n\r\n${body}`);
}
