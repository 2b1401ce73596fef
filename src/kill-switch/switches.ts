/**
 * How many switches are on, and a short cache of "all switches were off".
 * - The cache saves workflow steps, which are not effects, another check.
 * - Effects never use the cache: they check in the commit that starts them.
 */

import { type Clock, stopwatch } from "../kernel/clock.ts";
import type { Store, TenantStore } from "../stores/store.ts";

const FRESH_MS = 250;
const MOST_KEPT = 1_000;

/** `whose`: cache key made of the agent and the workflow that were checked. */
type SwitchCheckTarget = { readonly store: Store; readonly whose: string; readonly clock: Clock };
type Ages = Map<string, () => number>;

const recentChecks = new WeakMap<Store, Ages>();

export function wereOffRecently({ store, whose }: Pick<SwitchCheckTarget, "store" | "whose">): boolean {
  const age = recentChecks.get(store)?.get(whose);
  return age !== undefined && age() < FRESH_MS;
}

/** Call before a check, and the returned function if all were off. A switch set meanwhile by this process voids it. */
export function beginSwitchCheck({ store, whose, clock }: SwitchCheckTarget): () => void {
  const ages = recentChecks.get(store) ?? new Map<string, () => number>();
  recentChecks.set(store, ages);
  const age = stopwatch(clock);
  return () => {
    if (recentChecks.get(store) !== ages) return;
    // Workflows come and go and entries expire quickly, so dropping all of them costs little.
    if (ages.size >= MOST_KEPT) ages.clear();
    ages.set(whose, age);
  };
}

export function forgetSwitchChecks(store: Store): void {
  recentChecks.delete(store);
}

/** Counts stops of single agents, services and workflows. The tenant's own switch is not included. */
export async function countStops({ store, tenant }: TenantStore): Promise<number> {
  const [agents, workflows] = await Promise.all([
    store.count(tenant, "switches", "agent"),
    store.count(tenant, "switches", "workflow"),
  ]);
  return agents + workflows;
}
