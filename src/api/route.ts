/**
 * A route is a value. The server, the OpenAPI document, the reference page and the tests of every route are made from
 * the list of routes, so none is left unchecked. Errors on the wire are RFC 9457 problems, with our codes and their advice.
 */
import type { FastifyReply } from "fastify";
import type { z } from "zod";
import { type ErrorCode, HoldpointError, isHoldpointError } from "../kernel/errors.ts";
import type { Json } from "../kernel/json.ts";
import { problemFields } from "../kernel/problem.ts";
import type { Scope } from "../kernel/registry.ts";
import type { Runtime } from "../runtime/runtime.ts";
import type { Who } from "./authenticate.ts";
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

/** JSON, another kind of text, bytes, or a handler that takes the connection over. */
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
  readonly requestId: string;
  readonly header: (name: string) => string | undefined;
};

/** Input of a handler. `who` belongs to the tenant of `office`. */
export type RouteRequest<
  Params extends Schema = Schema,
  Query extends Schema = Schema,
  Body extends Schema = Schema,
> = RequestParts<Params, Query, Body> & {
  readonly who: Who;
  readonly tenant: string;
  readonly runtime: Runtime;
  readonly office: TenantHost;
  /** The caller with their current rights; undefined once the credential is invalid. For answers that take long. */
  readonly whoNow: () => Promise<Who | undefined>;
  /** Throws the error that the same request would get now if its credential is invalid or lost the right to do this. */
  readonly mayStill: () => Promise<void>;
  /** Aborts when the connection has closed or the answer was sent. For answers that take long. */
  readonly gone: () => AbortSignal;
  /** The same without a signal: a signal costs each request an exception when its connection closes. */
  readonly isGone: () => boolean;
};

/** Runs around a verb's implementation. `input`: as parsed. */
export type Guard = (asked: RouteRequest, input: object, serve: () => Promise<unknown>) => Promise<unknown>;

/** Media type of an answer that is not JSON. */
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
  /** By status. Problems are added to every route. */
  readonly answers: { readonly [status: number]: Schema | Media };
  /**
   * For a POST, if a request with the same Idempotency-Key began and its process died: `repeat` idempotent work, or
   * `say` that the outcome is unknown. `none`: the answer must not be kept.
   */
  readonly whenLost?: "repeat" | "say" | "none";
  /** For a page: how a problem is shown to a caller that requests HTML. Programs get the usual problem. */
  readonly problem?: (problem: Problem, url: string) => RouteAnswer;
};

/** Reads again if the kept answer may be out of date; undefined if it is returned unchanged. */
type Again<Params extends Schema, Query extends Schema, Body extends Schema> = (
  asked: RouteRequest<Params, Query, Body>,
  kept: Json,
) => Promise<RouteAnswer> | undefined;

export type ScopedRoute<
  Params extends Schema = Schema,
  Query extends Schema = Schema,
  Body extends Schema = Schema,
> = Facts<Params, Query, Body> & {
  /** `any`: every valid credential. */
  readonly scope: Scope | "any";
  /** A caller with this scope instead gets a smaller answer, which the handler chooses. */
  readonly orScope?: Scope;
  handle(asked: RouteRequest<Params, Query, Body>): Promise<RouteAnswer>;
  /** Whether the request may put a new question before people. `kept`: as for `again`. */
  mayAsk?(asked: RouteRequest<Params, Query, Body>, kept?: Json): Promise<boolean>;
  /** The principal that the question is counted for, if it is not the caller. */
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

/** The scopes of which a credential needs one; empty for a public route. */
export function scopesOfRoute(asked: Route): readonly string[] {
  if (asked.scope === "public") return [];
  return asked.orScope === undefined ? [asked.scope] : [asked.scope, asked.orScope];
}

export const isStream = ({ answers }: Pick<Route, "answers">): boolean =>
  Object.values(answers).includes("text/event-stream");

/** Parts of a route that only the compiler uses: they type the client. */
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
 * Keeps the types of a route's schemas together with its handler. Lists of routes have no type annotation, so that
 * these types are not lost.
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

/** Router syntax: `/api/workflows/:id`. */
export const routerPath = (path: string): string => path.replaceAll(/\{(\w+)\}/g, ":$1");
export const routeName = ({ method, path }: Pick<Route, "method" | "path">): string => `${method} ${path}`;

/** For an answer that shows more than the scope of its route covers. */
export function checkHasScopes({ who }: Pick<RouteRequest, "who">, needed: readonly Scope[]): void {
  const lacking = needed.find((scope) => !who.can(scope));
  if (lacking !== undefined) throw new HoldpointError("forbidden", `This needs the scope ${lacking}.`);
}

export const PROBLEM_TYPE = "application/problem+json; charset=utf-8";

type ProblemContext = { readonly instance: string; readonly requestId: string };

export const problemOf = (error: HoldpointError, { instance, requestId }: ProblemContext) =>
  problemFields(error, { instance, correlation_id: requestId });

export type Problem = Readonly<ReturnType<typeof problemOf>>;

type Fault = { readonly field: string; readonly message: string };

/** Lists every invalid field, with the part of the request that holds it. */
export function invalidInput(part: string, issues: readonly z.core.$ZodIssue[]): HoldpointError {
  const errors: Fault[] = issues.flatMap((issue) => {
    const keys = issue.code === "unrecognized_keys" ? issue.keys : [undefined];
    return keys.map((key) => ({
      field: [part, ...issue.path, ...(key === undefined ? [] : [key])].map(String).join("."),
      message: key === undefined ? issue.message : "there is no such field",
    }));
  });
  // A contract's message is a sentence: its full stop would be doubled, or precede a semicolon.
  const named = errors.slice(0, 5).map(({ field, message }) => `${field}: ${message.replace(/\.$/, "")}`);
  const more = errors.length > named.length ? `; and ${errors.length - named.length} more` : "";
  return new HoldpointError("invalid_input", `The request does not fit: ${named.join("; ")}${more}.`, {
    details: { errors: errors.slice(0, 100) },
  });
}

/** Errors of the framework, by status. */
const BY_STATUS: { readonly [status: number]: ErrorCode } = {
  404: "unknown_route",
  405: "unknown_route",
  413: "payload_too_large",
  415: "unsupported_media_type",
};

function frameworkError(error: unknown): HoldpointError | undefined {
  const { statusCode, message } = error as { readonly statusCode?: unknown; readonly message?: unknown };
  if (typeof statusCode !== "number" || statusCode < 400 || statusCode >= 500) return undefined;
  return new HoldpointError(BY_STATUS[statusCode] ?? "invalid_input", `${String(message)}.`, {
    cause: error,
  });
}

/** An error of ours is returned unchanged. Other errors reveal no internals. */
export function asHoldpointError(error: unknown): HoldpointError {
  if (isHoldpointError(error)) return error;
  const refused = typeof error === "object" && error !== null ? frameworkError(error) : undefined;
  return (
    refused ?? new HoldpointError("unexpected", "Something went wrong that has no name.", { cause: error })
  );
}
