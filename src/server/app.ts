/** The server made from the list of routes: parse, authenticate, hand over, answer. It decides nothing. */
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from "fastify";
import { z } from "zod";
import type { Clock } from "../kernel/clock.ts";
import { HoldpointError } from "../kernel/errors.ts";
import type { Json } from "../kernel/json.ts";

import { checkStill, createAdmit, credentialOf } from "./admit.ts";
import type { Authenticate, Who } from "./authenticate.ts";
import { answerClientError, answerExpectation } from "./client-error.ts";
import { BODY_BYTES, readBody } from "./guards/body.ts";
import { SECURITY_HEADERS } from "./guards/headers.ts";
import { checkHost, type Hosts } from "./guards/host.ts";
import { createOutflow, OUTFLOW, type Outflow, type OutflowLimits } from "./guards/outflow.ts";
import type { Questions } from "./guards/questions.ts";
import type { Rate } from "./guards/rate.ts";
import { handleOnce, keyOf } from "./idempotency.ts";
import { correlationId, type Log } from "./log.ts";
import { misfit } from "./problem.ts";
import { bytesOf, checkAnswer, outgoingOf, send, sendProblem, wantsPage } from "./reply.ts";
import { type Answer, type Asked, isStream, type Route, routerPath, type ScopedRoute } from "./route.ts";
import type { Tenants } from "./tenants.ts";

export type AppParts = {
  readonly routes: readonly Route[];
  readonly tenants: Pick<Tenants, "of">;
  readonly authenticate: Authenticate;
  readonly hosts: Hosts;
  readonly rate: Rate;
  readonly clock: Clock;
  readonly log: Log;
  readonly makeId: () => string;
  /** How many questions one principal may have before people; any number unless set. */
  readonly questions?: Questions;
  /** What a browser is shown where there is nothing; a problem like everybody else unless set. */
  readonly missing?: (encodings: string | undefined) => Answer;
  /** How much of what nobody reads is kept; as much as is usual unless set. */
  readonly outflow?: OutflowLimits;
  /** Told after every answer. */
  readonly answered?: (facts: Answered) => void;
  /** Answers are compared with their schemas before they are sent: for tests. */
  readonly checkAnswers?: boolean;
};

export type Answered = {
  readonly method: string;
  readonly route: string;
  readonly status: number;
  readonly ms: number;
};

/** What is known of a request on its way; kept beside it, never in it. */
type Course = {
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

/** Sockets that send slowly are given up; long answers are not. */
const TIMES = { headersTimeout: 10_000, requestTimeout: 30_000, connectionsCheckingInterval: 1_000 };
const KEEP_ALIVE_MS = 10_000;
const LONGEST_PARAMETER = 2_000;
const NO_ROUTE = "(none)";
const NO_QUERY = z.strictObject({});

function parsed(part: string, schema: z.ZodType | undefined, value: unknown): unknown {
  if (schema === undefined) return undefined;
  const result = schema.safeParse(value);
  if (!result.success) throw misfit(part, result.error.issues);
  return result.data;
}

function givenOf(request: FastifyRequest, route: Route) {
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

/** Made only for those who want to know. */
const isGone = ({ raw }: FastifyReply): boolean => raw.destroyed || raw.closed;

function goneOf(reply: FastifyReply): AbortSignal {
  const gone = new AbortController();
  if (isGone(reply)) gone.abort();
  else reply.raw.once("close", () => gone.abort());
  return gone.signal;
}

/** Whether it would be one more is looked up only where there is no room. */
async function checkQuestions(
  questions: Questions | undefined,
  route: ScopedRoute,
  asked: Asked,
  kept?: Json,
): Promise<void> {
  if (questions === undefined || asked.who.principal === null || route.mayAsk === undefined) return;
  const principal = route.asker ?? asked.who.principal;
  if (await questions.hasRoom(asked.runtime, principal)) return;
  if (await route.mayAsk(asked, kept)) questions.refuse(principal);
}

async function handOver(
  { tenants, authenticate, makeId, questions }: AppParts,
  { request, reply }: { readonly request: FastifyRequest; readonly reply: FastifyReply },
  { route, who }: Course,
): Promise<Answer> {
  if (route === undefined) throw new HoldpointError("unknown_route", "There is no such route.");
  const given = givenOf(request, route);
  if (route.scope === "public") return route.handle(given);
  if (who === undefined) throw new HoldpointError("unauthenticated", "Nobody is asking.");
  const office = await tenants.of(who.tenant);
  const credential = credentialOf(request);
  const whoNow = () => authenticate(credential);
  const mayStill = async () => checkStill(await whoNow(), route);
  const connection = { gone: () => goneOf(reply), isGone: () => isGone(reply) };
  const { tenant } = who;
  const { runtime } = office;
  const asked: Asked = { ...given, ...connection, who, tenant, office, runtime, whoNow, mayStill };
  const handle = async () => {
    await checkQuestions(questions, route, asked);
    return route.handle(asked);
  };
  const key = keyOf(request, route);
  if (key === undefined) return handle();
  const parts = { request, route, who, office, attempt: makeId() };
  return handleOnce(key, parts, {
    handle,
    async again(kept) {
      if (route.again !== undefined) await checkQuestions(questions, route, asked, kept);
      return route.again?.(asked, kept);
    },
  });
}

/** Somebody opened an address in a browser: no program did, and no page of the desk asked. */
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
    // One that is missing is answered like one that is foreign, and not by Node with nothing in it.
    http: { ...TIMES, requireHostHeader: false },
    exposeHeadRoutes: false,
    routerOptions: { maxParamLength: LONGEST_PARAMETER },
    genReqId: (raw) => correlationId(raw.headers["x-request-id"], makeId),
    clientErrorHandler: (error, socket) => answerClientError(error, socket, makeId()),
    frameworkErrors: (error, request, reply) => void sendProblem(request, reply, error),
  });
  app.server.on("checkExpectation", (_request, response) => answerExpectation(response, makeId()));
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(
    "application/json",
    { parseAs: "buffer" },
    async (_request: unknown, bytes: Buffer) => readBody(bytes),
  );
  app.setNotFoundHandler((request, reply) => {
    if (missing !== undefined && isOpened(request))
      return send(reply, outgoingOf(missing(request.headers["accept-encoding"]?.toString())));
    const what = `There is no ${request.method} ${request.url.split("?")[0]} here.`;
    return sendProblem(request, reply, new HoldpointError("unknown_route", what.slice(0, 300)));
  });
  return app;
}

function lineOf({ id, method }: FastifyRequest, { who, error }: Course, facts: Omit<Answered, "method">) {
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

/** Whose answers are counted together. */
const readerOf = (who: Who | undefined, { ip }: FastifyRequest): string =>
  who === undefined ? ip : `${who.tenant} ${who.principal ?? who.credential}`;

function watchRequests(
  app: FastifyInstance,
  parts: AppParts,
  outflow: Outflow,
): (request: FastifyRequest) => Course {
  const { clock, hosts } = parts;
  const elapsed = () => clock.elapsed?.() ?? clock.now();
  const admit = createAdmit(parts.authenticate, parts.rate, elapsed);
  const courses = new WeakMap<FastifyRequest, Course>();
  const courseOf = (request: FastifyRequest): Course => {
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
    parts.log(lineOf(request, course, facts));
  });
  return courseOf;
}

/** What is read can be asked for without what it says; a stream has no end to leave out. */
function methodsOf(route: Route): string[] {
  return route.method === "GET" && !isStream(route) ? ["GET", "HEAD"] : [route.method];
}

export function buildApp(parts: AppParts): FastifyInstance {
  const app = newServer(parts);
  const outflow = createOutflow(parts.outflow ?? OUTFLOW);
  const courseOf = watchRequests(app, parts, outflow);
  const answer = async (request: FastifyRequest, reply: FastifyReply, route: Route) => {
    const answered = await handOver(parts, { request, reply }, courseOf(request));
    if (parts.checkAnswers === true) checkAnswer(route, answered);
    const outgoing = outgoingOf(answered);
    const reader = readerOf(courseOf(request).who, request);
    const bytes = bytesOf(outgoing);
    // What was changed is answered in any case.
    if (route.method === "GET") outflow.check(reader, bytes);
    outflow.follow(reader, bytes, reply.raw);
    return send(reply, outgoing);
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
