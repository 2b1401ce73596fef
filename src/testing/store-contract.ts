/**
 * The contract of every store, as tests. A third-party store can use them: call `storeContract` with a function that
 * creates an empty database and opens handles on it, each of which acts as a process.
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
