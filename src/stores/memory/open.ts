/**
 * The memory store: for tests and the simulator. A handle stands for one process; several handles on one database see
 * and wake each other like processes on one file. Everything happens within the call; promises only carry the answer.
 */
import { HoldpointError } from "../../kernel/errors.ts";
import { checkText } from "../check-text.ts";
import type { Store } from "../store.ts";
import { type MemoryDatabase, tenantOf } from "./database.ts";
import { dropHolds, type EpochHold, epochHeld, holdEpoch } from "./epochs.ts";
import { follow, type Waiting } from "./follow.ts";
import { log, read, tenants } from "./read.ts";
import { seal, sealOver, seals } from "./seals.ts";
import { transact } from "./transact.ts";
import { claim, count, query, rebuildViews } from "./views.ts";

export type MemoryStore = Omit<Store, "holdEpoch"> & {
  holdEpoch(id: string): Promise<EpochHold>;
  /** The process dies: what it holds is released, what it awaits never comes, later calls are refused. */
  crash(): void;
};

export function openMemoryStore(database: MemoryDatabase): MemoryStore {
  const waiting: Waiting = new Set();
  const holder = {};
  let open = true;
  const on = (): MemoryDatabase => {
    if (!open) throw new HoldpointError("closed", "The store was closed.");
    return database;
  };
  const end = (how: "closed" | "crashed") => {
    open = false;
    dropHolds(database, holder, how);
    for (const waiter of [...waiting]) waiter.stop(how);
  };
  return {
    incarnation: database.incarnation,
    transact: async (tenant, needs, decide) => transact(on(), tenant, needs, decide),
    read: async (tenant, stream, options) => read(on(), tenant, stream, options),
    log: async (tenant, after, limit) => log(on(), tenant, after, limit),
    query: async (tenant, asked) => query(on(), tenant, asked),
    claim: async (tenant, asked) => claim(on(), tenant, asked),
    count: async (tenant, view, bucket) => count(on(), tenant, view, bucket),
    rebuildViews: async (progress) => rebuildViews(on(), progress),
    position: async () => on().data.moves.length,
    follow: async (position, signal) => follow(on(), waiting, position, signal),
    artifact: async (tenant, hash) => on().data.tenants.get(tenant)?.artifacts.get(hash)?.slice(),
    holdEpoch: async (id) => holdEpoch(on(), holder, id),
    epochHeld: async (id) => epochHeld(on(), id),
    seal: async (tenant, sign) => seal(on(), tenant, sign),
    seals: async (tenant, after) => seals(on(), tenant, after),
    sealOver: async (tenant, position) => sealOver(on(), tenant, position),
    tenants: async () => tenants(on()),
    async putSecret(tenant, id, sealed) {
      tenantOf(on(), checkText("tenant", tenant)).secrets.set(
        checkText("secret's id", id),
        new Uint8Array(sealed),
      );
    },
    getSecret: async (tenant, id) => on().data.tenants.get(tenant)?.secrets.get(id)?.slice(),
    close: async () => end("closed"),
    crash: () => end("crashed"),
  };
}
