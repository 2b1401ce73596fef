/**
 * The scopes of each role and of a credential. The registry lists them all (`src/kernel/registry.ts`).
 *
 * - Scopes to decide for people, or to change the rules of decisions, are for people only: no agent or service has one,
 *   regardless of its roles.
 * - Narrowing a credential only removes scopes.
 * - Scopes about the tenants of an instance exist only in its home tenant: an admin of another tenant has none.
 */

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
