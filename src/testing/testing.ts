/** Entry point `holdpoint/testing`: rules as given/when/then, a store in memory, and the contract tests of a store. */
export { type Fact, fact, type Given, given, type Then, type World } from "./given.ts";

export { type MemoryStoreOptions, memoryStore } from "./memory-store.ts";

export { storeContract } from "./store-contract.ts";
