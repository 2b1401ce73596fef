/** The door of `holdpoint/testing`: rules as given/when/then, a store in memory, and what every store has to prove. */
export { type Fact, fact, type Given, given, type Then, type World } from "./given.ts";

export { type MemoryStoreOptions, memoryStore } from "./memory-store.ts";

export { storeContract } from "./store-contract.ts";
