/**
 * The table of operations that a replay reads from, built from a workflow's entries in one pass.
 * - Operations are identified by branch, name and occurrence. What a rollback went back over is not in the table.
 * - They settle in the order in which their ends were journaled.
 */

import type { SettledAnswer } from "../../effects/rules/receipt.ts";
import type { Json, JsonObject } from "../../kernel/json.ts";
import type { Irreversible } from "../events.ts";
import type { WorkflowEvent, WorkflowEventOf } from "../stream.ts";
import { raisedName } from "./ask.ts";

export type OpKind =
  | "step"
  | "call"
  | "sleep"
  | "child"
  | "question"
  | "send"
  | "wait"
  | "checkpoint"
  | "value"
  | "log";

export type Settlement =
  | { readonly kind: "value"; readonly value: Json }
  | { readonly kind: "failed"; readonly error: string; readonly attempts: number }
  | { readonly kind: "refused"; readonly code: string; readonly error: string }
  | { readonly kind: "answer"; readonly answer: SettledAnswer }
  | { readonly kind: "child"; readonly end: WorkflowEventOf<"child.ended">["body"] }
  | { readonly kind: "question"; readonly end: WorkflowEventOf<"question.answered">["body"] }
  | { readonly kind: "wait"; readonly end: WorkflowEventOf<"wait.ended">["body"] }
  | {
      readonly kind: "checkpoint";
      readonly decision: "approved" | "modified" | "passed";
      readonly outputs: Json;
      readonly by: readonly string[];
      readonly note: string;
    };

export type RecordedOp = {
  readonly key: string;
  readonly op: string;
  readonly kind: OpKind;
  readonly seq: number;
  readonly at: number;
  readonly body: JsonObject;
  /** Failed attempts of a step that will be retried. */
  retries: number;
  retryAt: number;
  settled: Settlement | null;
};

type Delivery = { readonly key: string; readonly seq: number; readonly settlement: Settlement };

/** A compensation and its outcome. */
export type RecordedUndo = {
  readonly action: string;
  readonly undoes: string;
  status: "open" | "undone" | "not_undone";
  reason: string;
};

/** A rollback that ended with another attempt: in force for what comes after the entry that it went back to. */
export type RecordedRollback = {
  readonly toSeq: number;
  readonly generation: number;
  /** The operation of the checkpoint that it went back to; null for the start. */
  readonly to: string | null;
  readonly rejectedCheckpoint: string | null;
  readonly by: string;
  readonly reason: string;
  readonly undone: readonly string[];
  readonly irreversible: readonly string[];
};

export type OperationTable = {
  ops: Map<string, RecordedOp>;
  byAction: Map<string, RecordedOp>;
  deliveries: Delivery[];
  undos: RecordedUndo[];
  rollbacks: RecordedRollback[];
  /** The rollback in progress. */
  back: Pick<RecordedRollback, "to" | "rejectedCheckpoint" | "by" | "reason"> | null;
};

export type WorkflowEntry = {
  readonly type: string;
  readonly seq: number;
  readonly at: number;
  readonly body: JsonObject;
};

export const emptyTable = (): OperationTable => ({
  ops: new Map(),
  byAction: new Map(),
  deliveries: [],
  undos: [],
  rollbacks: [],
  back: null,
});

/** `workflow/generation/branch/name#occurrence` without its first two parts. */
export function keyOfOperation(op: string): string {
  const first = op.indexOf("/");
  return op.slice(op.indexOf("/", first + 1) + 1);
}

function open(table: OperationTable, kind: OpKind, entry: WorkflowEntry): RecordedOp {
  const op = String(entry.body["op"]);
  const key = keyOfOperation(op);
  const { seq, at, body } = entry;
  const known = table.ops.get(key);
  // A step that failed before already has a record, with its retries.
  if (known !== undefined && known.kind === "step" && kind === "step") return known;
  const record = { key, op, kind, seq, at, body, retries: 0, retryAt: 0, settled: null };
  table.ops.set(key, record);
  return record;
}

function settle(
  table: OperationTable,
  record: RecordedOp | undefined,
  entry: WorkflowEntry,
  settlement: Settlement,
): void {
  if (record === undefined || record.settled !== null) return;
  record.settled = settlement;
  table.deliveries.push({ key: record.key, seq: entry.seq, settlement });
}

const opOf = (table: OperationTable, op: string): RecordedOp | undefined => table.ops.get(keyOfOperation(op));

/** Calls that began after an entry. A call that the definition got wrong was never made. */
export const callsAfter = ({ ops }: OperationTable, after: number): readonly RecordedOp[] =>
  [...ops.values()].filter(
    ({ kind, seq, settled }) => kind === "call" && seq > after && settled?.kind !== "refused",
  );

export const hasHappened = ({ settled }: RecordedOp): boolean =>
  settled?.kind === "answer" && settled.answer.executed === true;

/** Effects that a rollback could not undo. */
export const irreversibleCalls = (
  calls: readonly RecordedOp[],
  hasNoUndo: (call: RecordedOp) => boolean,
): readonly Irreversible[] =>
  calls
    .filter((call) => hasHappened(call) && hasNoUndo(call))
    .map(({ op, body }) => ({ op, action: String(body["action"]), tool: String(body["tool"]) }));

/** Removes everything after the checkpoint. */
function mask(table: OperationTable, toSeq: number): void {
  table.ops = new Map([...table.ops].filter(([, { seq }]) => seq <= toSeq));
  table.byAction = new Map([...table.byAction].filter(([, { seq }]) => seq <= toSeq));
  // What began before the checkpoint and settled after it stays settled: no event would settle it again.
  table.deliveries = table.deliveries.filter(({ key }) => table.ops.has(key));
  table.undos = [];
}

function applyStep(table: OperationTable, event: WorkflowEvent, entry: WorkflowEntry): void {
  switch (event.type) {
    case "step.completed":
      settle(table, open(table, "step", entry), entry, { kind: "value", value: event.body.result });
      return;
    case "step.failed": {
      const { error, attempts } = event.body;
      settle(table, open(table, "step", entry), entry, { kind: "failed", error, attempts });
      return;
    }
    case "step.retried": {
      const record = open(table, "step", entry);
      record.retries = event.body.attempt;
      record.retryAt = event.body.retryAt;
      return;
    }
    case "operation.refused": {
      const { kind, code, error } = event.body;
      settle(table, open(table, kind as OpKind, entry), entry, { kind: "refused", code, error });
      return;
    }
    case "value.recorded":
      open(table, "value", entry).settled = { kind: "value", value: event.body.value };
      return;
    case "log.written":
      open(table, "log", entry).settled = { kind: "value", value: null };
      return;
    case "sleep.began":
      open(table, "sleep", entry);
      return;
    case "sleep.ended":
      settle(table, opOf(table, event.body.op), entry, { kind: "value", value: null });
      return;
  }
}

function applyCall(table: OperationTable, event: WorkflowEvent, entry: WorkflowEntry): void {
  switch (event.type) {
    case "call.made":
      table.byAction.set(event.body.action, open(table, "call", entry));
      return;
    case "call.settled": {
      const answer = event.body.answer as unknown as SettledAnswer;
      settle(table, table.byAction.get(event.body.action), entry, { kind: "answer", answer });
      return;
    }
    case "child.spawned":
      open(table, "child", entry);
      return;
    case "child.ended":
      settle(table, opOf(table, event.body.op), entry, { kind: "child", end: event.body });
      return;
    case "question.asked":
      open(table, "question", entry);
      return;
    case "question.answered":
      settle(table, opOf(table, event.body.op), entry, { kind: "question", end: event.body });
      return;
  }
}

function applyIntent(table: OperationTable, event: WorkflowEvent, entry: WorkflowEntry): void {
  switch (event.type) {
    case "send.made":
      settle(table, open(table, "send", entry), entry, { kind: "value", value: event.body.intent });
      return;
    case "wait.began":
      open(table, "wait", entry);
      return;
    case "wait.ended": {
      // A wait of an attempt that was rolled back has the same key.
      const record = opOf(table, event.body.op);
      if (record?.op === event.body.op) settle(table, record, entry, { kind: "wait", end: event.body });
      return;
    }
  }
}

function applyCheckpoint(table: OperationTable, event: WorkflowEvent, entry: WorkflowEntry): void {
  switch (event.type) {
    case "checkpoint.reached":
      open(table, "checkpoint", entry);
      return;
    case "checkpoint.passed": {
      const { outputs, why } = event.body;
      const settlement = { kind: "checkpoint", decision: "passed", outputs, by: [], note: why } as const;
      settle(table, open(table, "checkpoint", entry), entry, settlement);
      return;
    }
    case "checkpoint.decided": {
      const { decision, outputs, by, reason: note } = event.body;
      if (decision !== "approved" && decision !== "modified") return;
      const settlement = { kind: "checkpoint", decision, outputs, by, note } as const;
      settle(table, opOf(table, event.body.op), entry, settlement);
      return;
    }
    case "compensation.made": {
      const { action, undoes } = event.body;
      table.undos.push({ action, undoes, status: "open", reason: "" });
      return;
    }
    case "compensation.settled": {
      const undo = table.undos.find(({ action }) => action === event.body.action);
      if (undo !== undefined) Object.assign(undo, { status: event.body.status, reason: event.body.reason });
      return;
    }
  }
}

function applyRollback(table: OperationTable, event: WorkflowEvent): void {
  if (event.type === "rollback.began") {
    const { to, by, reason, rejected } = event.body;
    const record = rejected === null ? undefined : opOf(table, rejected);
    const raised = raisedName(rejected ?? "") ?? null;
    const rejectedCheckpoint = record === undefined ? raised : String(record.body["name"]);
    table.back = { to, by, reason, rejectedCheckpoint };
  }
  if (event.type !== "rollback.ended") return;
  const { toSeq, generation, undone, after } = event.body;
  // A failed workflow is never replayed, and its parent still needs its records.
  if (after === "fail") return;
  const irreversible = event.body.irreversible.map(({ action }) => action);
  if (table.back !== null) table.rollbacks.push({ ...table.back, toSeq, generation, undone, irreversible });
  mask(table, toSeq);
}

export function applyEntry(table: OperationTable, entry: WorkflowEntry): void {
  const event = { type: entry.type, tv: 1, body: entry.body } as unknown as WorkflowEvent;
  applyStep(table, event, entry);
  applyCall(table, event, entry);
  applyIntent(table, event, entry);
  applyCheckpoint(table, event, entry);
  applyRollback(table, event);
}
