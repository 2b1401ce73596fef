/**
 * Where the kill switches were found off a moment ago: a step, which is no effect, need not look again so soon. Effects look
 * in the commit that starts them.
 */

import { type Clock, stopwatch } from "../kernel/clock.ts";
import type { Store } from "../stores/store.ts";

const FRESH_MS = 250;
const MOST_KEPT = 1_000;

/** `whose`: the agent and the workflow that was looked for. */
type Place = { readonly store: Store; readonly whose: string; readonly clock: Clock };
type Ages = Map<string, () => number>;

const seen = new WeakMap<Store, Ages>();

export function wereFree({ store, whose }: Pick<Place, "store" | "whose">): boolean {
  const age = seen.get(store)?.get(whose);
  return age !== undefined && age() < FRESH_MS;
}

/** Called before a look; what it answers is called when they were off. A switch that this process set meanwhile voids it. */
export function lookingFree({ store, whose, clock }: Place): () => void {
  const ages = seen.get(store) ?? new Map<string, () => number>();
  seen.set(store, ages);
  const age = stopwatch(clock);
  return () => {
    if (seen.get(store) !== ages) return;
    // Workflows come and go: what was seen of them is worth nothing a moment later.
    if (ages.size >= MOST_KEPT) ages.clear();
    ages.set(whose, age);
  };
}

export function forgetFree(store: Store): void {
  seen.delete(store);
}
