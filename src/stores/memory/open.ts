/**
 * The memory store, for tests and the simulator. A handle acts as one process; several handles on one database see and
 * wake each other like processes on one file. All work happens within the call; promises only carry the answer. This
 * file has the handle, the epochs that it holds and the followers that it wakes.
 */

import { HoldpointError } from "../../kernel/errors.ts";
import { streamName } from "../../kernel/stream.ts";
import { checkStoredText } from "../decision.ts";
import type { Store, StoreChanges } from "../store.ts";
import { type MemoryDatabase, type MemoryHold, memoryTenant } from "./database.ts";
import { log, read, sealMemoryTenant, sealOver, seals, tenantsWithEntries } from "./read.ts";
import { transact } from "./transact.ts";
import { claimMemoryRows, countMemoryRows, query, rebuildMemoryViews } from "./views.ts";

type MemoryEpochHold = {
  release(): Promise<void>;
  leave(): void;
  readonly leaseMs?: number;
  /** Extends the lease by `leaseMs`. A lapsed hold stays lost, because other processes may have seen it free. */
  renew(): Promise<void>;
};

function holdMemoryEpoch(database: MemoryDatabase, holder: object, id: string): MemoryEpochHold {
  if (isMemoryEpochHeld(database, id))
    throw new HoldpointError("broken_rule", `The epoch ${id} is held already.`);
  const hold: MemoryHold = { holder, until: leaseEnd(database), isLeft: false };
  database.holds.set(id, hold);
  return {
    ...(database.leaseMs === undefined ? {} : { leaseMs: database.leaseMs }),
    async release() {
      if (database.holds.get(id) === hold) database.holds.delete(id);
    },
    leave() {
      hold.isLeft = true;
    },
    async renew() {
      if (database.holds.get(id) !== hold || !isMemoryEpochHeld(database, id)) {
        throw new HoldpointError("epoch_ended", `The hold on epoch ${id} lapsed.`);
      }
      hold.until = leaseEnd(database);
    },
  };
}

export function isMemoryEpochHeld({ holds, clock }: MemoryDatabase, id: string): boolean {
  const hold = holds.get(id);
  return hold !== undefined && clock.now() < hold.until;
}

/** A hold that was left survives the close of its process, but not a crash. */
function dropEpochHolds({ holds }: MemoryDatabase, holder: object, how: "closed" | "crashed"): void {
  for (const [id, hold] of holds)
    if (hold.holder === holder && (how === "crashed" || !hold.isLeft)) holds.delete(id);
}

function leaseEnd({ clock, leaseMs }: MemoryDatabase): number {
  return leaseMs === undefined ? Number.POSITIVE_INFINITY : clock.now() + leaseMs;
}

/** Waiting followers of one handle: `stop` rejects them when it closes, or drops them when it crashes. */
type Waiters = Set<{ stop(how: "closed" | "crashed"): void }>;

function changesAfter(database: MemoryDatabase, after: number): StoreChanges {
  const { moves } = database.data;
  const streams = new Map(
    moves.slice(after).map((move) => [JSON.stringify([move.tenant, streamName(move.stream)]), move]),
  );
  return { position: Math.max(after, moves.length), streams: [...streams.values()] };
}

function follow(
  database: MemoryDatabase,
  waiting: Waiters,
  position: number,
  signal: AbortSignal,
): Promise<StoreChanges> {
  const already = changesAfter(database, position);
  if (signal.aborted) return Promise.resolve({ position, streams: [] });
  if (already.streams.length > 0) return Promise.resolve(already);
  const { promise, resolve, reject } = Promise.withResolvers<StoreChanges>();
  const leave = () => {
    database.watchers.delete(wake);
    waiting.delete(waiter);
    signal.removeEventListener("abort", abort);
  };
  const settle = (answer: StoreChanges) => {
    leave();
    resolve(answer);
  };
  const wake = () => settle(changesAfter(database, position));
  const abort = () => settle({ position, streams: [] });
  const waiter = {
    stop(how: "closed" | "crashed") {
      leave();
      if (how === "closed")
        reject(new HoldpointError("closed", "The store was closed while somebody followed it."));
    },
  };
  database.watchers.add(wake);
  waiting.add(waiter);
  signal.addEventListener("abort", abort, { once: true });
  return promise;
}

export type MemoryStore = Omit<Store, "holdEpoch"> & {
  holdEpoch(id: string): Promise<MemoryEpochHold>;
  /** Simulates the death of the process: releases its holds, never settles its pending calls, refuses later ones. */
  crash(): void;
};

export function openMemoryStore(database: MemoryDatabase): MemoryStore {
  const waiting: Waiters = new Set();
  const holder = {};
  let open = true;
  const on = (): MemoryDatabase => {
    if (!open) throw new HoldpointError("closed", "The store was closed.");
    return database;
  };
  const end = (how: "closed" | "crashed") => {
    open = false;
    dropEpochHolds(database, holder, how);
    for (const waiter of [...waiting]) waiter.stop(how);
  };
  return {
    incarnation: database.incarnation,
    transact: async (tenant, needs, decide) => transact(on(), tenant, needs, decide),
    read: async (tenant, stream, options) => read(on(), tenant, stream, options),
    log: async (tenant, after, limit) => log(on(), tenant, after, limit),
    query: async (tenant, asked) => query(on(), tenant, asked),
    claim: async (tenant, asked) => claimMemoryRows(on(), tenant, asked),
    count: async (tenant, view, bucket) => countMemoryRows(on(), tenant, view, bucket),
    rebuildViews: async (progress) => rebuildMemoryViews(on(), progress),
    position: async () => on().data.moves.length,
    follow: async (position, signal) => follow(on(), waiting, position, signal),
    artifact: async (tenant, hash) => on().data.tenants.get(tenant)?.artifacts.get(hash)?.slice(),
    holdEpoch: async (id) => holdMemoryEpoch(on(), holder, id),
    epochHeld: async (id) => isMemoryEpochHeld(on(), id),
    seal: async (tenant, sign) => sealMemoryTenant(on(), tenant, sign),
    seals: async (tenant, after) => seals(on(), tenant, after),
    sealOver: async (tenant, position) => sealOver(on(), tenant, position),
    tenants: async () => tenantsWithEntries(on()),
    async putSecret(tenant, id, sealed) {
      memoryTenant(on(), checkStoredText("tenant", tenant)).secrets.set(
        checkStoredText("secret's id", id),
        new Uint8Array(sealed),
      );
    },
    getSecret: async (tenant, id) => on().data.tenants.get(tenant)?.secrets.get(id)?.slice(),
    close: async () => end("closed"),
    crash: () => end("crashed"),
  };
}
