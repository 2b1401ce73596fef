/**
 * What every store has to do, as tests. A store that is not ours can be held to the same: call `storeContract` with a
 * way to create an empty database and to open handles on it, each of which stands for a process.
 */
import { describe } from "node:test";
import type { CreateDatabase } from "./store-contract/bench.ts";
import { chainClaims } from "./store-contract/chain.ts";
import { claimClaims } from "./store-contract/claims.ts";
import { concurrencyClaims } from "./store-contract/concurrency.ts";
import { epochClaims } from "./store-contract/epochs.ts";
import { followClaims } from "./store-contract/follow.ts";
import { lifeClaims } from "./store-contract/life.ts";
import { readClaims } from "./store-contract/read.ts";
import { sealClaims } from "./store-contract/seals.ts";
import { tenantClaims } from "./store-contract/tenants.ts";
import { transactClaims } from "./store-contract/transact.ts";
import { viewClaims } from "./store-contract/views.ts";

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
