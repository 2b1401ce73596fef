/** Who is asking: a credential becomes a principal of one tenant, with what it may do there. */
import { HoldpointError } from "../core/errors.ts";
import { ROLES, type Role } from "../core/roster.ts";
import { SCOPES, type Scope } from "../core/scopes.ts";
import type { Clock } from "../engine/clock.ts";
import { authenticate, type Identity, isOwnPage } from "../engine/identity/authenticate.ts";
import type { Store } from "../stores/store.ts";

export type Who = {
  readonly tenant: string;
  /** `person:`, `agent:` or `service:` and a name; null where nobody is authenticated. */
  readonly principal: string | null;
  readonly roles: readonly Role[];
  readonly scopes: readonly Scope[];
  readonly can: (scope: Scope) => boolean;
  /** Whose requests are counted together: the credential's id, never the credential. */
  readonly credential: string;
  /** How it was shown, as votes record it. */
  readonly via: "api_key" | "session" | "unauthenticated";
  /** What a page of this session sends along with what it changes; null for anything but a session. */
  readonly csrf: string | null;
};

/** What a request shows; nothing of it is ever logged. */
export type Credential = {
  readonly authorization: string | undefined;
  readonly cookie: string | undefined;
  /** Sent by pages with what they change; a session is worth nothing without it there. */
  readonly csrf: string | undefined;
  readonly method: string;
  readonly address: string;
};

export type Authenticate = (credential: Credential) => Promise<Who | undefined>;

/** `--no-auth`: everybody who reaches the address may do everything, and what they decide says so. */
export const everybody: Authenticate = async ({ address }) => ({
  tenant: "default",
  principal: null,
  roles: ROLES,
  scopes: SCOPES,
  can: () => true,
  credential: address,
  via: "unauthenticated",
  csrf: null,
});

export const COOKIE = "__Host-holdpoint";

/** The one of that name; two of them say nothing. */
function cookieOf(header: string | undefined): string | undefined {
  const pairs = (header ?? "").split(";").map((pair) => pair.trim().split("="));
  const own = pairs.filter(([name]) => name === COOKIE);
  return own.length === 1 ? own[0]?.slice(1).join("=") : undefined;
}

/** A header that is there and wrong is not made good by a cookie. */
function shownIn({ authorization, cookie }: Credential): string | undefined {
  if (authorization === undefined) return cookieOf(cookie);
  return /^Bearer ([\x21-\x7e]{1,2000})$/i.exec(authorization)?.[1];
}

function whoOf({ tenant, principal, roles, scopes, id, credential, csrf }: Identity): Who {
  const held = new Set(scopes);
  const via = credential === "key" ? "api_key" : "session";
  const can = (scope: Scope) => held.has(scope);
  return { tenant, principal, roles, scopes, can, credential: id, via, csrf };
}

/** By an API key, or by the cookie of a session. */
export function byCredential(place: { readonly store: Store; readonly clock: Clock }): Authenticate {
  return async (credential) => {
    const text = shownIn(credential);
    const found = text === undefined ? undefined : await authenticate(place, text);
    if (found === undefined || "refused" in found) return undefined;
    const changes = credential.method !== "GET";
    if (changes && !isOwnPage(found, credential.csrf))
      throw new HoldpointError("forbidden", "A session changes something only from a page of this server.", {
        next: "Send the token of GET /api/session as X-CSRF-Token.",
      });
    return whoOf(found);
  };
}
