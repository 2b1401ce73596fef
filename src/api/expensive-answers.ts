/**
 * Answers that are expensive to make.
 * - Cached for a while: one is made at a time per key, and concurrent requests wait for it.
 * - The longer it took to make, the longer it is cached, so that the total cost stays low. Failures are not cached.
 * - Long work runs in slices, so that other requests have their turn.
 */
import type { TenantHost } from "./tenant-hosts.ts";

const TIMES_AS_LONG = 10;

type CachedAnswer<Value> = { readonly value: Promise<Value>; until: number | null };

type RecentAnswers<Value> = (
  office: TenantHost,
  key: string,
  making: {
    readonly make: () => Promise<Value>;
    /** Whether a cached answer is still good enough. Default: it is. */
    readonly isStill?: (value: Value) => Promise<boolean>;
  },
) => Promise<Value>;

const elapsedOf = ({ runtime: { clock } }: TenantHost): number => clock.elapsed?.() ?? clock.now();

export function cacheRecent<Value>(forMs: number): RecentAnswers<Value> {
  const offices = new WeakMap<TenantHost, Map<string, CachedAnswer<Value>>>();

  function start(office: TenantHost, key: string, make: () => Promise<Value>): Promise<Value> {
    const begun = elapsedOf(office);
    const all = offices.get(office) ?? new Map<string, CachedAnswer<Value>>();
    offices.set(office, all);
    for (const [name, { until }] of all) if (until !== null && until <= begun) all.delete(name);
    const kept: CachedAnswer<Value> = { value: make(), until: null };
    all.set(key, kept);
    kept.value.then(
      () => {
        const now = elapsedOf(office);
        kept.until = now + Math.max(forMs, (now - begun) * TIMES_AS_LONG);
      },
      () => void (all.get(key) === kept && all.delete(key)),
    );
    return kept.value;
  }

  return async (office, key, { make, isStill = async () => true }) => {
    const kept = offices.get(office)?.get(key);
    if (kept === undefined) return start(office, key, make);
    if (kept.until === null) return kept.value;
    const isGood = kept.until > elapsedOf(office) && (await isStill(await kept.value));
    if (isGood) return kept.value;
    // Another request may have started one meanwhile.
    const now = offices.get(office)?.get(key);
    return now === undefined || now === kept ? start(office, key, make) : now.value;
  };
}

/** Runs long work step by step; between two steps other requests have their turn. */
export async function runInSlices<Result>(steps: Generator<void, Result>): Promise<Result> {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
    await new Promise<void>((resolve) => setImmediate(resolve));
  }
}
