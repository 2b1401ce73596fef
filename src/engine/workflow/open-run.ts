/** A run of a workflow with everything that its entries say, before its definition has begun. */

import type { Fork } from "../../core/workflow/events.ts";
import type { LiveWorkflow } from "../../core/workflow/state.ts";
import { isJsonObject } from "../../kernel/json.ts";
import type { Runtime } from "../../runtime/runtime.ts";
import type { Definition } from "./definition.ts";
import { entriesOf } from "./entries.ts";
import { applyEntry, type Entry, emptyTable, keyOf, type RecordedOp, type Table } from "./recorded.ts";
import { makeBell, type Run } from "./run.ts";

/** A fork begins with what its origin had done up to a checkpoint. */
export async function loadInto(runtime: Runtime, table: Table, id: string, upTo: number): Promise<number> {
  let seen = 0;
  for await (const entry of entriesOf(runtime, id)) {
    // The first says whether it is a fork itself: what that had borrowed lies before its own entries.
    if (entry.seq > Math.max(upTo, 1)) break;
    const fork = entry.type === "workflow.created" ? entry.body["fork"] : null;
    if (isJsonObject(fork)) await loadFork(runtime, table, fork as unknown as Fork);
    applyEntry(table, entry);
    seen = entry.seq;
  }
  return seen;
}

/** Operations whose end somebody else writes down. */
const ENDED_BY_OTHERS: readonly string[] = ["call", "child", "question", "wait"];

/** What only its origin hears the end of. */
export const openIn = (table: Table): readonly RecordedOp[] =>
  [...table.ops.values()].filter(({ kind, settled }) => settled === null && ENDED_BY_OTHERS.includes(kind));

/** Whether it says how something ended; what was withdrawn has not come to an end of its own. */
function isEnd({ type, body }: Entry): boolean {
  if (type === "question.answered") return body["status"] !== "cancelled";
  if (type === "call.settled") return isJsonObject(body["answer"]) && body["answer"]["code"] !== "cancelled";
  return type === "child.ended" || type === "wait.ended";
}

/** How that ended which was under way at the checkpoint, as far as it had ended when the fork was made. */
async function settleOpen(runtime: Runtime, table: Table, fork: Fork): Promise<void> {
  if (openIn(table).length === 0) return;
  for await (const entry of entriesOf(runtime, fork.workflow, fork.seq + 1)) {
    if (entry.seq > (fork.upTo ?? entry.seq)) return;
    const op = String(entry.body["op"]);
    if (!isEnd(entry) || table.ops.get(keyOf(op))?.op !== op) continue;
    applyEntry(table, entry);
    if (openIn(table).length === 0) return;
  }
}

/** What the origin had done up to the checkpoint, as its own entries say. */
export async function loadBorrowed(runtime: Runtime, table: Table, fork: Fork): Promise<void> {
  await loadInto(runtime, table, fork.workflow, fork.seq);
  await settleOpen(runtime, table, fork);
}

/** No rollback of its own reaches into what is another's: that ends with entry 0. */
async function loadFork(runtime: Runtime, table: Table, fork: Fork): Promise<void> {
  const { seq: upTo } = fork;
  await loadBorrowed(runtime, table, fork);
  // Nobody would hear the end of it here: it is as if it had never been asked for.
  for (const { key } of openIn(table)) table.ops.delete(key);
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
    tools: definition.tools === undefined ? runtime.tools : new Map([...runtime.tools, ...definition.tools]),
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
    over: new AbortController(),
    failure: undefined,
    changed: null,
    lane: Promise.resolve(),
    bell: makeBell(),
  };
}
