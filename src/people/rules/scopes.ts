/**
 * The scopes of each role and of a credential. The registry lists them all (`src/kernel/registry.ts`).
 *
 * - Scopes to decide for people, or to change the rules of decisions, are for people only: no agent or service has one,
 *   regardless of its roles.
 * - Narrowing a credential only removes scopes.
 * - Scopes about the tenants of an instance exist only in its home tenant: an admin of another tenant has none.
 * - A caller over the network obtains by no request of their own a right that their credential does not have. A program with
 *   the store open, and a server without authentication, have no caller to limit.
 */

import { HoldpointError } from "../../kernel/errors.ts";
import { isPerson } from "../../kernel/principal.ts";
import { SCOPES, type Scope, scopeFacts } from "../../kernel/registry.ts";
import { ROLES, type Role } from "../stream.ts";
import { HOME_TENANT } from "../tenants/stream.ts";

const OF_HOME: ReadonlySet<Scope> = new Set<Scope>(["tenants:manage"]);

const hasScope = (role: Role, scope: Scope): boolean =>
  role === "admin" ||
  (role === "auditor" && scope.endsWith(":read")) ||
  scopeFacts(scope).roles.some((one) => one === role);

export const ROLE_SCOPES = Object.fromEntries(
  ROLES.map((role) => [role, SCOPES.filter((scope) => hasScope(role, scope))]),
) as unknown as { readonly [role in Role]: readonly Scope[] };

type Bearer = {
  readonly tenant: string;
  readonly principal: string;
  readonly roles: readonly Role[];
};

/** In the order of `SCOPES`. `narrowedTo`: null if the credential has all scopes of its roles. */
export function scopesOf(
  { tenant, principal, roles }: Bearer,
  narrowedTo: readonly Scope[] | null,
): readonly Scope[] {
  const brought = new Set(roles.flatMap((role) => ROLE_SCOPES[role]));
  return SCOPES.filter(
    (scope) =>
      brought.has(scope) &&
      (isPerson(principal) || scopeFacts(scope).isForPeople !== true) &&
      (tenant === HOME_TENANT || !OF_HOME.has(scope)) &&
      (narrowedTo === null || narrowedTo.includes(scope)),
  );
}

export type CallerRights = {
  readonly tenant: string;
  /** `person:`, `agent:` or `service:` and a name; null without authentication. */
  readonly principal: string | null;
  readonly roles: readonly Role[];
  readonly scopes: readonly Scope[];
};

/** The scopes that a caller's new key may have at most; null: no limit. */
export const grantableScopes = (caller: CallerRights | undefined): readonly Scope[] | null =>
  caller === undefined || caller.principal === null ? null : caller.scopes;

/** A caller assigns only roles whose scopes their credential has: a narrowed one would regain scopes that way. */
export function checkAssignable(
  caller: CallerRights | undefined,
  person: string,
  roles: readonly Role[],
): void {
  if (caller === undefined || caller.principal === null) return;
  const brought = scopesOf({ tenant: caller.tenant, principal: person, roles }, null);
  const lacking = brought.find((scope) => !caller.scopes.includes(scope));
  if (lacking === undefined) return;
  throw new HoldpointError(
    "forbidden",
    `This credential does not have ${lacking}, which these roles bring: ${roles.join(", ")}.`,
    { next: "Ask a person whose session or key has all of these rights, such as an admin." },
  );
}

/** Only a full admin may log another person in: a narrowed credential would regain all scopes that way. */
export function checkFullAdmin(caller: CallerRights | undefined, by: string): void {
  if (caller === undefined) return;
  const all = scopesOf({ tenant: caller.tenant, principal: by, roles: ["admin"] }, null);
  if (caller.roles.includes("admin") && all.every((scope) => caller.scopes.includes(scope))) return;
  throw new HoldpointError("forbidden", "Only an admin does this, with a credential that was not narrowed.", {
    next: "Have an admin do it, with their session or with a key that has all scopes.",
  });
}
