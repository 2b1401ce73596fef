/** A run of a workflow with everything that its entries say, before its definition has begun. */
import { isJsonObject, type JsonObject } from "../../core/json.ts";
import type { LiveWorkflow } from "../../core/workflow/state.ts";
import type { Runtime } from "../runtime.ts";
import type { Definition } from "./definition.ts";
import { entriesOf } from "./entries.ts";
import { applyEntry, emptyTable, type Table } from "./recorded.ts";
import { makeBell, type Run } from "./run.ts";

/** A fork begins with what its origin had done up to a checkpoint. */
async function loadInto(runtime: Runtime, table: Table, id: string, upTo: number): Promise<number> {
  let seen = 0;
  for await (const entry of entriesOf(runtime, id)) {
    if (entry.seq > upTo) break;
    const fork = entry.type === "workflow.created" ? entry.body["fork"] : null;
    if (isJsonObject(fork)) await loadFork(runtime, table, fork);
    applyEntry(table, entry);
    seen = entry.seq;
  }
  return seen;
}

/** No rollback of its own reaches into what is another's: that ends with entry 0. */
async function loadFork(runtime: Runtime, table: Table, fork: JsonObject): Promise<void> {
  const upTo = Number(fork["seq"]);
  await loadInto(runtime, table, String(fork["workflow"]), upTo);
  const borrowed = [...table.ops.values()].map((record) => ({ ...record, seq: record.seq - upTo }));
  table.ops = new Map(borrowed.map((record) => [record.key, record]));
  table.deliveries = table.deliveries.map((delivery) => ({ ...delivery, seq: delivery.seq - upTo }));
  table.rollbacks = table.rollbacks.map((rollback) => ({ ...rollback, toSeq: rollback.toSeq - upTo }));
  table.byAction = new Map();
  table.undos = [];
}

export async function openRun(
  runtime: Runtime,
  definition: Definition,
  id: string,
  state: LiveWorkflow,
): Promise<Run> {
  const table = emptyTable();
  const seen = await loadInto(runtime, table, id, state.seq);
  return {
    runtime,
    definition,
    tools: runtime.tools,
    id,
    epoch: state.runner ?? "",
    state,
    table,
    next: 0,
    seen,
    written: state.written,
    asked: new Map(),
    claimed: new Set(),
    waits: new Map(),
    woken: new Set(),
    values: [],
    given: Promise.resolve(),
    undos: new Map(),
    children: new Map(),
    handles: new Set(),
    active: 0,
    ending: null,
    turned: false,
    failure: undefined,
    changed: null,
    lane: Promise.resolve(),
    bell: makeBell(),
  };
}
