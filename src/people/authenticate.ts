/**
 * Identifies the holder of a credential: an API key, or the value of a session cookie.
 *
 * - The tenant is the one that the credential names. Nothing else in a request sets it.
 * - A lookup is cached for at most one second, so a key that another process revoked works up to a second longer.
 *   Changes by this process take effect at once. Expiry is checked on every call.
 * - Unknown ids are cached for the same second, so a wrong id that is sent repeatedly is read once a second. They are
 *   not cached longer: an attacker who guesses sends a different id each time, and a key that another process issues
 *   has to work. The server's rate limits bound how often an address may guess.
 * - A refusal does not reveal its reason: callers answer all refusals alike.
 */

import { isSameHash } from "../kernel/canonical-json.ts";
import { type Clock, stopwatch } from "../kernel/clock.ts";
import { keyStream, ROSTER, STORE_HISTORY, sessionStream, tenantStream } from "../kernel/stream.ts";
import type { DecisionScope } from "../kernel/transaction.ts";
import type { BoundVerb } from "../runtime/verb.ts";
import type { Store } from "../stores/store.ts";
import {
  type CredentialFault,
  type Holder,
  holderOfSession,
  holdersOfKey,
  parseCredential,
  parseSession,
} from "./rules/credential.ts";

type StoreAndClock = { readonly store: Store; readonly clock: Clock };

export type Identity = Holder & {
  readonly tenant: string;
  readonly credential: "key" | "session";
  /** `key_…` or `ses_…`. */
  readonly id: string;
  /** CSRF token that a page sends with every change; null for a key, which a browser never sends by itself. */
  readonly csrf: string | null;
};
export type NotIdentified = { readonly refused: CredentialFault | "malformed" | "wrong_checksum" };

const FRESH_MS = 1_000;
export const MOST_KEPT = 20_000;

type CredentialLookup = {
  /** Resolves the holder from the cached lookup, for this hash of the secret and this time of the store. */
  readonly holder: (hash: string, now: number) => Holder | { readonly refused: CredentialFault };
  readonly now: number;
};
type CachedLookup = { readonly seen: Promise<CredentialLookup>; readonly age: () => number };

const caches = new WeakMap<Store, Map<string, CachedLookup>>();

/** Clears the cache after this process changed people, keys or sessions. Reads in flight are not reused either. */
export function forgetCredentials(store: Store): void {
  caches.delete(store);
}

/** Cached credentials are cleared after the verb, also if it fails: its commit may have happened. */
export const clearingCredentials = <In, Out>(verb: BoundVerb<In, Out>): BoundVerb<In, Out> => ({
  ...verb,
  async perform(context, input) {
    try {
      return await verb.perform(context, input);
    } finally {
      forgetCredentials(context.runtime.store);
    }
  },
});

function cacheOf(store: Store): Map<string, CachedLookup> {
  const desk = caches.get(store) ?? new Map<string, CachedLookup>();
  caches.set(store, desk);
  return desk;
}

/** The latest read is last and the oldest is evicted first, so guesses do not evict newer reads. */
function keep(desk: Map<string, CachedLookup>, name: string, kept: CachedLookup): void {
  desk.delete(name);
  desk.set(name, kept);
  for (const oldest of desk.keys()) {
    if (desk.size <= MOST_KEPT) return;
    desk.delete(oldest);
  }
}

type CredentialKey = { readonly tenant: string; readonly id: string; readonly hash: string };

function lookOf({ id, tenant }: CredentialKey): {
  needs: Parameters<Store["transact"]>[1];
  see: (sight: DecisionScope) => CredentialLookup;
} {
  const own = tenantStream(tenant);
  if (id.startsWith("key_")) {
    const ref = keyStream(id);
    return {
      needs: { read: [ref, ROSTER, own] },
      see(sight) {
        const seen = { tenant, standing: sight.state(own) };
        const states = { ...seen, key: sight.state(ref), roster: sight.state(ROSTER) };
        return { now: sight.now, holder: holdersOfKey(states) };
      },
    };
  }
  const ref = sessionStream(id);
  return {
    needs: { read: [ref, ROSTER, STORE_HISTORY, own] },
    see(sight) {
      const states = {
        ...{ tenant, standing: sight.state(own) },
        session: sight.state(ref),
        roster: sight.state(ROSTER),
        history: sight.state(STORE_HISTORY),
      };
      return { now: sight.now, holder: (hash, now) => holderOfSession(states, hash, now) };
    },
  };
}

/** Concurrent calls share one read if they come within its second. */
function look({ store, clock }: StoreAndClock, asked: CredentialKey): CachedLookup {
  const desk = cacheOf(store);
  const name = `${asked.id}/${asked.tenant}`;
  const known = desk.get(name);
  if (known !== undefined && known.age() < FRESH_MS) return known;
  const { needs, see } = lookOf(asked);
  const seen = store.transact(asked.tenant, needs, (sight) => ({
    kind: "commit",
    append: [],
    result: see(sight),
  }));
  const kept = { seen, age: stopwatch(clock) };
  keep(desk, name, kept);
  seen.catch(() => desk.delete(name));
  return kept;
}

async function holderOf(
  place: StoreAndClock,
  asked: CredentialKey,
): Promise<Holder | { readonly refused: CredentialFault }> {
  const { seen, age } = look(place, asked);
  const { holder, now } = await seen;
  return holder(asked.hash, now + age());
}

export type CredentialReading = CredentialKey & Pick<Identity, "credential" | "csrf">;

/** Parses the credential's text, without any lookup. */
export function readCredential(text: string): CredentialReading | NotIdentified {
  if (text.startsWith("hpk_")) {
    const read = parseCredential("hpk", text);
    return typeof read === "string" ? { refused: read } : { ...read, credential: "key", csrf: null };
  }
  const read = parseSession(text);
  return read === undefined ? { refused: "malformed" } : { ...read, credential: "session" };
}

/** `text`: an API key (`hpk_…`), or the value of the session cookie. */
export async function authenticate(place: StoreAndClock, text: string): Promise<Identity | NotIdentified> {
  const read = readCredential(text);
  return "refused" in read ? read : identify(place, read);
}

export async function identify(
  place: StoreAndClock,
  read: CredentialReading,
): Promise<Identity | NotIdentified> {
  const holder = await holderOf(place, read);
  if ("refused" in holder) return holder;
  const { tenant, id, credential, csrf } = read;
  return { ...holder, tenant, id, credential, csrf };
}

/** CSRF check: whether a changing request came from one of our own pages. Keys need no token. */
export function isOwnPage({ csrf }: Pick<Identity, "csrf">, token: unknown): boolean {
  if (csrf === null) return true;
  return typeof token === "string" && isSameHash(token, csrf);
}
