/**
 * Quotas: rate, concurrency, pending approvals and unread replies. Over a quota a caller is refused, never queued.
 * - Backpressure: unread reply bytes are limited per principal and in total; a stalled connection is closed. Over the
 *   limit a request is refused before any work, and a finished read is not sent.
 * - Pending approvals: over the quota a principal starts nothing that may ask people; others go on. Counted again
 *   before a refusal, at most once a second. While the total is below one quota, principals are not counted: within a
 *   second as many pass as there was room for, on each server.
 */
import type { ServerResponse } from "node:http";
import { Socket } from "node:net";
import { HoldpointError } from "../../kernel/errors.ts";
import { eachRow } from "../../runtime/lists.ts";
import type { Runtime } from "../../runtime/runtime.ts";

/** Over a quota: when to call again, and what else to do. */
export function overQuota(
  code: "rate_limited" | "server_busy",
  what: string,
  seconds: number,
  next?: string,
): HoldpointError {
  return new HoldpointError(code, what, {
    details: { retry_after: seconds },
    ...(next === undefined ? {} : { next }),
  });
}

/** Counts by name. A name that counts nothing is forgotten. */
export function createTally() {
  const counts = new Map<string, number>();
  const of = (name: string): number => counts.get(name) ?? 0;
  return {
    of,
    add(name: string, count: number): void {
      const left = of(name) + count;
      if (left > 0) counts.set(name, left);
      else counts.delete(name);
    },
  };
}

export type BackpressureLimits = {
  /** Unread bytes allowed: per principal, and in total. */
  readonly each: number;
  readonly all: number;
  /** How long a connection may make no progress during a reply. */
  readonly stillMs: number;
};

export const BACKPRESSURE_LIMITS: BackpressureLimits = {
  each: 64 * 1024 * 1024,
  all: 256 * 1024 * 1024,
  stillMs: 30_000,
};

export type ResponseBackpressure = {
  /** Throws if `bytes` more would exceed the limit. */
  check(name: string, bytes: number): void;
  /** Counts a reply until it was sent, or its connection has closed. */
  follow(name: string, bytes: number, response: ServerResponse): void;
};

const BACKPRESSURE_RETRY_SECONDS = 5;

const READ_FIRST = "Read the answers that are on their way, then call again; ask for shorter pages.";

export function createResponseBackpressure({ each, all, stillMs }: BackpressureLimits): ResponseBackpressure {
  const waiting = createTally();
  let total = 0;

  function add(name: string, bytes: number): void {
    total += bytes;
    waiting.add(name, bytes);
  }
  const refused = (code: "rate_limited" | "server_busy", what: string) =>
    overQuota(code, what, BACKPRESSURE_RETRY_SECONDS, READ_FIRST);

  return {
    check(name, bytes) {
      const own = waiting.of(name);
      // A single reply always fits.
      if (own > 0 && own + bytes > each)
        throw refused(
          "rate_limited",
          "Answers of this principal wait to be read, as many as the server keeps.",
        );
      if (total > 0 && total + bytes > all)
        throw refused("server_busy", "As many answers wait to be read as the server keeps.");
    },
    follow(name, bytes, response) {
      if (bytes === 0 || response.destroyed) return;
      add(name, bytes);
      let left = bytes;
      const done = () => {
        add(name, -left);
        left = 0;
      };
      response.once("finish", done);
      response.once("close", done);
      // Any read or write restarts this timeout. Without a listener for it, Node destroys the socket.
      if (response.socket instanceof Socket) response.socket.setTimeout(stillMs);
    },
  };
}

type ConcurrencyQuota = <Result>(name: string, work: () => Promise<Result>) => Promise<Result>;

const CONCURRENCY_RETRY_SECONDS = 1;

export function createConcurrencyQuota({
  each,
  all,
}: {
  readonly each: number;
  readonly all: number;
}): ConcurrencyQuota {
  const taken = createTally();
  let sum = 0;
  const refused = (what: string) => overQuota("rate_limited", what, CONCURRENCY_RETRY_SECONDS);

  return async (name, work) => {
    if (taken.of(name) >= each) throw refused(`${each} of these requests are under way for you already.`);
    if (sum >= all) throw refused(`${all} of these requests are under way already.`);
    sum += 1;
    taken.add(name, 1);
    try {
      return await work();
    } finally {
      sum -= 1;
      taken.add(name, -1);
    }
  };
}

export type PendingQuota = {
  /** Whether the principal may have one more pending approval. The call itself claims it. */
  hasRoom(runtime: Runtime, principal: string): Promise<boolean>;
  refuse(principal: string): never;
};

const PENDING_RETRY_SECONDS = 60;
const COUNTED_MS = 1_000;

const DECIDE_FIRST =
  "Wait until people have decided some, or take some back, then ask again; HOLDPOINT_PENDING of the server is how many there may be.";

async function countOf(runtime: Runtime, principal: string, most: number): Promise<number> {
  let count = 0;
  for await (const { data } of eachRow(runtime, { view: "approvals", bucket: "pending", order: "newest" })) {
    if (data["agent"] === principal) count += 1;
    if (count >= most) break;
  }
  return count;
}

type PendingCount = { readonly count: number; readonly at: number };
type PendingRoom = { left: number; readonly at: number };

const isFresh = ({ at }: Pick<PendingCount, "at">, now: number): boolean =>
  now >= at && now < at + COUNTED_MS;

export function createPendingQuota(most: number): PendingQuota {
  const known = new WeakMap<Runtime, Map<string, PendingCount>>();
  const rooms = new WeakMap<Runtime, PendingRoom>();

  async function counted(runtime: Runtime, principal: string): Promise<PendingCount> {
    const all = known.get(runtime) ?? new Map<string, PendingCount>();
    known.set(runtime, all);
    const now = runtime.clock.now();
    for (const [name, kept] of all) if (!isFresh(kept, now)) all.delete(name);
    const kept = all.get(principal);
    if (kept !== undefined) return kept;
    const fresh = { count: await countOf(runtime, principal, most), at: now };
    all.set(principal, fresh);
    return fresh;
  }

  async function roomOf(runtime: Runtime): Promise<PendingRoom> {
    const now = runtime.clock.now();
    const kept = rooms.get(runtime);
    if (kept !== undefined && kept.left > 0 && isFresh(kept, now)) return kept;
    const pending = await runtime.store.count(runtime.tenant, "approvals", "pending");
    const fresh = { left: most - pending, at: now };
    rooms.set(runtime, fresh);
    return fresh;
  }

  return {
    async hasRoom(runtime, principal) {
      const room = await roomOf(runtime);
      if (room.left-- > 0) return true;
      return (await counted(runtime, principal)).count < most;
    },
    refuse(principal) {
      const what = `${principal} has ${most} questions before people already.`;
      throw overQuota("rate_limited", what, PENDING_RETRY_SECONDS, DECIDE_FIRST);
    },
  };
}

export type RateLimit = { readonly perSecond: number; readonly burst: number };
type RateLimiter = {
  /** Takes one token, or throws with the seconds until the next one. */
  take(name: string): void;
};

type Bucket = { left: number; at: number };
/** Most buckets kept. Full ones are dropped first. */
const MOST_BUCKETS = 10_000;

/** `elapsed`: monotonic milliseconds. */
export function createRateLimiter({ perSecond, burst }: RateLimit, elapsed: () => number): RateLimiter {
  const buckets = new Map<string, Bucket>();

  function forgetFull(now: number): void {
    for (const [name, bucket] of buckets)
      if (bucket.left + ((now - bucket.at) / 1_000) * perSecond >= burst) buckets.delete(name);
    // Too many callers at once: all limits restart, so that memory does not grow.
    if (buckets.size >= MOST_BUCKETS) buckets.clear();
  }

  function fill(name: string): Bucket {
    const now = elapsed();
    const known = buckets.get(name);
    if (known !== undefined) {
      known.left = Math.min(burst, known.left + ((now - known.at) / 1_000) * perSecond);
      known.at = now;
      return known;
    }
    if (buckets.size >= MOST_BUCKETS) forgetFull(now);
    const bucket = { left: burst, at: now };
    buckets.set(name, bucket);
    return bucket;
  }

  return {
    take(name) {
      const bucket = fill(name);
      const wait = Math.max(1, Math.ceil((1 - bucket.left) / perSecond));
      if (bucket.left < 1) throw overQuota("rate_limited", "There were too many requests.", wait);
      bucket.left -= 1;
    },
  };
}
