/**
 * The streams of login links and sessions: events, states, folds and the row of the session list.
 * - A link starts one session, once. A session that has ended stays ended.
 * - The hash of the secret is kept in the journal and not listed.
 */

import { isSameHash, NO_HASH } from "../../kernel/canonical-json.ts";
import { HoldpointError } from "../../kernel/errors.ts";
import { type Via, withoutChannel } from "../../kernel/principal.ts";
import { eventBody, type Fold } from "../../kernel/stream.ts";

type SessionFact<Type extends string, Body> = { readonly type: Type; readonly tv: 1; readonly body: Body };

type LoginTerms = {
  readonly person: string;
  /** SHA-256 of the link's secret. */
  readonly hash: string;
  readonly expiresAt: number;
  readonly by: string;
};

type LoginEvent =
  | SessionFact<"login.offered", LoginTerms & Via>
  | SessionFact<"login.used", { readonly session: string }>;

type SessionTerms = {
  readonly person: string;
  /** SHA-256 of the secret in the session cookie. */
  readonly hash: string;
  readonly expiresAt: number;
  /** The login link that started it. */
  readonly via: string;
};

type SessionEvent =
  | SessionFact<"session.begun", SessionTerms>
  | SessionFact<"session.ended", { readonly by: string; readonly reason: string }>;

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

const LOGINS: readonly string[] = ["login.offered", "login.used"] satisfies readonly LoginEvent["type"][];
const SESSIONS: readonly string[] = [
  "session.begun",
  "session.ended",
] satisfies readonly SessionEvent["type"][];

function brokenSession(type: string, status: string): HoldpointError {
  return new HoldpointError("broken_rule", `The event "${type}" cannot follow what is ${status}.`);
}

export const loginFold: Fold<LoginState> = {
  version: 1,
  initial: { status: "none" },
  evolve(state, recorded) {
    const body = eventBody("A login link", recorded, LOGINS);
    const event = { type: recorded.type, tv: 1, body } as unknown as LoginEvent;
    if (event.type === "login.offered") {
      if (state.status !== "none") throw brokenSession(event.type, state.status);
      return { ...withoutChannel(event.body), status: "offered", offeredAt: recorded.at, session: null };
    }
    if (state.status !== "offered") throw brokenSession(event.type, state.status);
    return { ...state, status: "used", session: event.body.session };
  },
  isOver: ({ status }) => status === "used",
};

export const sessionFold: Fold<SessionState> = {
  version: 1,
  initial: { status: "none" },
  evolve(state, recorded) {
    const body = eventBody("A session", recorded, SESSIONS);
    const event = { type: recorded.type, tv: 1, body } as unknown as SessionEvent;
    if (event.type === "session.begun") {
      if (state.status !== "none") throw brokenSession(event.type, state.status);
      return { ...event.body, status: "begun", begunAt: recorded.at };
    }
    if (state.status !== "begun") throw brokenSession(event.type, state.status);
    return { ...state, status: "ended" };
  },
  isOver: ({ status }) => status === "ended",
};

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

export const sessionsView = {
  view: "sessions",
  kind: "session",
  version: 1,
  /** Expiry is checked when sessions are listed: rows have no clock. */
  row(_id: string, state: SessionState) {
    if (state.status !== "begun") return undefined;
    const { person, expiresAt, begunAt } = state;
    return { bucket: person, at: begunAt, due: null, data: { person, expiresAt, begunAt } };
  },
} as const;
