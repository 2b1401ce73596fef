/** Entry point `holdpoint/testing`: rules as given/when/then, a store in memory, and the contract tests of a store. */
import { randomFillSync } from "node:crypto";
import { describe } from "node:test";
import { createMemoryDatabase } from "../stores/memory/database.ts";
import { openMemoryStore } from "../stores/memory/open.ts";
import type { Store } from "../stores/store.ts";
import { FOLDS, PROJECTIONS } from "../streams.ts";
import type { CreateDatabase } from "./store-contract/fixture.ts";
import { chainClaims, readClaims, sealClaims, tenantClaims } from "./store-contract/journal.ts";
import { concurrencyClaims, epochClaims, followClaims, lifeClaims } from "./store-contract/processes.ts";
import { transactClaims } from "./store-contract/transact.ts";
import { claimClaims, viewClaims } from "./store-contract/views.ts";

export { type Fact, fact, type Given, given, type Then, type World } from "./given.ts";

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

const CLAIMS = [
  transactClaims,
  concurrencyClaims,
  chainClaims,
  readClaims,
  viewClaims,
  claimClaims,
  followClaims,
  epochClaims,
  sealClaims,
  tenantClaims,
  lifeClaims,
];

/**
 * The contract of every store, as tests. A third-party store can use them: `create` makes an empty database and opens handles on
 * it, each of which acts as a process.
 */
export function storeContract(name: string, create: CreateDatabase): void {
  describe(`the ${name} store keeps the contract`, { concurrency: false }, () => {
    for (const claims of CLAIMS) claims(create);
  });
}
