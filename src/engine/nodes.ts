/**
 * Who is there: the processes that execute in a tenant, each by its epoch, and what they have in hand.
 *
 * N1. Whoever only looks ends nobody: one whose hold has lapsed is shown as that, until a process that executes says so.
 */

import { checkFields, rejectInput } from "../kernel/fields.ts";
import type { JsonObject } from "../kernel/json.ts";
import type { ViewRow } from "../stores/store.ts";
import { actionRows } from "./action-rows.ts";

import { endIfDead } from "./epoch.ts";
import { forEach } from "./left-alone.ts";
import { eachRow, rowPage } from "./row-pages.ts";
import type { Opening, Runtime } from "./runtime.ts";

type Place = Pick<Runtime, "store" | "tenant">;

/** `lapsed`: it has not ended, and does not hold its epoch any more. `closed`: it ended by itself. */
export type NodeStatus = "live" | "lapsed" | "closed" | "died";

export type FleetNode = {
  /** Its epoch. */
  readonly id: string;
  readonly tenant: string;
  readonly status: NodeStatus;
  /** `server`, `worker` or `program`. */
  readonly kind: string;
  readonly version: string | null;
  readonly agent: string;
  /** `host/pid`. */
  readonly process: string;
  /** By the store's clock. */
  readonly openedAt: number;
  readonly endedAt: number | null;
  /** Names of the workflows that it can run, as it began; null where it did not say. */
  readonly definitions: readonly string[] | null;
  /** Workflows that it runs now; those that wait are nobody's. */
  readonly workflows: number;
  /** Effects that it has started and that have not ended. */
  readonly effects: number;
};

export type NodePage = {
  /** Those that have ended too. */
  readonly all?: boolean;
  readonly limit?: number;
  readonly after?: string;
};
export type NodeList = { readonly items: readonly FleetNode[]; readonly next: string | null };

export type Nodes = {
  /** The newest first; `next` is the cursor of the following page. */
  list(page?: NodePage): Promise<NodeList>;
};

const NODES = "nodes";

type Load = {
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

async function loadOf(place: Place): Promise<Load> {
  const running: ViewRow[] = [];
  for await (const row of eachRow(place, { view: "runs", bucket: "running" })) running.push(row);
  const effects = countedBy(await actionRows(place, "running", { dueBy: null }));
  return { workflows: countedBy(running), effects };
}

async function statusOf({ store }: Place, { stream, data }: ViewRow): Promise<NodeStatus> {
  if (data["how"] !== undefined) return data["how"] as "closed" | "died";
  return (await store.epochHeld(stream.id)) ? "live" : "lapsed";
}

async function nodeOf(place: Place, row: ViewRow, load: Load): Promise<FleetNode> {
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

export async function listNodes(place: Place, page: NodePage = {}): Promise<NodeList> {
  const { all = false, limit = 100, after } = checkFields("A page of nodes", page, ["all", "limit", "after"]);
  if (typeof all !== "boolean") rejectInput("all is true or false.");
  const list = { view: NODES, kind: "epoch", prefix: "epo", bucket: all ? "any" : "open" } as const;
  const { rows, next } = await rowPage(place, { ...list, order: "newest", limit, after });
  const load = await loadOf(place);
  const items: FleetNode[] = [];
  for (const row of rows) items.push(await nodeOf(place, row, load));
  return { items, next };
}

/** How many that are there now say that they have a definition; null where some do not say what they have. */
export async function nodesWith(place: Place, name: string): Promise<number | null> {
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

/** Those that died with nothing under way: nobody else comes across them. */
export async function endDeadNodes(runtime: Runtime): Promise<void> {
  const own = await runtime.epoch();
  const others: string[] = [];
  for await (const { stream } of eachRow(runtime, { view: NODES, bucket: "open" }))
    if (stream.id !== own.id) others.push(stream.id);
  await forEach(others, (id) => endIfDead(runtime, id, own.id));
}

export const nodesOf = (open: Opening): Nodes => ({
  list: async (page = {}) => listNodes(await open(), page),
});
