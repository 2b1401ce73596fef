/** Who is asking: a credential becomes a principal of one tenant, with what it may do there. */

import type { Clock } from "../kernel/clock.ts";
import { HoldpointError } from "../kernel/errors.ts";
import {
  type CredentialReading,
  type Identity,
  identify,
  isOwnPage,
  type NotIdentified,
  readCredential,
} from "../people/authenticate.ts";
import { SCOPES, type Scope } from "../people/rules/scopes.ts";
import { ROLES, type Role } from "../people/stream.ts";
import { HOME_TENANT } from "../people/tenants/stream.ts";
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
  /** What it was shown on: whoever shows the same again on it is not read anew. */
  readonly connection?: object;
};

export type Authenticate = (credential: Credential) => Promise<Who | undefined>;

/** `--no-auth`: everybody who reaches the address may do everything, and what they decide says so. */
export const everybody: Authenticate = async ({ address }) => ({
  tenant: HOME_TENANT,
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

type Shown = { readonly text: string | undefined; readonly kind: Identity["credential"] };

/**
 * A header that is there and wrong is not made good by a cookie. Each holds one kind: a key in the cookie would be sent by a
 * browser without a page's token.
 */
function shownIn({ authorization, cookie }: Credential): Shown {
  if (authorization === undefined) return { text: cookieOf(cookie), kind: "session" };
  return { text: /^Bearer ([\x21-\x7e]{1,2000})$/i.exec(authorization)?.[1], kind: "key" };
}

function whoOf({ tenant, principal, roles, scopes, id, credential, csrf }: Identity): Who {
  const via = credential === "key" ? "api_key" : "session";
  const can = (scope: Scope) => scopes.includes(scope);
  return { tenant, principal, roles, scopes, can, credential: id, via, csrf };
}

/** As long as its connection is there, one that is shown again is the one that was read; nothing of it is kept longer. */
function createReader(): (credential: Credential) => CredentialReading | undefined {
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
export function byCredential(place: { readonly store: Store; readonly clock: Clock }): Authenticate {
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
