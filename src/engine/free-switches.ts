/**
 * Where the kill switches were found off a moment ago: a step, which is no effect, need not look again so soon. Effects look
 * in the commit that starts them.
 */
import type { Store } from "../stores/store.ts";
import { type Clock, stopwatch } from "./clock.ts";

const FRESH_MS = 250;

type Place = { readonly store: Store; readonly agent: string; readonly clock: Clock };
type Ages = Map<string, () => number>;

const seen = new WeakMap<Store, Ages>();

export function wereFree({ store, agent }: Place): boolean {
  const age = seen.get(store)?.get(agent);
  return age !== undefined && age() < FRESH_MS;
}

/** Called before a look; what it answers is called when they were off. A switch that this process set meanwhile voids it. */
export function lookingFree({ store, agent, clock }: Place): () => void {
  const ages = seen.get(store) ?? new Map<string, () => number>();
  seen.set(store, ages);
  const age = stopwatch(clock);
  return () => {
    if (seen.get(store) === ages) ages.set(agent, age);
  };
}

export function forgetFree(store: Store): void {
  seen.delete(store);
}
