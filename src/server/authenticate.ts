/** Who is asking: a credential becomes a principal of one tenant, with what it may do there. */
import type { Scope } from "../core/scopes.ts";

export type Who = {
  readonly tenant: string;
  /** `person:`, `agent:` or `service:` and a name; null where nobody is authenticated. */
  readonly principal: string | null;
  readonly can: (scope: Scope) => boolean;
  /** Whose requests are counted together: the credential's id, never the credential. */
  readonly credential: string;
  /** How it was shown, as votes record it. */
  readonly via: "api_key" | "session" | "unauthenticated";
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
  can: () => true,
  credential: address,
  via: "unauthenticated",
});
