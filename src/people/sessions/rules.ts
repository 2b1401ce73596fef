/**
 * Rules of one-time login links, and of the sessions they start.
 *
 * - A link belongs to a roster member in good standing, both when it is made and when it is used.
 * - A link starts one session, once, before it expires.
 * - In a closed tenant no link is made, and none starts a session.
 */
import { channelField, type Via } from "../../kernel/principal.ts";
import { loginStream, ROSTER, STORE_HISTORY, sessionStream } from "../../kernel/stream.ts";
import type { Draft, Need } from "../../kernel/transaction.ts";
import {
  isFromBeforeRestore,
  membershipFault,
  type StandingFault,
  standingFault,
} from "../rules/credential.ts";
import { actorFault } from "../rules/roster.ts";
import { readOwnTenant } from "../tenants/stream.ts";
import { checkLogin, type LoginFault } from "./stream.ts";

type OfferLoginCommand = Via & {
  readonly login: string;
  readonly person: string;
  readonly hash: string;
  readonly lastsMs: number;
  readonly by: string;
};
type OfferAnswer =
  | { readonly kind: "offered" | "known"; readonly expiresAt: number }
  | { readonly kind: "not_allowed"; readonly reason: string };

function whyNot(draft: Draft, person: string, by: string): string | undefined {
  const roster = draft.state(ROSTER);
  if (draft.state(readOwnTenant(draft)).status === "closed") return "the tenant is closed";
  return actorFault(roster, by) ?? membershipFault(roster, person, draft.now);
}

export function decideOfferLogin(draft: Draft, command: OfferLoginCommand): Need | OfferAnswer {
  const { login, person, hash, lastsMs, by } = command;
  const ref = loginStream(login);
  const more = draft.need({ write: [ref], read: [ROSTER, readOwnTenant(draft)] });
  if (more !== undefined) return more;
  const state = draft.state(ref);
  if (state.status !== "none") return { kind: "known", expiresAt: state.expiresAt };
  const reason = whyNot(draft, person, by);
  if (reason !== undefined) return { kind: "not_allowed", reason };
  const expiresAt = draft.now + lastsMs;
  const body = { person, hash, expiresAt, by, ...channelField(command) };
  draft.append(ref, [{ type: "login.offered", tv: 1, body }]);
  return { kind: "offered", expiresAt };
}

export type LogInCommand = {
  readonly login: string;
  /** Hash of the presented secret of the link. */
  readonly hash: string;
  readonly session: string;
  readonly sessionHash: string;
  readonly lastsMs: number;
};
type LogInAnswer =
  | { readonly kind: "begun"; readonly person: string; readonly expiresAt: number }
  | { readonly kind: "refused"; readonly refused: LoginFault | StandingFault | "restored" | "closed" };

/** Without a valid link nothing is written: a refusal is only an answer. */
export function decideLogIn(draft: Draft, command: LogInCommand): Need | LogInAnswer {
  const { login, hash, session, sessionHash, lastsMs } = command;
  const [ref, begun] = [loginStream(login), sessionStream(session)];
  const more = draft.need({ write: [ref, begun], read: [ROSTER, STORE_HISTORY, readOwnTenant(draft)] });
  if (more !== undefined) return more;
  const known = draft.state(begun);
  if (known.status !== "none") return { kind: "begun", person: known.person, expiresAt: known.expiresAt };
  const state = draft.state(ref);
  const fault = checkLogin(state, hash, draft.now);
  if (fault !== undefined || state.status === "none") return { kind: "refused", refused: fault ?? "unknown" };
  const { person, offeredAt } = state;
  if (draft.state(readOwnTenant(draft)).status === "closed") return { kind: "refused", refused: "closed" };
  if (isFromBeforeRestore(draft.state(STORE_HISTORY), offeredAt))
    return { kind: "refused", refused: "restored" };
  const standing = standingFault(draft.state(ROSTER), person, offeredAt);
  if (standing !== undefined) return { kind: "refused", refused: standing };
  const expiresAt = draft.now + lastsMs;
  const body = { person, hash: sessionHash, expiresAt, via: login };
  draft.append(ref, [{ type: "login.used", tv: 1, body: { session } }]);
  draft.append(begun, [{ type: "session.begun", tv: 1, body }]);
  return { kind: "begun", person, expiresAt };
}

/** Returns whether the session was open until now. */
export function decideEndSession(
  draft: Draft,
  { session, by, reason }: { readonly session: string; readonly by: string; readonly reason: string },
): Need | boolean {
  const ref = sessionStream(session);
  const more = draft.need({ write: [ref] });
  if (more !== undefined) return more;
  if (draft.state(ref).status !== "begun") return false;
  draft.append(ref, [{ type: "session.ended", tv: 1, body: { by, reason } }]);
  return true;
}
