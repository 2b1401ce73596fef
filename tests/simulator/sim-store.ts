/** The store as a process sees it over a bad wire: slow, failing before or after the fact, full, and late with its wakes. */

import { HoldpointError } from "../../src/kernel/errors.ts";
import type { DecisionScope } from "../../src/kernel/transaction.ts";
import { type MemoryStore, openMemoryStore } from "../../src/stores/memory/open.ts";
import type { EpochHold, Store, StoreChanges } from "../../src/stores/store.ts";
import { count, crashProcess, freezeMaybe, never, type Sim, type SimProcess, strikes } from "./sim.ts";

const POLL_MS = 250;

function latency(sim: Sim): number {
  const { random, scenario } = sim;
  if (strikes(sim, "slow store")) return random.between(50, 4_000);
  return random.float() * scenario.latencyMs;
}

function faultBefore(sim: Sim, writes: boolean): HoldpointError | undefined {
  if (writes && sim.scheduler.now() < sim.diskFullUntil) {
    sim.counters.set("disk full", (sim.counters.get("disk full") ?? 0) + 1);
    return new HoldpointError("store_full", "The simulated disk is full.");
  }
  if (strikes(sim, "store error, nothing applied"))
    return new HoldpointError(
      sim.random.chance(0.5) ? "store_busy" : "store_unavailable",
      "A simulated failure.",
    );
  if (writes && strikes(sim, "unknown commit, lost"))
    return new HoldpointError("commit_unknown", "A simulated failure.");
  return undefined;
}

type Wire = { readonly sim: Sim; readonly life: SimProcess };
type Settle<Value> = { resolve(value: Value): void; reject(error: unknown): void };

/** The request has arrived: the database does it, or does not. */
function arrive<Value>(
  { sim, life }: Wire,
  writes: boolean,
  work: () => Promise<Value>,
  settle: Settle<Value>,
): void {
  const later = (run: () => void) => sim.scheduler.after(latency(sim), life, run);
  const fault = faultBefore(sim, writes);
  if (fault !== undefined) {
    later(() => settle.reject(fault));
    return;
  }
  const before = sim.database.data.moves.length;
  const done = work();
  sim.oracle.observe(life);
  const wrote = sim.database.data.moves.length > before;
  done.then(
    (value) => {
      if (strikes(sim, "crash after a port call")) return crashProcess(sim, life, "after a port call");
      const unknown = wrote && strikes(sim, "unknown commit, applied");
      later(() =>
        unknown
          ? settle.reject(new HoldpointError("commit_unknown", "A simulated failure."))
          : settle.resolve(value),
      );
    },
    (error: unknown) => later(() => settle.reject(error)),
  );
}

function call<Value>(wire: Wire, writes: boolean, work: () => Promise<Value>): Promise<Value> {
  const { sim, life } = wire;
  if (!life.alive) return never();
  if (strikes(sim, "crash before a port call")) {
    crashProcess(sim, life, "before a port call");
    return never();
  }
  freezeMaybe(sim, life);
  return new Promise((resolve, reject) => {
    sim.scheduler.after(latency(sim), life, () => arrive(wire, writes, work, { resolve, reject }));
  });
}

/** A wake may be lost until the next poll, come twice, or come late; it is never lost for good. */
function follow(
  wire: Wire,
  inner: MemoryStore,
  position: number,
  signal: AbortSignal,
): Promise<StoreChanges> {
  const { sim, life } = wire;
  if (!life.alive) return never();
  return new Promise((resolve, reject) => {
    inner.follow(position, signal).then((moved) => {
      const wake = (ms: number, told: StoreChanges) => sim.scheduler.after(ms, life, () => resolve(told));
      if (moved.streams.length === 0) wake(0, moved);
      else if (strikes(sim, "wake lost")) wake(POLL_MS + sim.random.int(5_000), moved);
      else if (strikes(sim, "wake duplicated")) wake(0, { ...moved, position });
      else if (strikes(sim, "wake late and out of order")) wake(sim.random.int(500), moved);
      else wake(sim.random.float() * sim.scenario.latencyMs, moved);
    }, reject);
  });
}

function hold(wire: Wire, held: EpochHold): EpochHold {
  const { renew, leaseMs } = held;
  return {
    release: () => call(wire, true, () => held.release()),
    leave: () => held.leave(),
    ...(leaseMs === undefined || renew === undefined
      ? {}
      : { leaseMs, renew: () => call(wire, true, () => renew()) }),
  };
}

/** An index may lag: it lists what was there once, too. Rules have to look at the state of what they find. */
function lagging(sim: Sim, sight: DecisionScope): DecisionScope {
  return {
    ...sight,
    index(key) {
      const name = `${sight.tenant}/${key.view}/${key.key}`;
      const now = sight.index(key);
      const isThere = (id: string) => now.some(({ stream }) => stream.id === id);
      const gone = (sim.indexed.get(name) ?? []).filter(({ stream }) => !isThere(stream.id));
      sim.indexed.set(name, [...now, ...gone]);
      const [first] = now;
      if (first !== undefined) sim.looked.push({ tenant: sight.tenant, grant: first.stream.id });
      if (gone.length === 0 || !sim.faultsOn || !sim.random.chance(0.5)) return now;
      count(sim, "grant revoked under a call");
      return [...now, ...gone];
    },
  };
}

export function openSimStore(
  sim: Sim,
  owner: () => SimProcess,
): { readonly store: Store; readonly drop: () => void } {
  const inner = openMemoryStore(sim.database);
  const wire = (): Wire => ({ sim, life: owner() });
  const read = <Value>(work: () => Promise<Value>) => call(wire(), false, work);
  const write = <Value>(work: () => Promise<Value>) => call(wire(), true, work);
  const own = (tenant: string): string => {
    sim.oracle.asked(owner(), tenant);
    return tenant;
  };
  const store: Store = {
    incarnation: inner.incarnation,
    transact: (tenant, needs, decide) =>
      write(() => inner.transact(own(tenant), needs, (sight) => decide(lagging(sim, sight)))),
    read: (tenant, stream, options) => read(() => inner.read(own(tenant), stream, options)),
    log: (tenant, after, limit) => read(() => inner.log(own(tenant), after, limit)),
    query: (tenant, query) =>
      read(async () => {
        const rows = await inner.query(own(tenant), query);
        sim.oracle.listed(tenant, rows);
        return rows;
      }),
    claim: (tenant, claim) =>
      write(async () => {
        const rows = await inner.claim(own(tenant), claim);
        sim.oracle.listed(tenant, rows);
        return rows;
      }),
    count: (tenant, view, bucket) => read(() => inner.count(own(tenant), view, bucket)),
    rebuildViews: (progress) => write(() => inner.rebuildViews(progress)),
    position: () => read(() => inner.position()),
    follow: (position, signal) => follow(wire(), inner, position, signal),
    artifact: (tenant, hash) => read(() => inner.artifact(own(tenant), hash)),
    holdEpoch: async (id) => {
      const held = await write(async () => hold(wire(), await inner.holdEpoch(id)));
      if (held.leaseMs !== undefined && sim.faultsOn && sim.random.chance(0.2))
        await owner().runtime.clock.sleep(held.leaseMs * (0.5 + sim.random.float()));
      return held;
    },
    epochHeld: (id) => read(() => inner.epochHeld(id)),
    seal: (tenant, sign) => write(() => inner.seal(own(tenant), sign)),
    seals: (tenant, after) => read(() => inner.seals(own(tenant), after)),
    sealOver: (tenant, position) => read(() => inner.sealOver(own(tenant), position)),
    tenants: () => read(() => inner.tenants()),
    putSecret: (tenant, id, sealed) => write(() => inner.putSecret(own(tenant), id, sealed)),
    getSecret: (tenant, id) => read(() => inner.getSecret(own(tenant), id)),
    close: () => inner.close(),
  };
  return { store, drop: () => dropHandle(sim, inner) };
}

/** The memory store lets go of a crashed handle's holds at once; a lease has to run out. */
function dropHandle({ database }: Sim, inner: MemoryStore): void {
  const held = new Map(database.holds);
  inner.crash();
  if (database.leaseMs === undefined) return;
  for (const [id, lease] of held) database.holds.set(id, lease);
}
