/**
 * Epochs of this process, and nodes: the processes that execute in a tenant, each known by its epoch. A process takes
 * the hold before it opens the epoch, so an open epoch without a hold is dead. Nothing starts under a lost epoch, nor
 * once its end has begun. With a lease nothing is sent in its last third, so a frozen process that wakes up may not
 * run: it begins another epoch, and does not carry over effects of the old one. No epoch begins in a closed tenant. A
 * process that closes while effects still run leaves its epoch open and held until they end or the lease lapses.
 * Listing nodes ends none: one whose hold has lapsed is shown as such until an executing process ends it.
 */

import { actionRows } from "../effects/actions.ts";
import { type Clock, stopwatch } from "../kernel/clock.ts";
import { HoldpointError } from "../kernel/errors.ts";
import type { JsonObject } from "../kernel/json.ts";
import { epochStream, policyStream } from "../kernel/stream.ts";
import { readOwnTenant } from "../people/tenants/stream.ts";
import { takePolicy } from "../policy/rules/adopt.ts";
import type { EpochHold, TenantStore, ViewRow } from "../stores/store.ts";
import type { FleetNode, NodeList, NodePage, NodeStatus } from "./contract.ts";
import { eachRow, forEachReadable, rowPage } from "./lists.ts";
import { type Epoch, freshId, type PoliciesInForce, type Runtime } from "./runtime.ts";
import { runCommand } from "./store-access.ts";
import { type EpochFacts, endEpoch, openEpoch } from "./stream.ts";

type EpochContext = Pick<Runtime, "store" | "tenant" | "clock" | "random" | "agent">;
/** What the epoch records about its process. */
type ProcessFacts = {
  readonly process: string;
  readonly node?: Pick<EpochFacts, "kind" | "version">;
  /** Names of the workflows defined here so far. */
  readonly definitions?: () => readonly string[];
};

export const leaseLostError = (): HoldpointError =>
  new HoldpointError("epoch_ended", "This process has lost the lease on its epoch.");

export type OwnEpoch = Epoch & {
  /** Renews a lease; false if it was lost. */
  renew(): Promise<boolean>;
  /** The lease was lost for good: other processes take over what was started under this epoch. */
  isLost(): boolean;
  readonly leaseMs: number | null;
  end(): Promise<void>;
  /** Instead of ending the epoch: aborts `lost` for work that still runs. `rest` resolves when it ends, if ever. */
  leave(rest: Promise<unknown>): void;
};

type Lapse = { giveUp(): void };

/** The lease counts from before the request for it, because the answer may have taken long. */
function createLease(
  hold: EpochHold,
  clock: Clock,
  asked: () => number,
): Pick<OwnEpoch, "mayRun" | "leaseLeftMs" | "renew" | "confirm" | "isLost" | "lost" | "leaseMs"> & Lapse {
  const { leaseMs } = hold;
  const over = new AbortController();
  const { signal: lost } = over;
  const giveUp = () => over.abort();
  if (leaseMs === undefined)
    return {
      ...{ mayRun: () => true, renew: async () => true, confirm: async () => undefined },
      ...{ isLost: () => false, lost, giveUp, leaseMs: null, leaseLeftMs: () => null },
    };
  let age = asked;
  const renew = async () => {
    if (lost.aborted) return false;
    const askedAgain = stopwatch(clock);
    try {
      await hold.renew?.();
      age = askedAgain;
    } catch (error) {
      if (error instanceof HoldpointError && error.code === "epoch_ended") over.abort();
    }
    return !lost.aborted;
  };
  const mayRun = () => !lost.aborted && age() < (leaseMs * 2) / 3;
  const confirm = async () => {
    if (!mayRun() && !(await renew())) throw leaseLostError();
  };
  const leaseLeftMs = () => (lost.aborted ? 0 : Math.max(0, leaseMs - age()));
  return { mayRun, leaseLeftMs, renew, confirm, isLost: () => lost.aborted, lost, giveUp, leaseMs };
}

/** Records the policy versions it judges by in the same commit. */
export async function beginEpoch(
  place: EpochContext,
  { process, node = { kind: "program", version: null }, definitions }: ProcessFacts,
  inForce: PoliciesInForce = new Map(),
): Promise<OwnEpoch> {
  const id = freshId(place, "epo");
  const asked = stopwatch(place.clock);
  const hold = await place.store.holdEpoch(id);
  const ref = epochStream(id);
  const uses = [...inForce.values()];
  const known = definitions?.() ?? null;
  const streams = new Set(uses.map(({ version: { name } }) => name));
  const needs = { write: [ref, ...[...streams].map(policyStream)], read: [readOwnTenant(place)] };
  const isShut = await runCommand(place, needs, (draft) => {
    if (draft.state(ref).life !== "none") return false;
    if (draft.state(readOwnTenant(place)).status === "closed") return true;
    draft.append(ref, openEpoch({ agent: place.agent, process, ...node, definitions: known }));
    for (const { version } of uses) takePolicy(draft, version, { epoch: id, by: place.agent });
    return false;
  });
  if (isShut) {
    await hold.release();
    throw new HoldpointError("tenant_closed", `The tenant ${place.tenant} was closed: nothing starts in it.`);
  }
  for (const use of uses) use.epoch = id;
  const { giveUp, ...lease } = createLease(hold, place.clock, asked);
  let isEnding = false;
  return {
    id,
    ...lease,
    mayRun: () => !isEnding && lease.mayRun(),
    async end() {
      isEnding = true;
      await runCommand(place, { write: [ref] }, (draft) =>
        draft.append(ref, endEpoch(draft.state(ref), "closed", id)),
      );
      await hold.release();
    },
    leave(rest) {
      isEnding = true;
      hold.leave();
      giveUp();
      rest.then(() => hold.release()).catch(() => undefined);
    },
  };
}

/** Ends an epoch that no process holds. Returns whether it has ended. */
export async function endIfDead(place: EpochContext, id: string, by: string): Promise<boolean> {
  if (await place.store.epochHeld(id)) return false;
  const ref = epochStream(id);
  await runCommand(place, { write: [ref] }, (draft) =>
    draft.append(ref, endEpoch(draft.state(ref), "died", by)),
  );
  return true;
}

type EpochRenewal = {
  /** The epoch that work runs under now. */
  current(): Promise<OwnEpoch>;
  /** The same, if one was begun. */
  begun(): Promise<OwnEpoch> | undefined;
};

type RenewalParts = {
  begin(): Promise<OwnEpoch>;
  /** No further epoch may begin. */
  isOver(): boolean;
  /** Called when a lease was lost, before the next epoch begins. */
  lost(): void;
};

export function createEpochRenewal({ begin, isOver, lost }: RenewalParts): EpochRenewal {
  let epoch: Promise<OwnEpoch> | undefined;

  function next(): Promise<OwnEpoch> {
    const beginning = begin().catch((error: unknown) => {
      if (epoch === beginning) epoch = undefined;
      throw error;
    });
    epoch = beginning;
    return beginning;
  }

  async function current(): Promise<OwnEpoch> {
    const held = epoch ?? next();
    const own = await held;
    if (!own.isLost() || isOver()) return own;
    if (epoch !== held) return current();
    lost();
    return next();
  }

  return { current, begun: () => epoch };
}

/** Once the store turned out to be restored (`RestoreGuard.broken`), nothing is sent under an epoch that was begun before. */
export const stopIfBroken = (own: OwnEpoch, broken: AbortSignal): OwnEpoch => ({
  ...own,
  mayRun: () => !broken.aborted && own.mayRun(),
});

export function runtimeEpochs(
  { current, begun }: EpochRenewal,
  broken: AbortSignal,
): Pick<Runtime, "epoch" | "begunEpoch"> {
  return {
    epoch: () => (broken.aborted ? Promise.reject(broken.reason) : current()),
    // The caller that needed the epoch gets the error of one that could not begin.
    begunEpoch: async () => begun()?.catch(() => undefined),
  };
}

const NODES = "nodes";

type NodeLoad = {
  readonly workflows: ReadonlyMap<string, number>;
  readonly effects: ReadonlyMap<string, number>;
};

function countedBy(rows: readonly { readonly data: JsonObject }[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { data } of rows) {
    const epoch = String(data["epoch"]);
    counts.set(epoch, (counts.get(epoch) ?? 0) + 1);
  }
  return counts;
}

async function countLoad(place: TenantStore): Promise<NodeLoad> {
  const running: ViewRow[] = [];
  for await (const row of eachRow(place, { view: "runs", bucket: "running" })) running.push(row);
  const effects = countedBy(await actionRows(place, "running", { dueBy: null }));
  return { workflows: countedBy(running), effects };
}

async function statusOf({ store }: TenantStore, { stream, data }: ViewRow): Promise<NodeStatus> {
  if (data["how"] !== undefined) return data["how"] as "closed" | "died";
  return (await store.epochHeld(stream.id)) ? "live" : "lapsed";
}

async function nodeOf(place: TenantStore, row: ViewRow, load: NodeLoad): Promise<FleetNode> {
  const { id } = row.stream;
  const { endedAt = null, how: _, ...facts } = row.data;
  return {
    ...(facts as Pick<FleetNode, "agent" | "process" | "kind" | "version" | "openedAt" | "definitions">),
    ...{ id, tenant: place.tenant, endedAt: endedAt as number | null },
    status: await statusOf(place, row),
    workflows: load.workflows.get(id) ?? 0,
    effects: load.effects.get(id) ?? 0,
  };
}

export async function listNodes(
  place: TenantStore,
  { all = false, limit = 100, after }: NodePage = {},
): Promise<NodeList> {
  const list = { view: NODES, kind: "epoch", prefix: "epo", bucket: all ? "any" : "open" } as const;
  const { rows, next } = await rowPage(place, { ...list, order: "newest", limit, after });
  const load = await countLoad(place);
  const items: FleetNode[] = [];
  for (const row of rows) items.push(await nodeOf(place, row, load));
  return { items, next };
}

/** Number of live nodes that report a definition; null if there is none and some nodes report no definitions. */
export async function countNodesWith(place: TenantStore, name: string): Promise<number | null> {
  let count = 0;
  let isSaid = true;
  for await (const { stream, data } of eachRow(place, { view: NODES, bucket: "open" })) {
    const definitions = data["definitions"] as readonly string[] | null;
    if (definitions?.includes(name) === false || !(await place.store.epochHeld(stream.id))) continue;
    if (definitions === null) isSaid = false;
    else count++;
  }
  return count === 0 && !isSaid ? null : count;
}

/** Ends nodes that died with nothing under way: recovery does not find them. */
export async function endDeadNodes(runtime: Runtime): Promise<void> {
  const own = await runtime.epoch();
  const others: string[] = [];
  for await (const { stream } of eachRow(runtime, { view: NODES, bucket: "open" }))
    if (stream.id !== own.id) others.push(stream.id);
  await forEachReadable(others, (id) => endIfDead(runtime, id, own.id));
}
