/**
 * Reads a workflow's entries from the store, page by page, and loads them into the table of operations: its own, those
 * that a fork borrowed from its origin, and those of its children (placed where the child was spawned).
 */

import { HoldpointError } from "../kernel/errors.ts";
import { isJsonObject, type JsonObject } from "../kernel/json.ts";
import { workflowStream } from "../kernel/stream.ts";
import type { Runtime } from "../runtime/runtime.ts";
import type { JournalEntry, TenantStore } from "../stores/store.ts";
import type { Fork } from "./events.ts";
import {
  applyEntry,
  emptyTable,
  keyOfOperation,
  type OperationTable,
  type RecordedOp,
  type RecordedUndo,
  type WorkflowEntry,
} from "./rules/operations.ts";

const ENTRIES_PER_PAGE = 1_000;

function parseEntry(id: string, { type, tv, seq, at, body }: JournalEntry): WorkflowEntry {
  if (tv !== 1)
    throw new HoldpointError("unknown_event", `The workflow ${id} met the event "${type}" version ${tv}.`);
  if (body === null) throw new HoldpointError("body_erased", `The body of entry ${seq} of ${id} is gone.`);
  return { type, seq, at, body: JSON.parse(body) as JsonObject };
}

export async function entryAt(
  { store, tenant }: TenantStore,
  id: string,
  seq: number,
): Promise<WorkflowEntry | undefined> {
  const [found] = await store.read(tenant, workflowStream(id), { fromSeq: seq, limit: 1 });
  return found === undefined ? undefined : parseEntry(id, found);
}

export async function* entriesOf(
  { store, tenant }: TenantStore,
  id: string,
  from = 1,
): AsyncGenerator<WorkflowEntry> {
  for (let fromSeq = from; ; fromSeq += ENTRIES_PER_PAGE) {
    const page = await store.read(tenant, workflowStream(id), { fromSeq, limit: ENTRIES_PER_PAGE });
    for (const entry of page) yield parseEntry(id, entry);
    if (page.length < ENTRIES_PER_PAGE) return;
  }
}

type TableAtSeq = { readonly table: OperationTable; readonly seq: number };

/** Its own operations until now, and its last entry. */
export async function readOperationTable(place: TenantStore, workflow: string): Promise<TableAtSeq> {
  const table = emptyTable();
  let seq = 0;
  for await (const entry of entriesOf(place, workflow)) {
    applyEntry(table, entry);
    seq = entry.seq;
  }
  return { table, seq };
}

/** Calls and checkpoints, oldest first, and which of them the child undid itself. */
export type ChildRecords = {
  readonly records: readonly RecordedOp[];
  readonly undos: readonly RecordedUndo[];
};

/** The records of a child's own children are placed where those were spawned. */
export async function readChildRecords(
  runtime: Runtime,
  child: string,
  before: (child: string) => Promise<void> = async () => undefined,
): Promise<ChildRecords> {
  await before(child);
  const { table } = await readOperationTable(runtime, child);
  const records: RecordedOp[] = [];
  const undos: RecordedUndo[] = [...table.undos];
  for (const record of table.ops.values()) {
    if (record.settled?.kind === "refused") continue;
    if (record.kind === "call" || record.kind === "checkpoint") records.push(record);
    if (record.kind !== "child") continue;
    const below = await readChildRecords(runtime, String(record.body["child"]), before);
    records.push(...below.records);
    undos.push(...below.undos);
  }
  return { records, undos };
}

/** Calls of a child, oldest first; those of its own children are placed where those were spawned. */
export async function readChildCalls(runtime: Runtime, child: string): Promise<readonly RecordedOp[]> {
  const { records } = await readChildRecords(runtime, child);
  return records.filter(({ kind }) => kind === "call");
}

/** Loads entries up to `upTo`. A fork begins with its origin's history up to a checkpoint. */
export async function loadInto(
  runtime: Runtime,
  table: OperationTable,
  id: string,
  upTo: number,
): Promise<number> {
  let seen = 0;
  for await (const entry of entriesOf(runtime, id)) {
    // The first entry says whether this is a fork itself: what it borrowed comes before its own entries.
    if (entry.seq > Math.max(upTo, 1)) break;
    const fork = entry.type === "workflow.created" ? entry.body["fork"] : null;
    if (isJsonObject(fork)) await loadFork(runtime, table, fork as unknown as Fork);
    applyEntry(table, entry);
    seen = entry.seq;
  }
  return seen;
}

/** Operations that end with an action, a child workflow, people's answer or an intent. */
const ENDED_BY_OTHERS: readonly string[] = ["call", "child", "question", "wait"];

/** Operations whose end only the origin's stream records. */
export const openOperations = (table: OperationTable): readonly RecordedOp[] =>
  [...table.ops.values()].filter(({ kind, settled }) => settled === null && ENDED_BY_OTHERS.includes(kind));

/** Whether the entry records an outcome. A withdrawn operation has none. */
function isEnd({ type, body }: WorkflowEntry): boolean {
  if (type === "question.answered") return body["status"] !== "cancelled";
  if (type === "call.settled") return isJsonObject(body["answer"]) && body["answer"]["code"] !== "cancelled";
  return type === "child.ended" || type === "wait.ended";
}

/** Applies outcomes of operations that were open at the checkpoint and had ended when the fork was made. */
async function settleOpen(runtime: Runtime, table: OperationTable, fork: Fork): Promise<void> {
  if (openOperations(table).length === 0) return;
  for await (const entry of entriesOf(runtime, fork.workflow, fork.seq + 1)) {
    if (entry.seq > (fork.upTo ?? entry.seq)) return;
    const op = String(entry.body["op"]);
    if (!isEnd(entry) || table.ops.get(keyOfOperation(op))?.op !== op) continue;
    applyEntry(table, entry);
    if (openOperations(table).length === 0) return;
  }
}

/** What the origin had done up to the checkpoint, according to its own entries. */
export async function loadBorrowed(runtime: Runtime, table: OperationTable, fork: Fork): Promise<void> {
  await loadInto(runtime, table, fork.workflow, fork.seq);
  await settleOpen(runtime, table, fork);
}

/** A fork's rollback never reaches into borrowed history: borrowed entries are numbered up to 0. */
async function loadFork(runtime: Runtime, table: OperationTable, fork: Fork): Promise<void> {
  const { seq: upTo } = fork;
  await loadBorrowed(runtime, table, fork);
  // Their end would never be recorded here, so drop them as if never requested.
  for (const { key } of openOperations(table)) table.ops.delete(key);
  const borrowed = [...table.ops.values()].map((record) => ({ ...record, seq: record.seq - upTo }));
  table.ops = new Map(borrowed.map((record) => [record.key, record]));
  table.deliveries = table.deliveries.map((one) => ({ ...one, seq: Math.min(one.seq - upTo, 0) }));
  table.rollbacks = table.rollbacks.map((rollback) => ({ ...rollback, toSeq: rollback.toSeq - upTo }));
  table.byAction = new Map();
  table.undos = [];
}
