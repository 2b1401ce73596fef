/**
 * The HTTP server made from the list of routes: parse, authenticate, hand over, answer. It makes no decisions.
 * It listens until it is stopped: requests in progress end first, then connections, then the store.
 */

import type { AddressInfo } from "node:net";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import Fastify from "fastify";
import { z } from "zod";
import type { Clock } from "../kernel/clock.ts";
import { HoldpointError } from "../kernel/errors.ts";
import type { Json } from "../kernel/json.ts";
import type { Authenticate, Who } from "./authenticate.ts";
import {
  BACKPRESSURE_LIMITS,
  type BackpressureLimits,
  createPendingQuota,
  createResponseBackpressure,
  type PendingQuota,
  type RateLimit,
  type ResponseBackpressure,
} from "./guards/quotas.ts";
import {
  BODY_BYTES,
  checkCredentialStillValid,
  checkHost,
  createAuthorize,
  credentialOf,
  type Hosts,
  readBody,
} from "./guards/request.ts";
import { handleIdempotently, readIdempotencyKey } from "./idempotency/handle.ts";
import { correlationId, type Log } from "./log.ts";
import {
  checkAnswerSchema,
  prepareReply,
  replyBytes,
  replyToClientError,
  replyToExpectation,
  SECURITY_HEADERS,
  sendProblem,
  sendReply,
  wantsPage,
} from "./reply.ts";
import {
  invalidInput,
  isStream,
  type Route,
  type RouteAnswer,
  type RouteRequest,
  routerPath,
  type ScopedRoute,
} from "./route.ts";
import { isLoopback, type Settings } from "./settings.ts";
import type { TenantHosts } from "./tenant-hosts.ts";

type AppParts = {
  readonly routes: readonly Route[];
  readonly tenants: Pick<TenantHosts, "of">;
  readonly authenticate: Authenticate;
  readonly hosts: Hosts;
  readonly rate: RateLimit;
  readonly clock: Clock;
  readonly log: Log;
  readonly makeId: () => string;
  /** Most pending approvals of one principal. Default: no limit. */
  readonly questions?: PendingQuota;
  /** Page for a browser at an unknown address. Default: a problem, as for programs. */
  readonly missing?: (encodings: string | undefined) => RouteAnswer;
  /** Limits of unread replies. Default: the built-in limits. */
  readonly outflow?: BackpressureLimits;
  /** Called after every answer. */
  readonly answered?: (facts: AnsweredRequest) => void;
  /** For tests: checks answers against their schemas before they are sent. */
  readonly checkAnswers?: boolean;
};

export type AnsweredRequest = {
  readonly method: string;
  readonly route: string;
  readonly status: number;
  readonly ms: number;
};

/** State of a request in progress, stored next to it and never in it. */
type RequestCourse = {
  readonly since: number;
  readonly route: Route | undefined;
  who: Who | undefined;
  error: unknown;
};

declare module "fastify" {
  interface FastifyContextConfig {
    holdpoint?: Route;
  }
}

/** Slow senders time out; long answers do not. */
const TIMES = { headersTimeout: 10_000, requestTimeout: 30_000, connectionsCheckingInterval: 1_000 };
const KEEP_ALIVE_MS = 10_000;
const LONGEST_PARAMETER = 2_000;
const NO_ROUTE = "(none)";
const NO_QUERY = z.strictObject({});

function parsed(part: string, schema: z.ZodType | undefined, value: unknown): unknown {
  if (schema === undefined) return undefined;
  const result = schema.safeParse(value);
  if (!result.success) throw invalidInput(part, result.error.issues);
  return result.data;
}

function requestPartsOf(request: FastifyRequest, route: Route) {
  return {
    params: parsed("path", route.params, request.params),
    query: parsed("query", route.query ?? NO_QUERY, request.query),
    body: parsed("body", route.body, request.body),
    requestId: request.id,
    header: (name: string) => {
      const value = request.headers[name];
      return typeof value === "string" ? value : undefined;
    },
  };
}

/** The connection has closed. `disconnectSignal` is created only for handlers that use it. */
const isGone = ({ raw }: FastifyReply): boolean => raw.destroyed || raw.closed;

function disconnectSignal(reply: FastifyReply): AbortSignal {
  const gone = new AbortController();
  if (isGone(reply)) gone.abort();
  else reply.raw.once("close", () => gone.abort());
  return gone.signal;
}

/** Whether the request would add a question is checked only if there is no room. */
async function checkQuestions(
  questions: PendingQuota | undefined,
  route: ScopedRoute,
  asked: RouteRequest,
  kept?: Json,
): Promise<void> {
  if (questions === undefined || asked.who.principal === null || route.mayAsk === undefined) return;
  const principal = route.asker ?? asked.who.principal;
  if (await questions.hasRoom(asked.runtime, principal)) return;
  if (await route.mayAsk(asked, kept)) questions.refuse(principal);
}

async function handleRequest(
  { tenants, authenticate, makeId, questions }: AppParts,
  { request, reply }: { readonly request: FastifyRequest; readonly reply: FastifyReply },
  { route, who }: RequestCourse,
): Promise<RouteAnswer> {
  if (route === undefined) throw new HoldpointError("unknown_route", "There is no such route.");
  const given = requestPartsOf(request, route);
  if (route.scope === "public") return route.handle(given);
  if (who === undefined) throw new HoldpointError("unauthenticated", "The request has no caller.");
  const office = await tenants.of(who.tenant);
  const credential = credentialOf(request);
  const whoNow = () => authenticate(credential);
  const mayStill = async () => checkCredentialStillValid(await whoNow(), route);
  const connection = { gone: () => disconnectSignal(reply), isGone: () => isGone(reply) };
  const { tenant } = who;
  const { runtime } = office;
  const asked: RouteRequest = { ...given, ...connection, who, tenant, office, runtime, whoNow, mayStill };
  const handle = async () => {
    await checkQuestions(questions, route, asked);
    return route.handle(asked);
  };
  const key = readIdempotencyKey(request, route);
  if (key === undefined) return handle();
  const parts = { request, route, who, office, attempt: makeId() };
  return handleIdempotently(key, parts, {
    handle,
    async again(kept) {
      if (route.again !== undefined) await checkQuestions(questions, route, asked, kept);
      return route.again?.(asked, kept);
    },
  });
}

/** A person opened the address in a browser: the request comes from no program and no dashboard page. */
const isOpened = (request: FastifyRequest): boolean =>
  (request.method === "GET" || request.method === "HEAD") &&
  !/^\/api(?:[/?]|$)/.test(request.url) &&
  wantsPage(request);

function newServer({ makeId, missing }: AppParts): FastifyInstance {
  const app = Fastify({
    logger: false,
    bodyLimit: BODY_BYTES,
    requestTimeout: TIMES.requestTimeout,
    keepAliveTimeout: KEEP_ALIVE_MS,
    // A missing Host is answered like a foreign one, and not by Node with an empty reply.
    http: { ...TIMES, requireHostHeader: false },
    exposeHeadRoutes: false,
    routerOptions: { maxParamLength: LONGEST_PARAMETER },
    genReqId: (raw) => correlationId(raw.headers["x-request-id"], makeId),
    clientErrorHandler: (error, socket) => replyToClientError(error, socket, makeId()),
    frameworkErrors: (error, request, reply) => void sendProblem(request, reply, error),
  });
  app.server.on("checkExpectation", (_request, response) => replyToExpectation(response, makeId()));
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(
    "application/json",
    { parseAs: "buffer" },
    async (_request: unknown, bytes: Buffer) => readBody(bytes),
  );
  app.setNotFoundHandler((request, reply) => {
    if (missing !== undefined && isOpened(request))
      return sendReply(reply, prepareReply(missing(request.headers["accept-encoding"]?.toString())));
    const what = `There is no ${request.method} ${request.url.split("?")[0]} here.`;
    return sendProblem(request, reply, new HoldpointError("unknown_route", what.slice(0, 300)));
  });
  return app;
}

function logLineOf(
  { id, method }: FastifyRequest,
  { who, error }: RequestCourse,
  facts: Omit<AnsweredRequest, "method">,
) {
  const { status } = facts;
  const isFailure = status >= 500;
  const thrown = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return {
    level: isFailure ? ("error" as const) : ("info" as const),
    message: "request",
    correlation_id: id,
    method,
    ...facts,
    principal: who?.principal ?? null,
    tenant: who?.tenant ?? null,
    ...(isFailure ? { error: thrown } : {}),
  };
}

/** Key for counting unread replies. */
const readerOf = (who: Who | undefined, { ip }: FastifyRequest): string =>
  who === undefined ? ip : `${who.tenant} ${who.principal ?? who.credential}`;

function watchRequests(
  app: FastifyInstance,
  parts: AppParts,
  outflow: ResponseBackpressure,
): (request: FastifyRequest) => RequestCourse {
  const { clock, hosts } = parts;
  const elapsed = () => clock.elapsed?.() ?? clock.now();
  const admit = createAuthorize(parts.authenticate, parts.rate, elapsed);
  const courses = new WeakMap<FastifyRequest, RequestCourse>();
  const courseOf = (request: FastifyRequest): RequestCourse => {
    const route = request.routeOptions.config.holdpoint;
    const course = courses.get(request) ?? { since: elapsed(), route, who: undefined, error: undefined };
    courses.set(request, course);
    return course;
  };
  app.addHook("onRequest", async (request, reply) => {
    const course = courseOf(request);
    const date = new Date(clock.now()).toUTCString();
    reply.headers({ ...SECURITY_HEADERS, date, "x-request-id": request.id });
    const { host, origin } = request.headers;
    checkHost(hosts, { host, origin, localAddress: request.socket.localAddress });
    course.who = await admit(request, course.route);
    if (course.who !== undefined) outflow.check(readerOf(course.who, request), 0);
  });
  app.setErrorHandler((error, request, reply) => {
    courseOf(request).error = error;
    return sendProblem(request, reply, error);
  });
  app.addHook("onResponse", async (request, reply) => {
    const course = courseOf(request);
    const ms = Math.round((elapsed() - course.since) * 1_000) / 1_000;
    const facts = { route: course.route?.path ?? NO_ROUTE, status: reply.statusCode, ms };
    parts.answered?.({ method: request.method, ...facts });
    parts.log(logLineOf(request, course, facts));
  });
  return courseOf;
}

/** A read also answers HEAD. A stream does not: it has no end. */
function methodsOf(route: Route): string[] {
  return route.method === "GET" && !isStream(route) ? ["GET", "HEAD"] : [route.method];
}

function buildApp(parts: AppParts): FastifyInstance {
  const app = newServer(parts);
  const outflow = createResponseBackpressure(parts.outflow ?? BACKPRESSURE_LIMITS);
  const courseOf = watchRequests(app, parts, outflow);
  const answer = async (request: FastifyRequest, reply: FastifyReply, route: Route) => {
    const answered = await handleRequest(parts, { request, reply }, courseOf(request));
    if (parts.checkAnswers === true) checkAnswerSchema(route, answered);
    const outgoing = prepareReply(answered);
    const reader = readerOf(courseOf(request).who, request);
    const bytes = replyBytes(outgoing);
    // A change is answered in any case.
    if (route.method === "GET") outflow.check(reader, bytes);
    outflow.follow(reader, bytes, reply.raw);
    return sendReply(reply, outgoing);
  };
  for (const route of parts.routes)
    app.route({
      method: methodsOf(route),
      url: routerPath(route.path),
      config: { holdpoint: route },
      handler: (request, reply) => answer(request, reply, route),
    });
  return app;
}

type ServerParts = Omit<AppParts, "hosts" | "questions" | "rate" | "tenants"> & {
  readonly tenants: TenantHosts;
  readonly settings: Settings;
  /** Ends streams and long polls before the server waits for connections. */
  readonly endStreams?: () => void;
};

export type Server = {
  readonly app: FastifyInstance;
  /** Address at which it listens. */
  readonly url: string;
  readonly port: number;
  /** Closes it once; further calls return the same promise. */
  close(): Promise<void>;
};

const CLOSE_POLL_MS = 50;

/** `close` alone waits for connections that have become idle, and closing all of them would cut answers. */
async function closeListener(app: FastifyInstance, clock: Clock, graceMs: number): Promise<void> {
  let isClosed = false;
  const closing = app.close().finally(() => {
    isClosed = true;
  });
  for (let waited = 0; !isClosed && waited < graceMs; waited += CLOSE_POLL_MS) {
    app.server.closeIdleConnections();
    await Promise.race([closing, clock.sleep(CLOSE_POLL_MS)]);
  }
  app.server.closeAllConnections();
  await closing;
}

function urlOf(host: string, port: number): string {
  const name = isLoopback(host) && host !== "::1" ? host : host.replace(/^0\.0\.0\.0$/, "127.0.0.1");
  return `http://${name.includes(":") ? `[${name}]` : name}:${port}`;
}

export async function startHttpServer(parts: ServerParts): Promise<Server> {
  const { settings, tenants, clock } = parts;
  const { host, rate, burst, allowHost, graceSeconds } = settings;
  const hosts = { allowed: allowHost.map((name) => name.toLowerCase()) };
  const questions = createPendingQuota(settings.pending);
  const app = buildApp({ ...parts, hosts, questions, rate: { perSecond: rate, burst } });
  // biome-ignore lint/nursery/useAwaitThenable: it is a promise; the checker does not see so through its overloads.
  await app.listen({ host, port: settings.port });
  const { port } = app.server.address() as AddressInfo;
  let closed: Promise<void> | undefined;
  const close = async () => {
    parts.endStreams?.();
    await closeListener(app, clock, graceSeconds * 1_000);
    await tenants.close();
  };
  return {
    app,
    url: urlOf(host, port),
    port,
    close: () => {
      closed ??= close();
      return closed;
    },
  };
}
