/**
 * Whose credential this is: an API key, or the value of a session's cookie.
 *
 * I1. The tenant is the one that the credential names, and nothing else in a request says it.
 * I2. What was read is used again for at most a second: a key that another process revoked works that much longer. What this
 *     process changes counts at once. Whether its time is over is looked at every time.
 *     That holds for ids that there are not, too: one that is wrong and shown over and over is read once a second. It is not
 *     remembered longer, by its hash or otherwise: whoever guesses shows another each time, which no memory knows, and a key
 *     that another process makes has to work. How often an address may guess is said by the server's limits.
 * I3. A credential that is refused tells nothing of why to whoever shows it: callers answer all alike.
 */

import { isSameHash } from "../kernel/canonical-json.ts";
import { type Clock, stopwatch } from "../kernel/clock.ts";
import { keyStream, ROSTER, STORE_HISTORY, sessionStream, tenantStream } from "../kernel/stream.ts";
import type { DecisionScope } from "../kernel/transaction.ts";
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
  /** What a page has to send along with every change; null for a key, which no browser sends by itself. */
  readonly csrf: string | null;
};
export type NotIdentified = { readonly refused: CredentialFault | "malformed" | "wrong_checksum" };

const FRESH_MS = 1_000;
export const MOST_KEPT = 20_000;

type CredentialLookup = {
  /** Whose it is by what was read, with this hash of its secret, at a moment of the store's time. */
  readonly holder: (hash: string, now: number) => Holder | { readonly refused: CredentialFault };
  readonly now: number;
};
type CachedLookup = { readonly seen: Promise<CredentialLookup>; readonly age: () => number };

const caches = new WeakMap<Store, Map<string, CachedLookup>>();

/** After a change of people, keys or sessions by this process. What is being read right now is not used again either. */
export function forgetCredentials(store: Store): void {
  caches.delete(store);
}

function cacheOf(store: Store): Map<string, CachedLookup> {
  const desk = caches.get(store) ?? new Map<string, CachedLookup>();
  caches.set(store, desk);
  return desk;
}

/** What was read last stands last, so the oldest goes first: guesses do not push out what was read since. */
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

/** Calls that come while one reads share what it reads, as long as they came within its second. */
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

/** What a credential says of itself, before anything is looked up. */
export function readCredential(text: string): CredentialReading | NotIdentified {
  if (text.startsWith("hpk_")) {
    const read = parseCredential("hpk", text);
    return typeof read === "string" ? { refused: read } : { ...read, credential: "key", csrf: null };
  }
  const read = parseSession(text);
  return read === undefined ? { refused: "malformed" } : { ...read, credential: "session" };
}

/** A key (`hpk_…`), or the value of the session's cookie. */
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

/** Whether a request that changes something came from a page of ours. Keys need no token. */
export function isOwnPage({ csrf }: Pick<Identity, "csrf">, token: unknown): boolean {
  if (csrf === null) return true;
  return typeof token === "string" && isSameHash(token, csrf);
}
