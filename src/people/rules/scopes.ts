/**
 * The closed list of scopes that a credential can have, and the scopes of each role.
 *
 * - Scopes to decide for people, or to change the rules of decisions, are for people only: no agent or service has one,
 *   regardless of its roles.
 * - Narrowing a credential only removes scopes.
 * - Scopes about the tenants of an instance exist only in its home tenant: an admin of another tenant has none.
 */

import { isPerson } from "../../kernel/principal.ts";
import type { Role } from "../stream.ts";
import { HOME_TENANT } from "../tenants/stream.ts";

export const SCOPES = [
  "workflows:read",
  "workflows:write",
  "workflows:drive",
  "actions:read",
  "actions:propose",
  "approvals:read",
  "approvals:decide",
  "effects:resolve",
  "intents:read",
  "intents:send",
  "intents:answer",
  "grants:read",
  "grants:write",
  "budgets:read",
  "budgets:write",
  "policies:read",
  "policies:write",
  "switch:read",
  "switch:write",
  "alerts:read",
  "alerts:acknowledge",
  "journal:read",
  "journal:verify",
  "people:read",
  "people:write",
  "keys:read",
  "keys:write",
  "endpoints:read",
  "endpoints:write",
  "tenants:manage",
] as const;
export type Scope = (typeof SCOPES)[number];

/** With `keys:write` or `people:write` a program could make itself a person; policies and budgets decide too. */
const OF_PEOPLE: ReadonlySet<Scope> = new Set<Scope>([
  "approvals:decide",
  "effects:resolve",
  "grants:write",
  "budgets:write",
  "policies:write",
  "switch:write",
  "alerts:acknowledge",
  "people:write",
  "keys:write",
  "tenants:manage",
]);

const OF_HOME: ReadonlySet<Scope> = new Set<Scope>(["tenants:manage"]);

const isReading = (scope: Scope): boolean => scope.endsWith(":read");
const READING = SCOPES.filter(isReading);
/** For participants in the work: excludes the other people and their keys. */
const AT_WORK: readonly Scope[] = [
  "workflows:read",
  "actions:read",
  "approvals:read",
  "intents:read",
  "budgets:read",
  "policies:read",
  "switch:read",
];

export const ROLE_SCOPES: { readonly [role in Role]: readonly Scope[] } = {
  admin: SCOPES,
  poster: [...AT_WORK, "workflows:write", "intents:send"],
  executor: [...AT_WORK, "workflows:drive", "actions:propose", "intents:send", "intents:answer"],
  supervisor: [
    ...[...AT_WORK, "grants:read", "alerts:read", "journal:read", "people:read"],
    ...[
      "workflows:write",
      "approvals:decide",
      "intents:answer",
      "grants:write",
      "switch:write",
      "alerts:acknowledge",
    ],
  ] as readonly Scope[],
  verifier: [
    ...[...AT_WORK, "grants:read", "alerts:read", "journal:read", "people:read"],
    ...["journal:verify", "effects:resolve"],
  ] as readonly Scope[],
  auditor: [...READING, "journal:verify"],
};

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
      (isPerson(principal) || !OF_PEOPLE.has(scope)) &&
      (tenant === HOME_TENANT || !OF_HOME.has(scope)) &&
      (narrowedTo === null || narrowedTo.includes(scope)),
  );
}
