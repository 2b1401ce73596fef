/** A run of a workflow with everything that its entries say, before its definition has begun. */
import { isJsonObject, type JsonObject } from "../../core/json.ts";
import type { LiveWorkflow } from "../../core/workflow/state.ts";
import type { Runtime } from "../runtime.ts";
import type { Definition } from "./definition.ts";
import { entriesOf } from "./entries.ts";
import { applyEntry, emptyTable, keyOf, type RecordedOp, type Table } from "./recorded.ts";
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

/** What only its origin can hear the end of. */
export const openIn = (table: Table): readonly RecordedOp[] =>
  [...table.ops.values()].filter(
    ({ kind, settled }) => settled === null && (kind === "call" || kind === "child" || kind === "question"),
  );

const ENDS: readonly string[] = ["call.settled", "child.ended", "question.answered"];

/** How that ended which was under way at the checkpoint. */
async function settleOpen(runtime: Runtime, table: Table, origin: string, after: number): Promise<void> {
  if (openIn(table).length === 0) return;
  for await (const entry of entriesOf(runtime, origin, after + 1)) {
    const op = String(entry.body["op"]);
    if (!ENDS.includes(entry.type) || table.ops.get(keyOf(op))?.op !== op) continue;
    applyEntry(table, entry);
    if (openIn(table).length === 0) return;
  }
}

/** No rollback of its own reaches into what is another's: that ends with entry 0. */
export async function loadFork(runtime: Runtime, table: Table, fork: JsonObject): Promise<void> {
  const upTo = Number(fork["seq"]);
  const origin = String(fork["workflow"]);
  await loadInto(runtime, table, origin, upTo);
  await settleOpen(runtime, table, origin, upTo);
  const borrowed = [...table.ops.values()].map((record) => ({ ...record, seq: record.seq - upTo }));
  table.ops = new Map(borrowed.map((record) => [record.key, record]));
  table.deliveries = table.deliveries.map((one) => ({ ...one, seq: Math.min(one.seq - upTo, 0) }));
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
    isCaughtUp: false,
    turned: false,
    failure: undefined,
    changed: null,
    lane: Promise.resolve(),
    bell: makeBell(),
  };
}
