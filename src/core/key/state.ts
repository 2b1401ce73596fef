/**
 * An API key's state: the fold of its stream.
 *
 * X1. Its time only ever ends earlier, and it is replaced once.
 * X2. What was revoked stays revoked.
 */

import { isSameHash, NO_HASH } from "../../kernel/canonical-json.ts";
import { HoldpointError } from "../../kernel/errors.ts";
import { withoutChannel } from "../../kernel/principal.ts";
import { eventBody, type Fold } from "../../kernel/stream.ts";

import type { KeyEvent, KeyTerms } from "./events.ts";

export type LiveKey = KeyTerms & {
  readonly status: "issued" | "revoked";
  readonly issuedAt: number;
  readonly replacedBy: string | null;
  readonly revoked: { readonly by: string; readonly reason: string; readonly at: number } | null;
};
export type KeyState = { readonly status: "none" } | LiveKey;

const EVENTS: readonly string[] = [
  "key.issued",
  "key.retired",
  "key.revoked",
] satisfies readonly KeyEvent["type"][];

function broken(type: string, status: string): HoldpointError {
  return new HoldpointError("broken_rule", `The event "${type}" cannot follow a key that is ${status}.`);
}

function retired(
  key: LiveKey,
  { expiresAt, replacedBy }: { expiresAt: number; replacedBy: string },
): LiveKey {
  if (key.status === "revoked" || key.replacedBy !== null) throw broken("key.retired", "over");
  if (key.expiresAt !== null && expiresAt > key.expiresAt) throw broken("key.retired", "shorter");
  return { ...key, expiresAt, replacedBy };
}

export const keyFold: Fold<KeyState> = {
  version: 1,
  initial: { status: "none" },
  evolve(state, recorded) {
    const body = eventBody("A key", recorded, EVENTS);
    const event = { type: recorded.type, tv: 1, body } as unknown as KeyEvent;
    if (event.type === "key.issued") {
      if (state.status !== "none") throw broken(event.type, state.status);
      const terms = withoutChannel(event.body);
      return { ...terms, status: "issued", issuedAt: recorded.at, replacedBy: null, revoked: null };
    }
    if (state.status === "none") throw broken(event.type, "not issued");
    if (event.type === "key.retired") return retired(state, event.body);
    if (state.status === "revoked") throw broken(event.type, "revoked");
    return { ...state, status: "revoked", revoked: { ...withoutChannel(event.body), at: recorded.at } };
  },
};

export type KeyFault = "unknown" | "revoked" | "expired";

/** Why a key is worth nothing, now; undefined when it is. Compared in any case, so that what is not there takes as long. */
export function checkKey(state: KeyState, hash: string, now: number): KeyFault | undefined {
  const isSame = isSameHash(state.status === "none" ? NO_HASH : state.hash, hash);
  if (state.status === "none" || !isSame) return "unknown";
  if (state.status === "revoked") return "revoked";
  return state.expiresAt !== null && now >= state.expiresAt ? "expired" : undefined;
}
