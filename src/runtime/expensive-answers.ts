/**
 * Answers that are expensive to make.
 * - Cached for a while: one is made at a time per key, and concurrent requests wait for it.
 * - The longer it took to make, the longer it is cached, so that the total cost stays low. Failures are not cached.
 */
import type { Runtime } from "./runtime.ts";

const TIMES_AS_LONG = 10;

type CachedAnswer<Value> = { readonly value: Promise<Value>; until: number | null };

type RecentAnswers<Value> = (
  runtime: Runtime,
  key: string,
  making: {
    readonly make: () => Promise<Value>;
    /** Whether a cached answer is still good enough. Default: it is. */
    readonly isStill?: (value: Value) => Promise<boolean>;
  },
) => Promise<Value>;

const elapsed = ({ clock }: Runtime): number => clock.elapsed?.() ?? clock.now();

export function cacheRecent<Value>(forMs: number): RecentAnswers<Value> {
  const known = new WeakMap<Runtime, Map<string, CachedAnswer<Value>>>();

  function start(runtime: Runtime, key: string, make: () => Promise<Value>): Promise<Value> {
    const begun = elapsed(runtime);
    const all = known.get(runtime) ?? new Map<string, CachedAnswer<Value>>();
    known.set(runtime, all);
    for (const [name, { until }] of all) if (until !== null && until <= begun) all.delete(name);
    const kept: CachedAnswer<Value> = { value: make(), until: null };
    all.set(key, kept);
    kept.value.then(
      () => {
        const now = elapsed(runtime);
        kept.until = now + Math.max(forMs, (now - begun) * TIMES_AS_LONG);
      },
      () => void (all.get(key) === kept && all.delete(key)),
    );
    return kept.value;
  }

  return async (runtime, key, { make, isStill = async () => true }) => {
    const kept = known.get(runtime)?.get(key);
    if (kept === undefined) return start(runtime, key, make);
    if (kept.until === null) return kept.value;
    const isGood = kept.until > elapsed(runtime) && (await isStill(await kept.value));
    if (isGood) return kept.value;
    // Another request may have started one meanwhile.
    const now = known.get(runtime)?.get(key);
    return now === undefined || now === kept ? start(runtime, key, make) : now.value;
  };
}
