/**
 * Limits of a caller over the network: nobody obtains by their own request a right that their credential does not have.
 * A program with the store open, and a server without authentication, have no caller to limit.
 */
import { HoldpointError } from "../kernel/errors.ts";
import type { Scope } from "../kernel/registry.ts";
import { scopesOf } from "./rules/scopes.ts";
import type { Role } from "./stream.ts";

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
