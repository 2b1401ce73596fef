/**
 * Rules for making and closing tenants. Each is written to two journals: the home tenant's records who did it, and the
 * tenant's own is where it takes effect. Two journals are two commits, so every step is idempotent.
 *
 * - Only a person in good standing in the home tenant makes or closes a tenant.
 * - The first admin is added only to an empty roster.
 * - The commit that closes a tenant also stops its effects.
 */

import { channelField, type Via } from "../../kernel/principal.ts";
import { ROSTER, switchStream, tenantStream } from "../../kernel/stream.ts";
import type { Draft, Need } from "../../kernel/transaction.ts";
import { decideSwitch, TENANT_SCOPE } from "../../kill-switch/stream.ts";
import { actorFault, decideAddPerson } from "../rules/roster.ts";
import { readOwnTenant } from "./stream.ts";

type TenantNotAllowed = { readonly kind: "not_allowed"; readonly reason: string };
type RegisterTenantCommand = Via & { readonly name: string; readonly by: string };

/** In the home tenant: reserves the name. */
export function registerTenant(
  draft: Draft,
  { name, by, ...how }: RegisterTenantCommand,
): Need | { readonly kind: "added" | "known" | "closed" } | TenantNotAllowed {
  const ref = tenantStream(name);
  const more = draft.need({ write: [ref], read: [ROSTER] });
  if (more !== undefined) return more;
  const reason = actorFault(draft.state(ROSTER), by);
  if (reason !== undefined) return { kind: "not_allowed", reason };
  const { status } = draft.state(ref);
  if (status !== "none") return { kind: status === "open" ? "known" : "closed" };
  draft.append(ref, [{ type: "tenant.added", tv: 1, body: { by, ...channelField(how) } }]);
  return { kind: "added" };
}

type FoundTenantCommand = Via & { readonly by: string; readonly admin: string };

/** In the tenant itself: adds its first admin. */
export function foundTenant(
  draft: Draft,
  { by, admin, ...how }: FoundTenantCommand,
): Need | { readonly kind: "founded" | "peopled" | "closed" } | TenantNotAllowed {
  const ref = readOwnTenant(draft);
  const more = draft.need({ write: [ref, ROSTER] });
  if (more !== undefined) return more;
  const { status } = draft.state(ref);
  if (status === "closed") return { kind: "closed" };
  if (draft.state(ROSTER).members.size > 0) return { kind: "peopled" };
  if (status === "none")
    draft.append(ref, [{ type: "tenant.added", tv: 1, body: { by, ...channelField(how) } }]);
  const name = admin.slice("person:".length);
  const member = { name, mail: null, roles: ["admin", "supervisor"] as const, groups: [] };
  const added = decideAddPerson(draft, { person: admin, member, by, ...channelField(how) });
  if (added.kind === "need" || added.kind === "not_allowed") return added;
  return { kind: "founded" };
}

type CloseTenantCommand = RegisterTenantCommand & { readonly reason: string };

/** Checks the actor's right before anything is written to the other journal. */
export function mayClose(draft: Draft, by: string): Need | { readonly kind: "allowed" } | TenantNotAllowed {
  const more = draft.need({ read: [ROSTER] });
  if (more !== undefined) return more;
  const reason = actorFault(draft.state(ROSTER), by);
  return reason === undefined ? { kind: "allowed" } : { kind: "not_allowed", reason };
}

/** In the tenant itself: from now on no credential is accepted and nothing starts. Returns whether anything changed. */
export function closeOwnTenant(
  draft: Draft,
  { by, reason, ...how }: Omit<CloseTenantCommand, "name">,
): Need | boolean {
  const [ref, scope] = [readOwnTenant(draft), switchStream(TENANT_SCOPE)];
  const more = draft.need({ write: [ref, scope] });
  if (more !== undefined) return more;
  if (draft.state(ref).status === "closed") return false;
  const said = { by, reason, ...channelField(how) };
  draft.append(ref, [{ type: "tenant.closed", tv: 1, body: said }]);
  draft.append(scope, decideSwitch(draft.state(scope), { stop: true, ...said }));
  return true;
}

/** In the home tenant: records the closing. */
export function recordClosing(
  draft: Draft,
  { name, by, reason, ...how }: CloseTenantCommand,
): Need | boolean {
  const ref = tenantStream(name);
  const more = draft.need({ write: [ref] });
  if (more !== undefined) return more;
  if (draft.state(ref).status === "closed") return false;
  draft.append(ref, [{ type: "tenant.closed", tv: 1, body: { by, reason, ...channelField(how) } }]);
  return true;
}
