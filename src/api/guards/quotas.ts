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

function refuseBackpressure(code: "rate_limited" | "server_busy", what: string): never {
  throw new HoldpointError(code, what, {
    details: { retry_after: BACKPRESSURE_RETRY_SECONDS },
    next: "Read the answers that are on their way, then call again; ask for shorter pages.",
  });
}

export function createResponseBackpressure({ each, all, stillMs }: BackpressureLimits): ResponseBackpressure {
  const waiting = new Map<string, number>();
  let total = 0;

  function add(name: string, bytes: number): void {
    const left = (waiting.get(name) ?? 0) + bytes;
    total += bytes;
    if (left > 0) waiting.set(name, left);
    else waiting.delete(name);
  }

  return {
    check(name, bytes) {
      const own = waiting.get(name) ?? 0;
      // A single reply always fits.
      if (own > 0 && own + bytes > each)
        refuseBackpressure(
          "rate_limited",
          "Answers of this principal wait to be read, as many as the server keeps.",
        );
      if (total > 0 && total + bytes > all)
        refuseBackpressure("server_busy", "As many answers wait to be read as the server keeps.");
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

function refuseConcurrency(what: string): never {
  throw new HoldpointError("rate_limited", what, { details: { retry_after: CONCURRENCY_RETRY_SECONDS } });
}

export function createConcurrencyQuota({
  each,
  all,
}: {
  readonly each: number;
  readonly all: number;
}): ConcurrencyQuota {
  const taken = new Map<string, number>();
  let sum = 0;

  function move(name: string, by: 1 | -1): void {
    sum += by;
    const own = (taken.get(name) ?? 0) + by;
    if (own === 0) taken.delete(name);
    else taken.set(name, own);
  }

  return async (name, work) => {
    if ((taken.get(name) ?? 0) >= each)
      refuseConcurrency(`${each} of these requests are under way for you already.`);
    if (sum >= all) refuseConcurrency(`${all} of these requests are under way already.`);
    move(name, 1);
    try {
      return await work();
    } finally {
      move(name, -1);
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

function refusePending(principal: string, most: number): never {
  throw new HoldpointError("rate_limited", `${principal} has ${most} questions before people already.`, {
    details: { retry_after: PENDING_RETRY_SECONDS },
    next: "Wait until people have decided some, or take some back, then ask again; HOLDPOINT_PENDING of the server is how many there may be.",
  });
}

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
    refuse: (principal) => refusePending(principal, most),
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

function refuseRate(seconds: number): HoldpointError {
  const wait = Math.max(1, Math.ceil(seconds));
  return new HoldpointError("rate_limited", "There were too many requests.", {
    details: { retry_after: wait },
  });
}

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
      if (bucket.left < 1) throw refuseRate((1 - bucket.left) / perSecond);
      bucket.left -= 1;
    },
  };
}
