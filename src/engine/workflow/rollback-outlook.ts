/**
 * Where a workflow could be sent back to, and what that would do to each of its calls. For people who look before they do it;
 * what really can be undone, the process that has the tools finds out on the way.
 */

import type { CallUndo, Irreversible } from "../../core/workflow/events.ts";
import { type LiveWorkflow, mayMove } from "../../core/workflow/state.ts";
import { isStep, type LiveAction } from "../../effects/state.ts";
import { actionStream } from "../../kernel/stream.ts";
import type { Runtime } from "../../runtime/runtime.ts";
import { readState } from "../../runtime/store-access.ts";

import { doneByChild } from "./children.ts";
import { entriesOf } from "./entries.ts";
import { applyEntry, emptyTable, type RecordedOp, type Table } from "./recorded.ts";
import { workflowState } from "./workflows.ts";

/** `unknown`: only a process that has the tool can say. */
export type Undoable = "yes" | "no" | "nothing" | "unknown";

export type ReachedCall = {
  readonly action: string;
  readonly tool: string;
  readonly phase: LiveAction["phase"];
  readonly at: number;
  readonly undo: Undoable;
};

export type RollbackTarget = {
  /** What a rollback takes as `to`. */
  readonly to: string;
  /** Null for the start. */
  readonly checkpoint: string | null;
  readonly at: number;
  /** In the order in which they would be undone: the newest first. */
  readonly calls: readonly ReachedCall[];
};

export type RollbackOutlook = {
  /** Null where it can be sent back now. */
  readonly whyNot: string | null;
  /** Nearest first. */
  readonly targets: readonly RollbackTarget[];
};

type Known = { readonly table: Table; readonly lost: ReadonlySet<string> };

/** With the effects of which a checkpoint has said that nothing takes them back. */
async function readAll(runtime: Runtime, id: string): Promise<Known> {
  const table = emptyTable();
  const lost = new Set<string>();
  for await (const entry of entriesOf(runtime, id)) {
    applyEntry(table, entry);
    if (entry.type !== "checkpoint.reached" && entry.type !== "checkpoint.raised") continue;
    const { irreversible = [] } = entry.body as unknown as { irreversible?: readonly Irreversible[] };
    for (const { action } of irreversible) lost.add(action);
  }
  return { table, lost };
}

const OUTSIDE: { readonly [undo in CallUndo]: Undoable } = {
  agent: "yes",
  here: "yes",
  none: "no",
  nothing: "nothing",
};

function undoOf(runtime: Runtime, { op, body }: RecordedOp, lost: ReadonlySet<string>): Undoable {
  if (lost.has(String(body["action"]))) return "no";
  const outside = body["undo"] as CallUndo | undefined;
  if (outside !== undefined) return OUTSIDE[outside];
  if (body["rollback"] === true) return "yes";
  const tool = String(body["tool"]);
  const undo = isStep(op, tool) ? undefined : runtime.tools.get(tool)?.undo;
  if (undo === undefined) return "unknown";
  if (undo === null) return "no";
  return undo === "nothing" ? "nothing" : "yes";
}

async function reached(runtime: Runtime, record: RecordedOp, { lost }: Known): Promise<ReachedCall> {
  const [action, tool] = [String(record.body["action"]), String(record.body["tool"])];
  const state = (await readState(runtime, actionStream(action))) as LiveAction;
  const at = "effect" in state ? state.effect.startedAt : state.proposedAt;
  const undo = state.effectClass === "read" ? "nothing" : undoOf(runtime, record, lost);
  return { action, tool, phase: state.phase, at, undo };
}

type Placed = ReachedCall & { readonly seq: number };

/** Those of its children stand where the child was spawned. */
async function callsOf(runtime: Runtime, known: Known): Promise<readonly Placed[]> {
  const calls: Placed[] = [];
  const undone = new Set(
    known.table.undos.filter(({ status }) => status === "undone").map((one) => one.undoes),
  );
  for (const record of known.table.ops.values()) {
    const below = record.kind === "child" ? await doneByChild(runtime, String(record.body["child"])) : null;
    const made = below === null ? [record] : below.records;
    for (const one of made) {
      if (one.kind !== "call" || one.settled?.kind === "refused") continue;
      calls.push({ ...(await reached(runtime, one, known)), seq: record.seq });
    }
  }
  return calls.filter(({ action }) => !undone.has(action)).toSorted((a, b) => b.at - a.at || b.seq - a.seq);
}

function placesOf({ passed, createdAt }: LiveWorkflow) {
  const newest = new Map(passed.map(({ name, op }) => [name, op]));
  const checkpoints = passed.map(({ name, op, seq, at }) => {
    const to = newest.get(name) === op ? name : op;
    return { to, checkpoint: name, at, seq };
  });
  return [{ to: "start", checkpoint: null, at: createdAt, seq: 0 }, ...checkpoints].reverse();
}

export async function rollbackOutlook(runtime: Runtime, id: string): Promise<RollbackOutlook> {
  const state = await workflowState(runtime, id);
  if (!mayMove(state.status, "rolling_back")) return { whyNot: `it is ${state.status}`, targets: [] };
  const calls = await callsOf(runtime, await readAll(runtime, id));
  const targets = placesOf(state).map(({ seq: from, ...place }) => ({
    ...place,
    calls: calls.filter(({ seq }) => seq > from).map(({ seq: _place, ...call }) => call),
  }));
  return { whyNot: null, targets };
}
