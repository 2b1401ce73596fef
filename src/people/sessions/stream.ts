/**
 * The streams of login links and sessions: events, states, folds and the row of the session list.
 * - A link starts one session, once. A session that has ended stays ended.
 * - The hash of the secret is kept in the journal and not listed.
 */

import { isSameHash, NO_HASH } from "../../kernel/canonical-json.ts";
import { type Via, withoutChannel } from "../../kernel/principal.ts";
import { defineStream } from "../../kernel/stream.ts";

type LoginTerms = {
  readonly person: string;
  /** SHA-256 of the link's secret. */
  readonly hash: string;
  readonly expiresAt: number;
  readonly by: string;
};

type SessionTerms = {
  readonly person: string;
  /** SHA-256 of the secret in the session cookie. */
  readonly hash: string;
  readonly expiresAt: number;
  /** The login link that started it. */
  readonly via: string;
};

export type LoginState =
  | { readonly status: "none" }
  | (LoginTerms & {
      readonly status: "offered" | "used";
      readonly offeredAt: number;
      /** The session that the link started. */
      readonly session: string | null;
    });

export type SessionState =
  | { readonly status: "none" }
  | (SessionTerms & { readonly status: "begun" | "ended"; readonly begunAt: number });

const logins = defineStream<LoginState>();
export const loginKind = logins.define("login", {
  what: "A login link",
  version: 1,
  initial: { status: "none" },
  isOver: ({ status }) => status === "used",
  events: {
    "login.offered": logins.after(
      ["none"],
      "a one-time login link for a person: until when, by whom, and the SHA-256 of its secret",
      (_, body: LoginTerms & Via, { at }) => ({
        ...withoutChannel(body),
        ...{ status: "offered", offeredAt: at, session: null },
      }),
    ),
    "login.used": logins.after(
      ["offered"],
      "it was used, and the session that it made",
      (offered, { session }: { readonly session: string }) => ({ ...offered, status: "used", session }),
    ),
  },
  lists: [],
});

const sessions = defineStream<SessionState>();
export const session = sessions.define("session", {
  what: "A session",
  version: 1,
  initial: { status: "none" },
  isOver: ({ status }) => status === "ended",
  events: {
    "session.begun": sessions.after(
      ["none"],
      "a person logged in: until when, by which link, and the SHA-256 of the cookie's secret",
      (_, body: SessionTerms, { at }) => ({ ...body, status: "begun", begunAt: at }),
    ),
    "session.ended": sessions.after(
      ["begun"],
      "it was ended, by whom and why",
      (begun, _: { readonly by: string; readonly reason: string }) => ({ ...begun, status: "ended" }),
    ),
  },
  lists: [
    {
      bucket: ({ person }) => person,
      /** Expiry is checked when sessions are listed: rows have no clock. */
      data: ({ person, expiresAt, begunAt }) => ({ person, expiresAt, begunAt }),
      orders: {
        begun: {
          ...{ view: "sessions", version: 1, only: ({ status }) => status === "begun" },
          at: ({ begunAt }) => begunAt,
        },
      },
      isFixed: true,
    },
  ],
});

export type LoginFault = "unknown" | "used" | "expired";
export type SessionFault = "unknown" | "ended" | "expired";

export function checkLogin(state: LoginState, hash: string, now: number): LoginFault | undefined {
  const isSame = isSameHash(state.status === "none" ? NO_HASH : state.hash, hash);
  if (state.status === "none" || !isSame) return "unknown";
  if (state.status === "used") return "used";
  return now >= state.expiresAt ? "expired" : undefined;
}

export function checkSession(state: SessionState, hash: string, now: number): SessionFault | undefined {
  const isSame = isSameHash(state.status === "none" ? NO_HASH : state.hash, hash);
  if (state.status === "none" || !isSame) return "unknown";
  if (state.status === "ended") return "ended";
  return now >= state.expiresAt ? "expired" : undefined;
}
