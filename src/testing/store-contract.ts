/**
 * What every store has to do, as tests. A store that is not ours can be held to the same: call `storeContract` with a
 * way to create an empty database and to open handles on it, each of which stands for a process.
 */
import { describe } from "node:test";
import type { CreateDatabase } from "./store-contract/fixture.ts";
import { chainClaims, readClaims, sealClaims, tenantClaims } from "./store-contract/journal.ts";
import { concurrencyClaims, epochClaims, followClaims, lifeClaims } from "./store-contract/processes.ts";
import { transactClaims } from "./store-contract/transact.ts";
import { claimClaims, viewClaims } from "./store-contract/views.ts";

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

export function storeContract(name: string, create: CreateDatabase): void {
  describe(`the ${name} store keeps the contract`, { concurrency: false }, () => {
    for (const claims of CLAIMS) claims(create);
  });
}
