/**
 * Whose credential it is, and what it may be used for.
 *
 * W1. A person's key or session is worth something only while they are in the roster and in good standing, and only if they got
 *     it since they were added.
 * W2. What a person may do comes from the roster as it stands now, never from the time the credential was made.
 * W3. Sessions and login links from before a restore are worth nothing: they may have been ended since the backup.
 * W4. In a tenant that was closed no credential is worth anything.
 */

import type { StoreState } from "../journal/stream.ts";
import { isPerson } from "../kernel/principal.ts";
import type { LiveKey } from "./key/state.ts";
import { checkKey, type KeyFault, type KeyState } from "./key/state.ts";
import type { Role, RosterState } from "./roster.ts";
import { type Scope, scopesOf } from "./scopes.ts";
import { checkSession, type SessionFault, type SessionState } from "./session/state.ts";
import type { TenantState } from "./tenant/state.ts";

export type StandingFault = "removed" | "suspended";

/** Why a person's credential counts for nothing; undefined when it does. */
export function standingFault(
  { members, suspended }: RosterState,
  person: string,
  heldSince: number,
): StandingFault | undefined {
  const member = members.get(person);
  if (member === undefined || heldSince < member.since) return "removed";
  return suspended.includes(person) ? "suspended" : undefined;
}

/** A history that was restored after a moment does not know what was ended between its backup and then. */
export const isFromBefore = ({ last }: StoreState, at: number): boolean => last !== null && at <= last.at;

export type Holder = {
  readonly principal: string;
  readonly roles: readonly Role[];
  readonly scopes: readonly Scope[];
};
export type Fault = KeyFault | SessionFault | StandingFault | "restored" | "closed";
export type Refused = { readonly refused: Fault };

function holderIn(
  { roster, tenant }: KeySeen,
  { principal, roles, scopes }: Omit<LiveKey, "status">,
): Holder {
  const now = isPerson(principal) ? (roster.members.get(principal)?.roles ?? []) : roles;
  return { principal, roles: now, scopes: scopesOf({ tenant, principal, roles: now }, scopes) };
}

/** The tenant that the credential names, and how that stands. */
type TenantSeen = { readonly tenant: string; readonly standing: TenantState };
export type KeySeen = TenantSeen & { readonly key: KeyState; readonly roster: RosterState };

export function holderOfKey(seen: KeySeen, hash: string, now: number): Holder | Refused {
  return holdersOfKey(seen)(hash, now);
}

/** The same for one that is shown again and again: whether it counts is looked at every time, what it brings once. */
export function holdersOfKey(seen: KeySeen): (hash: string, now: number) => Holder | Refused {
  const { key, roster } = seen;
  let holder: Holder | undefined;
  return (hash, now) => {
    const fault = checkKey(key, hash, now);
    if (fault !== undefined || key.status === "none") return { refused: fault ?? "unknown" };
    if (seen.standing.status === "closed") return { refused: "closed" };
    const standing = isPerson(key.principal) ? standingFault(roster, key.principal, key.issuedAt) : undefined;
    if (standing !== undefined) return { refused: standing };
    holder ??= holderIn(seen, key);
    return holder;
  };
}

export type SessionSeen = TenantSeen & {
  readonly session: SessionState;
  readonly roster: RosterState;
  readonly history: StoreState;
};

export function holderOfSession(seen: SessionSeen, hash: string, now: number): Holder | Refused {
  const { session, roster, history, tenant } = seen;
  const fault = checkSession(session, hash, now);
  if (fault !== undefined || session.status === "none") return { refused: fault ?? "unknown" };
  if (seen.standing.status === "closed") return { refused: "closed" };
  if (isFromBefore(history, session.begunAt)) return { refused: "restored" };
  const { person, begunAt } = session;
  const standing = standingFault(roster, person, begunAt);
  if (standing !== undefined) return { refused: standing };
  const roles = roster.members.get(person)?.roles ?? [];
  return { principal: person, roles, scopes: scopesOf({ tenant, principal: person, roles }, null) };
}
