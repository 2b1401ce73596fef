/**
 * The stream of an API key: events, state, fold and list row. Using a key is not an event.
 * - Expiry only ever moves earlier. A key is replaced once. A revoked key stays revoked.
 * - The hash of the secret is kept in the journal and not listed.
 */

import { isSameHash, NO_HASH } from "../../kernel/canonical-json.ts";
import { HoldpointError } from "../../kernel/errors.ts";
import type { JsonObject } from "../../kernel/json.ts";
import { type Via, withoutChannel } from "../../kernel/principal.ts";
import type { Scope } from "../../kernel/registry.ts";
import { eventBody, type Fold } from "../../kernel/stream.ts";
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

type KeyFact<Type extends string, Body> = { readonly type: Type; readonly tv: 1; readonly body: Body };

type KeyEvent =
  | KeyFact<"key.issued", KeyTerms & Via>
  /** Another key replaced it, so it expires earlier. */
  | KeyFact<
      "key.retired",
      Via & { readonly expiresAt: number; readonly by: string; readonly replacedBy: string }
    >
  | KeyFact<"key.revoked", Via & { readonly by: string; readonly reason: string }>;

export type LiveKey = KeyTerms & {
  readonly status: "issued" | "revoked";
  readonly issuedAt: number;
  readonly replacedBy: string | null;
  readonly revoked: { readonly by: string; readonly reason: string; readonly at: number } | null;
};
export type KeyState = { readonly status: "none" } | LiveKey;

const KEY_EVENTS: readonly string[] = [
  "key.issued",
  "key.retired",
  "key.revoked",
] satisfies readonly KeyEvent["type"][];

function brokenKey(type: string, status: string): HoldpointError {
  return new HoldpointError("broken_rule", `The event "${type}" cannot follow a key that is ${status}.`);
}

function retired(
  key: LiveKey,
  { expiresAt, replacedBy }: { expiresAt: number; replacedBy: string },
): LiveKey {
  if (key.status === "revoked" || key.replacedBy !== null) throw brokenKey("key.retired", "over");
  if (key.expiresAt !== null && expiresAt > key.expiresAt) throw brokenKey("key.retired", "shorter");
  return { ...key, expiresAt, replacedBy };
}

export const keyFold: Fold<KeyState> = {
  version: 1,
  initial: { status: "none" },
  evolve(state, recorded) {
    const body = eventBody("A key", recorded, KEY_EVENTS);
    const event = { type: recorded.type, tv: 1, body } as unknown as KeyEvent;
    if (event.type === "key.issued") {
      if (state.status !== "none") throw brokenKey(event.type, state.status);
      const terms = withoutChannel(event.body);
      return { ...terms, status: "issued", issuedAt: recorded.at, replacedBy: null, revoked: null };
    }
    if (state.status === "none") throw brokenKey(event.type, "not issued");
    if (event.type === "key.retired") return retired(state, event.body);
    if (state.status === "revoked") throw brokenKey(event.type, "revoked");
    return { ...state, status: "revoked", revoked: { ...withoutChannel(event.body), at: recorded.at } };
  },
};

export type KeyFault = "unknown" | "revoked" | "expired";

/** Why the key is invalid now; undefined if it is valid. Always compares hashes, so unknown keys take as long. */
export function checkKey(state: KeyState, hash: string, now: number): KeyFault | undefined {
  const isSame = isSameHash(state.status === "none" ? NO_HASH : state.hash, hash);
  if (state.status === "none" || !isSame) return "unknown";
  if (state.status === "revoked") return "revoked";
  return state.expiresAt !== null && now >= state.expiresAt ? "expired" : undefined;
}

export const keysView = {
  view: "keys",
  kind: "key",
  version: 1,
  /** Listed by principal. Expiry is checked when keys are listed: rows have no clock. */
  row(_id: string, state: KeyState) {
    if (state.status === "none") return undefined;
    const { status, principal, name, roles, scopes, expiresAt, by, issuedAt } = state;
    const data: JsonObject = { status, principal, name, roles, scopes, expiresAt, by, issuedAt };
    return { bucket: principal, at: issuedAt, due: null, data };
  },
} as const;
