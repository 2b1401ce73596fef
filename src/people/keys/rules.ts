/**
 * Rules for issuing, rotating and revoking API keys.
 *
 * - Only a person in good standing issues, rotates or revokes keys.
 * - If the caller's scopes are known, a key gets no scope that the caller lacks.
 * - A person's key belongs to a member of the roster and has no roles of its own; every other key has roles.
 * - Over the network only that person issues or rotates their key: an admin who could would vote in their name.
 * - No key is issued or rotated in a closed tenant.
 * - A key is replaced once, by a key with the same rights.
 */

import { channelField, isPerson, type Via } from "../../kernel/principal.ts";
import type { Scope } from "../../kernel/registry.ts";
import { keyStream, ROSTER } from "../../kernel/stream.ts";
import type { Draft, Need } from "../../kernel/transaction.ts";
import { membershipFault } from "../rules/credential.ts";
import { actorFault } from "../rules/roster.ts";
import { scopesOf } from "../rules/scopes.ts";
import { readOwnTenant } from "../tenants/stream.ts";
import type { KeyTerms, LiveKey } from "./stream.ts";

/** Scopes of the network caller; null: all, for a caller with direct access to the store. */
type Within = { readonly mayGive: readonly Scope[] | null };

export type IssueKeyCommand = Omit<KeyTerms, "expiresAt" | "replaces"> &
  Via &
  Within & { readonly key: string; readonly lastsMs: number | null };

type KeyNotAllowed = { readonly kind: "not_allowed"; readonly reason: string };
type IssueAnswer = { readonly kind: "issued" | "known" } | KeyNotAllowed;
type RotateAnswer =
  | { readonly kind: "rotated" | "known" | "unknown" }
  | { readonly kind: "over"; readonly why: string }
  | KeyNotAllowed;
type RevokeAnswer = { readonly kind: "revoked" | "unknown" } | KeyNotAllowed;

type Wanted = Pick<KeyTerms, "principal" | "roles" | "scopes" | "by"> & Within;

function whyNotFor(draft: Draft, { principal, roles, mayGive, by }: Wanted): string | undefined {
  const roster = draft.state(ROSTER);
  if (!isPerson(principal)) return roles.length === 0 ? `${principal} would have no role` : undefined;
  if (mayGive !== null && by !== principal) return `only ${principal} issues a key of theirs`;
  if (roles.length > 0) return `the roles of ${principal} are those in the list of people`;
  return membershipFault(roster, principal, draft.now);
}

function whyNotGive(draft: Draft, { principal, roles, scopes, mayGive }: Wanted): string | undefined {
  const own = draft.state(ROSTER).members.get(principal)?.roles ?? roles;
  const bearer = { tenant: draft.tenant, principal, roles: isPerson(principal) ? own : roles };
  const brought = scopesOf(bearer, null);
  const beyond = scopes?.find((scope) => !brought.includes(scope));
  if (beyond !== undefined) return `the roles of ${principal} do not bring ${beyond}`;
  const lacking = scopesOf(bearer, scopes).find((scope) => mayGive !== null && !mayGive.includes(scope));
  return lacking === undefined ? undefined : `the caller does not have ${lacking}`;
}

const whyShut = (draft: Draft): string | undefined =>
  draft.state(readOwnTenant(draft)).status === "closed" ? "the tenant is closed" : undefined;

const whyNot = (draft: Draft, wanted: Wanted): string | undefined =>
  whyShut(draft) ??
  actorFault(draft.state(ROSTER), wanted.by) ??
  whyNotFor(draft, wanted) ??
  whyNotGive(draft, wanted);

/** A retry after a lost answer finds the key `known`. */
export function issueKey(draft: Draft, command: IssueKeyCommand): Need | IssueAnswer {
  const { key, lastsMs, mayGive: _mayGive, ...terms } = command;
  const ref = keyStream(key);
  const more = draft.need({ write: [ref], read: [ROSTER, readOwnTenant(draft)] });
  if (more !== undefined) return more;
  if (draft.state(ref).status !== "none") return { kind: "known" };
  const reason = whyNot(draft, command);
  if (reason !== undefined) return { kind: "not_allowed", reason };
  const body = { ...terms, expiresAt: lastsMs === null ? null : draft.now + lastsMs, replaces: null };
  draft.append(ref, [{ type: "key.issued", tv: 1, body }]);
  return { kind: "issued" };
}

export type RotateKeyCommand = Within &
  Via & {
    readonly key: string;
    /** The replacement key, and the hash of its secret. */
    readonly next: string;
    readonly hash: string;
    /** How long both keys work. */
    readonly overlapMs: number;
    /** Lifetime of the new key; undefined: the lifetime that the old key was issued with. */
    readonly lastsMs: number | null | undefined;
    readonly by: string;
  };

function whyOver(key: LiveKey, now: number): string | undefined {
  if (key.status === "revoked") return "it was revoked";
  if (key.replacedBy !== null) return `${key.replacedBy} has taken its place`;
  return key.expiresAt !== null && now >= key.expiresAt ? "it has expired" : undefined;
}

function endOf(old: LiveKey, lastsMs: RotateKeyCommand["lastsMs"], now: number): number | null {
  if (lastsMs !== undefined) return lastsMs === null ? null : now + lastsMs;
  return old.expiresAt === null ? null : now + old.expiresAt - old.issuedAt;
}

export function rotateKey(draft: Draft, command: RotateKeyCommand): Need | RotateAnswer {
  const { key, next, hash, overlapMs, lastsMs, by, mayGive } = command;
  const [ref, nextRef] = [keyStream(key), keyStream(next)];
  const more = draft.need({ write: [ref, nextRef], read: [ROSTER, readOwnTenant(draft)] });
  if (more !== undefined) return more;
  if (draft.state(nextRef).status !== "none") return { kind: "known" };
  const old = draft.state(ref);
  if (old.status === "none") return { kind: "unknown" };
  const why = whyOver(old, draft.now);
  if (why !== undefined) return { kind: "over", why };
  const { principal, name, roles, scopes } = old;
  const reason = whyNot(draft, { principal, roles, scopes, by, mayGive });
  if (reason !== undefined) return { kind: "not_allowed", reason };
  const terms = { principal, name, roles, scopes, hash, by, replaces: key };
  const expiresAt = Math.min(draft.now + overlapMs, old.expiresAt ?? Number.POSITIVE_INFINITY);
  const how = channelField(command);
  const issued = { ...terms, expiresAt: endOf(old, lastsMs, draft.now), ...how };
  draft.append(nextRef, [{ type: "key.issued", tv: 1, body: issued }]);
  draft.append(ref, [{ type: "key.retired", tv: 1, body: { expiresAt, by, replacedBy: next, ...how } }]);
  return { kind: "rotated" };
}

export function revokeKey(
  draft: Draft,
  command: Via & { readonly key: string; readonly by: string; readonly reason: string },
): Need | RevokeAnswer {
  const { key, by, reason } = command;
  const ref = keyStream(key);
  const more = draft.need({ write: [ref], read: [ROSTER] });
  if (more !== undefined) return more;
  const state = draft.state(ref);
  if (state.status === "none") return { kind: "unknown" };
  if (state.status === "revoked") return { kind: "revoked" };
  const fault = actorFault(draft.state(ROSTER), by);
  if (fault !== undefined) return { kind: "not_allowed", reason: fault };
  draft.append(ref, [{ type: "key.revoked", tv: 1, body: { by, reason, ...channelField(command) } }]);
  return { kind: "revoked" };
}
