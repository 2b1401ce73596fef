/**
 * Which program acts in a request: the principal of its credential. The name in the body counts only without
 * authentication.
 */
import type { Who } from "../api/authenticate.ts";
import { HoldpointError } from "../kernel/errors.ts";
import { isPrincipal } from "../kernel/principal.ts";
import type { CallerRights } from "../people/rules/scopes.ts";

type PrincipalKind = "person" | "agent" | "service";

/** A bare name is taken as one of that kind: `user_123` as `person:user_123`. */
export function principalNamed(kind: PrincipalKind, name: string, field: string): string {
  const named = /^(person|agent|service):/.test(name) ? name : `${kind}:${name}`;
  if (isPrincipal(named)) return named;
  throw new HoldpointError("invalid_input", `"${field}" is not a name: ${kind}:<name>, or the name alone.`);
}

function credentialMismatch(field: string): HoldpointError {
  return new HoldpointError("forbidden", `"${field}" is not whose credential this is.`, {
    next: `Leave "${field}" out, or use the credential of whom it names.`,
  });
}

/** Whether the name is the credential's principal, in full or without its kind. */
function isOwnPrincipal(principal: string, named: string): boolean {
  return named === principal || named === principal.slice(principal.indexOf(":") + 1);
}

/** `own`: the owner, used if the request is neither authenticated nor names an agent. */
export function actingAgent({ principal }: Who, named: string | null | undefined, own?: string): string {
  if (principal !== null) {
    if (named != null && !isOwnPrincipal(principal, named)) throw credentialMismatch("agent");
    return principal;
  }
  if (named != null) return principalNamed("agent", named, "agent");
  if (own !== undefined) return own;
  throw new HoldpointError("invalid_input", 'Without authentication, "agent" has to say who it is.', {
    next: "Write agent:<name>, or the name alone.",
  });
}

/** The same for a field that names the caller and may be left out. */
export function callerPrincipal(
  { principal }: Who,
  {
    named,
    kind,
    field,
  }: { readonly named: string | undefined; readonly kind: PrincipalKind; readonly field: string },
): string | undefined {
  if (principal === null) return named === undefined ? undefined : principalNamed(kind, named, field);
  if (named !== undefined && !isOwnPrincipal(principal, named)) throw credentialMismatch(field);
  return principal;
}

/** The credential's principal. The name in a body counts only without authentication; a bare name is an agent's. */
export function actingSpeaker(who: Who, named: string | undefined, field: string): string {
  const by = callerPrincipal(who, { named, kind: "agent", field });
  if (by !== undefined) return by;
  throw new HoldpointError("invalid_input", `Without authentication, "${field}" has to say who it is.`, {
    next: "Write agent:<name> or the name alone, service:<name> or person:<name>.",
  });
}

/** A requester may not decide. A caller that may only drive names only itself; the rest needs workflows:write. */
export function mayActFor({ principal, can }: Who, named: readonly string[] | null | undefined): boolean {
  if (principal === null || can("workflows:write")) return true;
  return (named ?? []).every((one) => one === principal);
}

/** `caller`: undefined for a program with the store open. */
export function checkMayRepresent(
  caller: CallerRights | undefined,
  named: readonly string[] | null | undefined,
): void {
  if (caller === undefined || caller.principal === null) return;
  if (caller.scopes.includes("workflows:write")) return;
  if ((named ?? []).every((one) => one === caller.principal)) return;
  throw onlyForItselfError(
    "proposes actions",
    'Leave "on_behalf_of" out, or have a poster create a workflow that says it: that needs workflows:write.',
  );
}

export function onlyForItselfError(does: string, next: string): HoldpointError {
  return new HoldpointError("forbidden", `This credential ${does} only for itself.`, { next });
}
