/** How often somebody may ask: a bucket each, that fills steadily. */
import { HoldpointError } from "../../kernel/errors.ts";

export type Rate = { readonly perSecond: number; readonly burst: number };
export type Buckets = {
  /** Takes one, or throws with the seconds after which there is one again. */
  take(name: string): void;
};

type Bucket = { left: number; at: number };
/** Those that were full again are forgotten; more than this at once are not kept apart. */
const MOST = 10_000;

function refused(seconds: number): HoldpointError {
  const wait = Math.max(1, Math.ceil(seconds));
  return new HoldpointError("rate_limited", "There were too many requests.", {
    details: { retry_after: wait },
  });
}

/** `elapsed`: milliseconds that only ever grow. */
export function createBuckets({ perSecond, burst }: Rate, elapsed: () => number): Buckets {
  const buckets = new Map<string, Bucket>();

  function forgetFull(now: number): void {
    for (const [name, bucket] of buckets)
      if (bucket.left + ((now - bucket.at) / 1_000) * perSecond >= burst) buckets.delete(name);
    // Everybody at once: the oldest start anew rather than that memory grows.
    if (buckets.size >= MOST) buckets.clear();
  }

  function fill(name: string): Bucket {
    const now = elapsed();
    const known = buckets.get(name);
    if (known !== undefined) {
      known.left = Math.min(burst, known.left + ((now - known.at) / 1_000) * perSecond);
      known.at = now;
      return known;
    }
    if (buckets.size >= MOST) forgetFull(now);
    const bucket = { left: burst, at: now };
    buckets.set(name, bucket);
    return bucket;
  }

  return {
    take(name) {
      const bucket = fill(name);
      if (bucket.left < 1) throw refused((1 - bucket.left) / perSecond);
      bucket.left -= 1;
    },
  };
}
