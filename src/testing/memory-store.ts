import { randomFillSync } from "node:crypto";
import { createMemoryDatabase } from "../stores/memory/database.ts";
import { openMemoryStore } from "../stores/memory/open.ts";
import type { Store } from "../stores/store.ts";
import { FOLDS, PROJECTIONS } from "../streams.ts";

export type MemoryStoreOptions = {
  /** The store's clock: deadlines are decided by it. The machine's unless set. */
  readonly now?: () => number;
};

/** A store that forgets everything when the test ends: `holdpoint({ store: memoryStore() })`. */
export function memoryStore(options: MemoryStoreOptions = {}): Store {
  const clock = { now: options.now ?? (() => Date.now()) };
  const random = (bytes: number): Uint8Array => randomFillSync(new Uint8Array(bytes));
  const projections = PROJECTIONS;
  return openMemoryStore(createMemoryDatabase({ folds: FOLDS, projections, clock, random }));
}
