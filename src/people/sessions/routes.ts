/** HTTP routes of sessions: log in with a one-time link, who am I, log out, list and end one's own sessions. */

import { z } from "zod";
import { checkNotNarrowed, SESSION_COOKIE, type Who } from "../../api/authenticate.ts";
import { LOGIN_PAGE_HEADERS, loginPage } from "../../api/pages/plain-pages.ts";
import { ok, publicRoute, type RouteAnswer, route } from "../../api/route.ts";
import { idParams, time, timeSchema } from "../../api/wire.ts";
import type { Clock } from "../../kernel/clock.ts";
import { HoldpointError } from "../../kernel/errors.ts";
import { isPerson } from "../../kernel/principal.ts";

import type { Store } from "../../stores/store.ts";
import { endOwnSession, endOwnSessions, endSession, listOpenSessions, logIn } from "./sessions.ts";

export type SessionParts = {
  readonly store: Store;
  readonly clock: Clock;
  readonly random: (bytes: number) => Uint8Array;
};

const sessionStanding = z.object({
  tenant: z.string(),
  principal: z.string().nullable(),
  roles: z.array(z.string()),
  scopes: z.array(z.string()),
  via: z.string(),
  csrf_token: z.string().nullable().meta({ description: "of a session: send it as X-CSRF-Token" }),
});

const whoOnWire = ({ tenant, principal, roles, scopes, via, csrf }: Who) => ({
  ...{ tenant, principal, roles, scopes, via },
  csrf_token: csrf,
});

/** For this host only, never sent by other sites, never readable by scripts. */
function cookie(value: string, seconds: number): string {
  return `${SESSION_COOKIE}=${value}; Path=/; Secure; HttpOnly; SameSite=Strict; Max-Age=${seconds}`;
}

const opened = z.object({
  person: z.string(),
  tenant: z.string(),
  expires_at: timeSchema,
  csrf_token: z.string(),
});

async function open(hands: SessionParts, link: string): Promise<RouteAnswer> {
  const session = await logIn(hands, link);
  if ("refused" in session)
    throw new HoldpointError("unauthenticated", "The link is not valid, or no longer.", {
      next: "Ask for another: `holdpoint login-link <person>` makes one.",
    });
  const { person, tenant, expiresAt, csrf } = session;
  const seconds = Math.max(0, Math.floor((expiresAt - hands.clock.now()) / 1_000));
  const body = { person, tenant, expires_at: time(expiresAt), csrf_token: csrf };
  return { status: 201, body, headers: { "set-cookie": cookie(session.cookie, seconds) } };
}

export function sessionRoutes(hands: SessionParts) {
  return [
    publicRoute({
      method: "GET",
      path: "/login",
      summary: "The page that a login link opens",
      tag: "identities",
      scope: "public",
      query: z.strictObject({
        to: z.string().max(2_000).optional().meta({ description: "the page to go to then" }),
        out: z
          .literal("1")
          .optional()
          .meta({ description: "the previous session was ended: the page says so" }),
      }),
      answers: { 200: "text/html" },
      handle: async () => ({
        status: 200,
        text: loginPage(),
        type: "text/html; charset=utf-8",
        headers: LOGIN_PAGE_HEADERS,
      }),
    }),
    publicRoute({
      method: "POST",
      path: "/api/session",
      summary: "Log in by a link; it works once",
      tag: "identities",
      scope: "public",
      body: z.strictObject({ link: z.string().min(1).max(1_000) }),
      answers: { 201: opened },
      handle: ({ body }) => open(hands, body.link),
    }),
    route({
      method: "GET",
      path: "/api/session",
      summary: "The caller's principal, roles and scopes",
      tag: "identities",
      scope: "any",
      answers: { 200: sessionStanding },
      handle: async ({ who }) => ok(whoOnWire(who)),
    }),
    route({
      method: "DELETE",
      path: "/api/session",
      summary: "Log out: end this session",
      tag: "identities",
      scope: "any",
      answers: { 200: z.object({ ended: z.boolean() }) },
      async handle({ who, runtime }) {
        const { via, credential, principal } = who;
        if (via !== "session" || principal === null)
          throw new HoldpointError("wrong_state", "This is no session.", { next: "Revoke a key instead." });
        const ended = await endSession(runtime, credential, { by: principal, reason: "logged out" });
        return { ...ok({ ended }), headers: { "set-cookie": cookie("", 0) } };
      },
    }),
  ];
}

const session = z.object({
  session_id: z.string(),
  begun_at: timeSchema,
  expires_at: timeSchema,
  is_this: z.boolean().meta({ description: "the one that asks" }),
});

function ownerOf({ principal }: Who): string {
  if (principal !== null && isPerson(principal)) return principal;
  throw new HoldpointError("forbidden", "Only people have sessions, and this is not a person's credential.");
}

/** The person whose sessions this credential may end. */
function sessionEnder(who: Who): string {
  const owner = ownerOf(who);
  checkNotNarrowed(who);
  return owner;
}

export const ownSessionRoutes = [
  route({
    method: "GET",
    path: "/api/sessions",
    summary: "The caller's open sessions, newest first",
    tag: "identities",
    scope: "any",
    answers: { 200: z.object({ sessions: z.array(session) }) },
    async handle({ runtime, who }) {
      const open = await listOpenSessions(runtime, ownerOf(who));
      const sessions = open.map(({ id, begunAt, expiresAt }) => ({
        session_id: id,
        begun_at: time(begunAt),
        expires_at: time(expiresAt),
        is_this: id === who.credential,
      }));
      return ok({ sessions });
    },
  }),
  route({
    method: "DELETE",
    path: "/api/sessions/{id}",
    summary: "End one of the caller's sessions",
    tag: "identities",
    scope: "any",
    params: idParams,
    answers: { 200: z.object({ ended: z.boolean() }) },
    handle: async ({ runtime, who, params }) =>
      ok({ ended: await endOwnSession(runtime, sessionEnder(who), params.id) }),
  }),
  route({
    method: "DELETE",
    path: "/api/sessions",
    summary: "End all of the caller's sessions, this one included",
    tag: "identities",
    scope: "any",
    answers: { 200: z.object({ ended: z.number() }) },
    handle: async ({ runtime, who }) => ok({ ended: await endOwnSessions(runtime, sessionEnder(who)) }),
  }),
];
