/**
 * Identifies the caller: maps a credential to a principal of one tenant with its scopes, and the person it acts as.
 * An actor named in the body counts only if the server runs without authentication.
 */

import type { Clock } from "../kernel/clock.ts";
import { HoldpointError } from "../kernel/errors.ts";
import { isPerson, isPrincipal } from "../kernel/principal.ts";
import { SCOPES, type Scope } from "../kernel/registry.ts";
import {
  type CredentialReading,
  type Identity,
  identify,
  isOwnPage,
  type NotIdentified,
  readCredential,
} from "../people/authenticate.ts";
import { type CallerRights, scopesOf } from "../people/rules/scopes.ts";
import { ROLES } from "../people/stream.ts";
import { HOME_TENANT } from "../people/tenants/stream.ts";
import type { Store } from "../stores/store.ts";

export type Who = CallerRights & {
  readonly can: (scope: Scope) => boolean;
  /** Key for counting requests: the credential's id, never the credential. */
  readonly credential: string;
  /** How the caller authenticated, as recorded with votes. */
  readonly via: "api_key" | "session" | "unauthenticated";
  /** CSRF token of a session's pages; null for other credentials. */
  readonly csrf: string | null;
};

/** Credentials of a request. They are never logged. */
export type PresentedCredential = {
  readonly authorization: string | undefined;
  readonly cookie: string | undefined;
  /** CSRF token. Changes with a session require it. */
  readonly csrf: string | undefined;
  readonly method: string;
  readonly address: string;
  /** The connection. A credential that is sent again on it is not parsed again. */
  readonly connection?: object;
};

export type Authenticate = (credential: PresentedCredential) => Promise<Who | undefined>;

/** `--no-auth`: every caller who reaches the address may do everything, and decisions record that. */
export const withoutAuthentication: Authenticate = async ({ address }) => ({
  tenant: HOME_TENANT,
  principal: null,
  roles: ROLES,
  scopes: SCOPES,
  can: () => true,
  credential: address,
  via: "unauthenticated",
  csrf: null,
});

export const SESSION_COOKIE = "__Host-holdpoint";

/** The session cookie; undefined if it occurs more than once. */
function cookieOf(header: string | undefined): string | undefined {
  const pairs = (header ?? "").split(";").map((pair) => pair.trim().split("="));
  const own = pairs.filter(([name]) => name === SESSION_COOKIE);
  return own.length === 1 ? own[0]?.slice(1).join("=") : undefined;
}

type Shown = { readonly text: string | undefined; readonly kind: Identity["credential"] };

/**
 * A wrong header is not replaced by a cookie. The header holds only a key and the cookie only a session: a browser
 * would send a key in a cookie without the page's CSRF token.
 */
function shownIn({ authorization, cookie }: PresentedCredential): Shown {
  if (authorization === undefined) return { text: cookieOf(cookie), kind: "session" };
  return { text: /^Bearer ([\x21-\x7e]{1,2000})$/i.exec(authorization)?.[1], kind: "key" };
}

function whoOf({ tenant, principal, roles, scopes, id, credential, csrf }: Identity): Who {
  const via = credential === "key" ? "api_key" : "session";
  const can = (scope: Scope) => scopes.includes(scope);
  return { tenant, principal, roles, scopes, can, credential: id, via, csrf };
}

/** Caches the parsed credential for as long as its connection exists. */
function createReader(): (credential: PresentedCredential) => CredentialReading | undefined {
  const last = new WeakMap<
    object,
    { readonly text: string; readonly read: CredentialReading | NotIdentified }
  >();
  const readOnce = (text: string, connection: object | undefined): CredentialReading | NotIdentified => {
    const known = connection === undefined ? undefined : last.get(connection);
    if (known?.text === text) return known.read;
    const read = readCredential(text);
    if (connection !== undefined) last.set(connection, { text, read });
    return read;
  };
  return (credential) => {
    const { text, kind } = shownIn(credential);
    const read = text === undefined ? undefined : readOnce(text, credential.connection);
    return read === undefined || "refused" in read || read.credential !== kind ? undefined : read;
  };
}

/** By an API key in the header, or by a session in the cookie. */
export function authenticateByCredential(place: {
  readonly store: Store;
  readonly clock: Clock;
}): Authenticate {
  const read = createReader();
  return async (credential) => {
    const shown = read(credential);
    const found = shown === undefined ? undefined : await identify(place, shown);
    if (found === undefined || "refused" in found) return undefined;
    const changes = credential.method !== "GET" && credential.method !== "HEAD";
    if (changes && !isOwnPage(found, credential.csrf))
      throw new HoldpointError("forbidden", "A session changes something only from a page of this server.", {
        next: "Send the token of GET /api/session as X-CSRF-Token.",
      });
    return whoOf(found);
  };
}

const asPerson = (name: string): string => (name.startsWith("person:") ? name : `person:${name}`);

function claimedPerson(named: string | undefined, field: string): string {
  if (named === undefined)
    throw new HoldpointError("invalid_input", `Without authentication, "${field}" has to say who it is.`);
  const person = asPerson(named);
  if (/^(agent|service):/.test(named))
    throw new HoldpointError("invalid_input", `"${field}" is a program's name; only people do this.`);
  if (!isPrincipal(person)) throw new HoldpointError("invalid_input", `"${field}" is not a person's name.`);
  return person;
}

/** Without authentication, every caller may act as a person. */
export function checkIsPerson({ principal }: Pick<Who, "principal">): void {
  if (principal !== null && !isPerson(principal))
    throw new HoldpointError("forbidden", "Only people do this; this is a credential of a program.", {
      next: "Have a person do it, with their own session or key.",
    });
}

/** `field`: the body field that may name the same person. */
export function actingPerson({ principal }: Who, named: string | undefined, field = "by"): string {
  if (principal === null) return claimedPerson(named, field);
  checkIsPerson({ principal });
  if (named !== undefined && asPerson(named) !== principal)
    throw new HoldpointError("forbidden", `"${field}" is not the person whose credential this is.`, {
      next: `Leave "${field}" out, or have that person do it.`,
    });
  return principal;
}

/** A narrowed key serves one purpose, so it cannot manage its owner's sessions and other keys. */
export function checkNotNarrowed({ tenant, principal, roles, via, can }: Who): void {
  if (principal === null || via === "session") return;
  if (scopesOf({ tenant, principal, roles }, null).every(can)) return;
  throw new HoldpointError("forbidden", "This needs a session, or a key that was not narrowed.", {
    next: "Log in and do it there, or use a key that has all scopes of its owner.",
  });
}

/** A person or a service: agents do not set where notifications go. */
export function actingOperator(who: Who, named: string | undefined): string {
  const by = actingPrincipal(who, named);
  if (!by.startsWith("agent:")) return by;
  throw new HoldpointError("forbidden", "No agent does this; this is an agent's credential.", {
    next: "Have a person do it, or a service.",
  });
}

/** Any principal: a program may withdraw its own requests. */
export function actingPrincipal(who: Who, named: string | undefined): string {
  if (who.principal === null && isPrincipal(named)) return named;
  if (who.principal === null || isPerson(who.principal)) return actingPerson(who, named);
  if (named !== undefined && named !== who.principal)
    throw new HoldpointError("forbidden", `"by" is not the program whose credential this is.`);
  return who.principal;
}

type Posted = { readonly parties: { readonly poster: string | null; readonly executor: string | null } };

/** A party to the workflow, or a person who is admin or supervisor. */
function isTheirs({ principal, roles }: Who, { parties }: Posted): boolean {
  if (principal === null || principal === parties.poster || principal === parties.executor) return true;
  return isPerson(principal) && (roles.includes("admin") || roles.includes("supervisor"));
}

/** Who may end a workflow. */
export function checkMayEnd(who: Who, workflow: Posted): void {
  if (isTheirs(who, workflow)) return;
  throw new HoldpointError(
    "forbidden",
    "This workflow is another's: it was not posted by whom this credential is, nor do they execute it.",
    {
      data: "The workflow did not change.",
      next: "Have its poster or its executor do it, or a person who is an admin or a supervisor.",
    },
  );
}

/** As `checkMayEnd`, people only: rolling back withdraws questions from people. The driving program may fail it. */
export function checkMaySendBack(who: Who, workflow: Posted): void {
  checkMayEnd(who, workflow);
  if (who.principal === null || isPerson(who.principal)) return;
  throw new HoldpointError(
    "forbidden",
    "Only people send a workflow back; this is a credential of a program.",
    {
      data: "The workflow did not change.",
      next: "Have a person do it; the agent that drives it gives it up with POST /api/workflows/{id}/fail.",
    },
  );
}
