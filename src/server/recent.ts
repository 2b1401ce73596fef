/**
 * Answers that cost something to make, for a while: whoever asks meanwhile is given the same.
 *
 * K1. One is made at a time for a key: whoever asks while it is made waits for it.
 * K2. What took long to make is kept longer, so that making it is a small part of the time however often it is asked for.
 * K3. What could not be made is not kept.
 */
import type { Office } from "./tenants.ts";

const TIMES_AS_LONG = 10;

type Kept<Value> = { readonly value: Promise<Value>; until: number | null };

export type Recent<Value> = (
  office: Office,
  key: string,
  making: {
    readonly make: () => Promise<Value>;
    /** Whether what was made is still good enough; it is unless it says otherwise. */
    readonly isStill?: (value: Value) => Promise<boolean>;
  },
) => Promise<Value>;

const elapsedOf = ({ runtime: { clock } }: Office): number => clock.elapsed?.() ?? clock.now();

export function keepRecent<Value>(forMs: number): Recent<Value> {
  const offices = new WeakMap<Office, Map<string, Kept<Value>>>();

  function start(office: Office, key: string, make: () => Promise<Value>): Promise<Value> {
    const begun = elapsedOf(office);
    const all = offices.get(office) ?? new Map<string, Kept<Value>>();
    offices.set(office, all);
    for (const [name, { until }] of all) if (until !== null && until <= begun) all.delete(name);
    const kept: Kept<Value> = { value: make(), until: null };
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
    // Somebody else may have begun meanwhile.
    const now = offices.get(office)?.get(key);
    return now === undefined || now === kept ? start(office, key, make) : now.value;
  };
}
