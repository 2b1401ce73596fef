import { randomFillSync } from "node:crypto";
import { createMemoryDatabase } from "../stores/memory/database.ts";
import { openMemoryStore } from "../stores/memory/open.ts";
import type { Store } from "../stores/store.ts";
import { FOLDS, PROJECTIONS } from "../streams.ts";

export type MemoryStoreOptions = {
  /** The store's clock, which decides deadlines. Default: the machine's. */
  readonly now?: () => number;
};

/** A store in memory, lost when the process ends: `holdpoint({ store: memoryStore() })`. */
export function memoryStore(options: MemoryStoreOptions = {}): Store {
  const clock = { now: options.now ?? (() => Date.now()) };
  const random = (bytes: number): Uint8Array => randomFillSync(new Uint8Array(bytes));
  const projections = PROJECTIONS;
  return openMemoryStore(createMemoryDatabase({ folds: FOLDS, projections, clock, random }));
}
