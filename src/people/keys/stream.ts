/**
 * The stream of an API key: events, state, fold and list row. Using a key is not an event.
 * - Expiry only ever moves earlier. A key is replaced once. A revoked key stays revoked.
 * - The hash of the secret is kept in the journal and not listed.
 */

import { isSameHash, NO_HASH } from "../../kernel/canonical-json.ts";
import { type Via, withoutChannel } from "../../kernel/principal.ts";
import type { Scope } from "../../kernel/registry.ts";
import { defineStream, outOfOrder } from "../../kernel/stream.ts";
import type { Role } from "../stream.ts";

export type KeyTerms = {
  /** Principal that acts when the key is used. */
  readonly principal: string;
  readonly name: string;
  /** Roles of an agent or a service. A person's roles are in the roster. */
  readonly roles: readonly Role[];
  /** Limits the key to these of its roles' scopes; null: all of them. */
  readonly scopes: readonly Scope[] | null;
  /** SHA-256 of the secret. */
  readonly hash: string;
  readonly expiresAt: number | null;
  readonly by: string;
  /** The key that this one replaces. */
  readonly replaces: string | null;
};

type Retirement = { readonly expiresAt: number; readonly by: string; readonly replacedBy: string };

export type LiveKey = KeyTerms & {
  readonly status: "issued" | "revoked";
  readonly issuedAt: number;
  readonly replacedBy: string | null;
  readonly revoked: { readonly by: string; readonly reason: string; readonly at: number } | null;
};
export type KeyState = { readonly status: "none" } | LiveKey;

const WHAT = "A key";

function retire(key: LiveKey, { expiresAt, replacedBy }: Retirement & Via): LiveKey {
  if (key.replacedBy !== null) throw outOfOrder(WHAT, "key.retired", "replaced");
  if (key.expiresAt !== null && expiresAt > key.expiresAt) throw outOfOrder(WHAT, "key.retired", "shorter");
  return { ...key, expiresAt, replacedBy };
}

const { after, define } = defineStream<KeyState>();

export const key = define("key", {
  what: WHAT,
  version: 1,
  initial: { status: "none" },
  words: { none: "not issued" },
  events: {
    "key.issued": after(
      ["none"],
      "an API key: whose it is, its name, roles, the scopes that it is narrowed to, until when, by whom, the key that it replaces, and the SHA-256 of its secret",
      (_, body: KeyTerms & Via, { at }) => ({
        ...withoutChannel(body),
        ...{ status: "issued", issuedAt: at, replacedBy: null, revoked: null },
      }),
    ),
    "key.retired": after(["issued"], "another has taken its place: its time ends earlier, and when", retire),
    "key.revoked": after(
      ["issued"],
      "the key was revoked: by whom and why",
      (issued, body: Via & { readonly by: string; readonly reason: string }, { at }) => ({
        ...issued,
        ...{ status: "revoked", revoked: { ...withoutChannel(body), at } },
      }),
    ),
  },
  lists: [
    {
      bucket: ({ principal }) => principal,
      /** Expiry is checked when keys are listed: rows have no clock. */
      data: ({ status, principal, name, roles, scopes, expiresAt, by, issuedAt }) => ({
        ...{ status, principal, name, roles, scopes, expiresAt, by, issuedAt },
      }),
      orders: { issued: { view: "keys", version: 1, at: ({ issuedAt }) => issuedAt } },
    },
  ],
});

export type KeyFault = "unknown" | "revoked" | "expired";

/** Why the key is invalid now; undefined if it is valid. Always compares hashes, so unknown keys take as long. */
export function checkKey(state: KeyState, hash: string, now: number): KeyFault | undefined {
  const isSame = isSameHash(state.status === "none" ? NO_HASH : state.hash, hash);
  if (state.status === "none" || !isSame) return "unknown";
  if (state.status === "revoked") return "revoked";
  return state.expiresAt !== null && now >= state.expiresAt ? "expired" : undefined;
}
