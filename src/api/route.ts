/**
 * A route is a value. The server, the OpenAPI document, the reference page and the tests that try every route are made from
 * the list of them, so there is none that nobody checks.
 */
import type { FastifyReply } from "fastify";
import type { z } from "zod";
import { HoldpointError } from "../kernel/errors.ts";
import type { Json } from "../kernel/json.ts";
import type { Scope } from "../people/rules/scopes.ts";
import type { Runtime } from "../runtime/runtime.ts";
import type { Who } from "./authenticate.ts";
import type { Problem } from "./problem.ts";
import type { TenantHost } from "./tenant-hosts.ts";

type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

export const TAGS = [
  "workflows",
  "actions",
  "approvals",
  "intents",
  "receipts",
  "journal",
  "kill switch",
  "grants",
  "budgets",
  "policies",
  "alerts",
  "events",
  "messages",
  "identities",
  "desk",
  "server",
] as const;
export type Tag = (typeof TAGS)[number];

/** JSON, text of another kind, or whatever takes the connection over. */
export type RouteAnswer =
  | { readonly status: number; readonly body: unknown; readonly headers?: ReplyHeaders }
  | { readonly status: number; readonly text: string; readonly type: string; readonly headers?: ReplyHeaders }
  | {
      readonly status: number;
      readonly bytes: Uint8Array;
      readonly type: string;
      readonly headers?: ReplyHeaders;
    }
  | { readonly status: number; readonly takeOver: (reply: FastifyReply) => void };

export type ReplyHeaders = { readonly [name: string]: string };

type Schema = z.ZodType;
type RequestParts<Params extends Schema, Query extends Schema, Body extends Schema> = {
  readonly params: z.output<Params>;
  readonly query: z.output<Query>;
  readonly body: z.output<Body>;
  /** The correlation id. */
  readonly requestId: string;
  readonly header: (name: string) => string | undefined;
};

/** What a handler is given. `who` is of the tenant whose office it is. */
export type RouteRequest<
  Params extends Schema = Schema,
  Query extends Schema = Schema,
  Body extends Schema = Schema,
> = RequestParts<Params, Query, Body> & {
  readonly who: Who;
  readonly tenant: string;
  readonly runtime: Runtime;
  readonly office: TenantHost;
  /** Who the credential is by now, with today's rights; undefined once it does not hold. For answers that take long. */
  readonly whoNow: () => Promise<Who | undefined>;
  /** Throws what the same request would be answered now where its credential does not hold, or may not do this any more. */
  readonly mayStill: () => Promise<void>;
  /** Aborts when the connection is gone, or the answer was sent. For answers that take long. */
  readonly gone: () => AbortSignal;
  /** The same as a question: a signal costs each request an exception, made when its connection closes. */
  readonly isGone: () => boolean;
};

/** What an answer is that is not JSON. */
export type Media = "text/event-stream" | "text/html" | "text/plain" | "application/octet-stream";

type Facts<Params extends Schema, Query extends Schema, Body extends Schema> = {
  readonly method: Method;
  /** With parameters in braces: `/api/workflows/{id}`. */
  readonly path: `/${string}`;
  readonly summary: string;
  readonly description?: string;
  readonly tag: Tag;
  readonly params?: Params;
  readonly query?: Query;
  readonly body?: Body;
  /** By status. Problems are added to all. */
  readonly answers: { readonly [status: number]: Schema | Media };
  /**
   * Of a POST, when a request under the same Idempotency-Key was begun and its process died: `repeat` what is the same when it
   * is done twice, or say that it is not known. `none`: its answer must not be kept.
   */
  readonly whenLost?: "repeat" | "say" | "none";
  /** Of a page: how a problem is shown to whoever asks for HTML. Programs get it as every problem. */
  readonly problem?: (problem: Problem, url: string) => RouteAnswer;
};

/** Looks again where the kept answer may not hold by now; undefined where it is given as it was. */
type Again<Params extends Schema, Query extends Schema, Body extends Schema> = (
  asked: RouteRequest<Params, Query, Body>,
  kept: Json,
) => Promise<RouteAnswer> | undefined;

export type ScopedRoute<
  Params extends Schema = Schema,
  Query extends Schema = Schema,
  Body extends Schema = Schema,
> = Facts<Params, Query, Body> & {
  /** `any`: every known credential. */
  readonly scope: Scope | "any";
  /** Whoever has this one instead may ask too, for less: the handler says for what. */
  readonly orScope?: Scope;
  handle(asked: RouteRequest<Params, Query, Body>): Promise<RouteAnswer>;
  /** Whether people may come to be asked something by it that they were not asked before. `kept`: as for `again`. */
  mayAsk?(asked: RouteRequest<Params, Query, Body>, kept?: Json): Promise<boolean>;
  /** Whose question that would be, where it is not of whoever calls. */
  readonly asker?: string;
  again?(...given: Parameters<Again<Params, Query, Body>>): ReturnType<Again<Params, Query, Body>>;
};

type PublicRoute<
  Params extends Schema = Schema,
  Query extends Schema = Schema,
  Body extends Schema = Schema,
> = Facts<Params, Query, Body> & {
  readonly scope: "public";
  handle(asked: RequestParts<Params, Query, Body>): Promise<RouteAnswer>;
};

export type Route = ScopedRoute | PublicRoute;

/** All that a credential may have one of; none of a route that needs none. */
export function scopesOfRoute(asked: Route): readonly string[] {
  if (asked.scope === "public") return [];
  return asked.orScope === undefined ? [asked.scope] : [asked.scope, asked.orScope];
}

export const isStream = ({ answers }: Pick<Route, "answers">): boolean =>
  Object.values(answers).includes("text/event-stream");

/** What of a route is known to the compiler alone; the client is typed by it. */
type RouteSignature = {
  readonly method: Method;
  readonly path: `/${string}`;
  readonly answers: { readonly [status: number]: Schema | Media };
};
type TypedRoute<Fact extends RouteSignature, Query extends Schema, Body extends Schema> = Route & {
  readonly types?: {
    readonly name: `${Fact["method"]} ${Fact["path"]}`;
    readonly query: Query;
    readonly body: Body;
    readonly answers: Fact["answers"];
  };
};

/**
 * Keeps the types of a route's schemas together with its handler. Lists of routes are written without a type, so that these
 * are not lost.
 */
export function route<
  const Fact extends RouteSignature,
  Params extends Schema = Schema,
  Query extends Schema = Schema,
  Body extends Schema = Schema,
>(value: ScopedRoute<Params, Query, Body> & Fact): TypedRoute<Fact, Query, Body> {
  return value as unknown as TypedRoute<Fact, Query, Body>;
}

export function publicRoute<
  const Fact extends RouteSignature,
  Params extends Schema = Schema,
  Query extends Schema = Schema,
  Body extends Schema = Schema,
>(value: PublicRoute<Params, Query, Body> & Fact): TypedRoute<Fact, Query, Body> {
  return value as unknown as TypedRoute<Fact, Query, Body>;
}

export const ok = (body: unknown): RouteAnswer => ({ status: 200, body });
export const created = (body: unknown): RouteAnswer => ({ status: 201, body });

/** As the router wants it: `/api/workflows/:id`. */
export const routerPath = (path: string): string => path.replaceAll(/\{(\w+)\}/g, ":$1");
export const routeName = ({ method, path }: Pick<Route, "method" | "path">): string => `${method} ${path}`;

/** Of what shows more than the scope of its route covers. */
export function checkHasScopes({ who }: Pick<RouteRequest, "who">, needed: readonly Scope[]): void {
  const lacking = needed.find((scope) => !who.can(scope));
  if (lacking !== undefined) throw new HoldpointError("forbidden", `This needs the scope ${lacking}.`);
}
