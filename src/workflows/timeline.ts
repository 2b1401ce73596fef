/**
 * A workflow's entries as rows of what happened: operations with their outcomes, rollbacks with what they undid, and
 * changes of its status. Which process took it up and let go of it is left out.
 */

import { readTitles } from "../effects/actions.ts";
import type { SettledAnswer } from "../effects/rules/receipt.ts";
import type { TenantStore } from "../stores/store.ts";
import { entriesOf } from "./entries.ts";
import type { ReachedBody, RollbackReport } from "./events.ts";
import { isAfter, type ReadUntil, workflowState } from "./read.ts";
import { keyOfOperation } from "./rules/operations.ts";
import type { WorkflowEvent } from "./stream.ts";
import type { TimelineRow } from "./views.ts";

type TimelineCheckpoint = NonNullable<TimelineRow["checkpoint"]>;
type Entry = WorkflowEvent & { readonly seq: number; readonly at: number };

/** `places`: index of the newest row of an operation, action, approval or child. */
type TimelineTable = { rows: TimelineRow[]; readonly places: Map<string, number>; attempt: number };

const emptyTimeline = (): TimelineTable => ({ rows: [], places: new Map(), attempt: 1 });

/** `parallel-1.2.parallel-1.1` is the first branch of the second one. */
function branchOf(op: string): readonly number[] {
  const path = keyOfOperation(op).split("/")[0] ?? "";
  return [...path.matchAll(/parallel-\d+\.(\d+)/g)].map(([, number]) => Number(number));
}

function operationName(op: string): string {
  const key = keyOfOperation(op);
  return key.slice(key.indexOf("/") + 1, key.lastIndexOf("#"));
}

const FRESH = {
  title: null,
  ref: null,
  undoes: null,
  status: "open",
  endedSeq: null,
  endedAt: null,
  by: [],
  reason: "",
  isBack: false,
  isUndone: false,
  until: null,
  checkpoint: null,
  report: null,
} as const;

function addRow(
  tale: TimelineTable,
  entry: Entry,
  row: Partial<TimelineRow> & Pick<TimelineRow, "kind">,
): void {
  const { seq, at, body } = entry;
  const op = "op" in body ? body.op : null;
  const place = op === null ? { name: "", branch: [] } : { name: operationName(op), branch: branchOf(op) };
  const made = { ...FRESH, ...place, seq, at, op, attempt: tale.attempt, ...row };
  if (made.op !== null) tale.places.set(made.op, tale.rows.length);
  if (made.ref !== null) tale.places.set(made.ref, tale.rows.length);
  tale.rows.push(made);
}

/** The newest row under the id of an operation, action, approval or child. */
function rowAt(tale: TimelineTable, id: string): TimelineRow | undefined {
  const at = tale.places.get(id);
  return at === undefined ? undefined : tale.rows[at];
}

function changeRow(tale: TimelineTable, id: string, patch: Partial<TimelineRow>): void {
  const at = tale.places.get(id);
  const row = at === undefined ? undefined : tale.rows[at];
  if (at !== undefined && row !== undefined) tale.rows[at] = { ...row, ...patch };
}

type RowEnding = Pick<TimelineRow, "status" | "reason" | "by" | "endedSeq" | "endedAt">;

function rowEnding(entry: Entry, status: string, reason = "", by: readonly string[] = []): RowEnding {
  return { status, reason, by, endedSeq: entry.seq, endedAt: entry.at };
}

/** A row ends once; a repeated end changes nothing. */
function endRow(tale: TimelineTable, id: string, how: Partial<TimelineRow>): void {
  if (rowAt(tale, id)?.endedSeq === null) changeRow(tale, id, how);
}

function endOfCall(entry: Entry, answer: SettledAnswer): RowEnding {
  if (answer.executed === true) {
    const approvedBy = answer.receipt["approvedBy"] as readonly string[] | undefined;
    return rowEnding(entry, "applied", "", approvedBy);
  }
  if (answer.executed === "in_doubt") return rowEnding(entry, "in_doubt", answer.reason);
  return answer.code === "not_applied"
    ? rowEnding(entry, "not_applied", answer.reason)
    : rowEnding(entry, "refused", answer.reason, [answer.by]);
}

function applyCall(tale: TimelineTable, entry: Entry): void {
  const { type, body } = entry;
  switch (type) {
    case "call.made":
      addRow(tale, entry, { kind: "call", ref: body.action, name: body.tool });
      break;
    case "call.settled":
      endRow(tale, body.action, endOfCall(entry, body.answer as unknown as SettledAnswer));
      break;
    case "child.spawned":
      addRow(tale, entry, { kind: "child", ref: body.child, name: body.name });
      break;
    case "child.ended":
      endRow(tale, body.child, rowEnding(entry, body.status, body.reason));
  }
}

/** The first entry of a step is its end or its first retry. */
function openStep(tale: TimelineTable, entry: Entry, op: string): void {
  if (rowAt(tale, op)?.endedSeq !== null) addRow(tale, entry, { kind: "step" });
}

function endStep(tale: TimelineTable, entry: Entry, op: string, ending: RowEnding): void {
  openStep(tale, entry, op);
  endRow(tale, op, { ...ending, until: null });
}

function applyStep(tale: TimelineTable, entry: Entry): void {
  const { type, body } = entry;
  switch (type) {
    case "step.completed":
      endStep(tale, entry, body.op, rowEnding(entry, "completed"));
      break;
    case "step.failed":
    case "operation.refused":
      endStep(tale, entry, body.op, rowEnding(entry, "failed", body.error));
      break;
    case "step.retried":
      openStep(tale, entry, body.op);
      changeRow(tale, body.op, { reason: body.error, until: body.retryAt });
      break;
    case "log.written":
      addRow(tale, entry, { kind: "log", name: body.text, ...rowEnding(entry, "written") });
      break;
    case "sleep.began":
      addRow(tale, entry, { kind: "sleep", until: body.until });
      break;
    case "sleep.ended":
      endRow(tale, body.op, rowEnding(entry, "over"));
  }
}

/** Keys in `places` of the last checkpoint that asked people, and of the rollback in progress. */
const CHECKPOINT = "checkpoint";
const ROLLBACK = "rollback";

/** A rollback or a failure withdraws the pending checkpoint. */
function withdraw(tale: TimelineTable, entry: Entry, by: string): void {
  endRow(tale, CHECKPOINT, rowEnding(entry, "withdrawn", "", [by]));
}

/** A checkpoint that was passed could not have been rejected. */
function factsOf({ snapshot, ...asked }: ReachedBody & Partial<TimelineCheckpoint>): TimelineCheckpoint {
  return { snapshot, canRollback: asked.canRollback !== false, irreversible: asked.irreversible ?? [] };
}

function applyPeople(tale: TimelineTable, entry: Entry): void {
  const { type, body } = entry;
  switch (type) {
    case "checkpoint.reached":
    case "checkpoint.raised":
      tale.places.set(CHECKPOINT, tale.rows.length);
      addRow(tale, entry, { kind: "checkpoint", ref: body.approval, checkpoint: factsOf(body) });
      break;
    case "checkpoint.passed": {
      const passed = rowEnding(entry, "passed", body.why);
      addRow(tale, entry, { kind: "checkpoint", checkpoint: factsOf(body), ...passed });
      break;
    }
    case "checkpoint.decided":
      endRow(tale, body.approval, rowEnding(entry, body.decision, body.reason, body.by));
      break;
    case "question.asked":
      addRow(tale, entry, { kind: "question", ref: body.approval, reason: body.text });
      break;
    case "question.answered":
      endRow(tale, body.approval, rowEnding(entry, body.status, body.reason, body.by));
  }
}

function applyIntent(tale: TimelineTable, entry: Entry): void {
  const { type, body } = entry;
  switch (type) {
    case "send.made":
      addRow(tale, entry, { kind: "intent", ref: body.intent, ...rowEnding(entry, "sent") });
      break;
    case "wait.began":
      addRow(tale, entry, { kind: "wait", until: body.until });
      break;
    case "wait.ended":
      endRow(tale, body.op, { ...rowEnding(entry, body.status, body.reason), until: null });
  }
}

function endRollback(
  tale: TimelineTable,
  { seq: endedSeq, at: endedAt }: Entry,
  status: string,
  report: RollbackReport | null,
): void {
  const { undone = [], notUndone = [], irreversible = [] } = report ?? {};
  const kept = report && { undone, notUndone, irreversible };
  endRow(tale, ROLLBACK, { status, endedSeq, endedAt, report: kept });
}

function goneBack(tale: TimelineTable, toSeq: number): void {
  const isOwn = ({ kind }: TimelineRow) => kind !== "rollback" && kind !== "undo";
  tale.rows = tale.rows.map((row) => (row.seq > toSeq && isOwn(row) ? { ...row, isBack: true } : row));
}

function applyRollback(tale: TimelineTable, entry: Entry): void {
  const { type, body } = entry;
  switch (type) {
    case "rollback.began": {
      const { to, by, reason } = body;
      withdraw(tale, entry, by);
      tale.places.set(ROLLBACK, tale.rows.length);
      const name = to === null ? "" : operationName(to);
      addRow(tale, entry, { kind: "rollback", name, by: [by], reason });
      break;
    }
    case "compensation.made": {
      const { action: ref, undoes, tool } = body;
      // Calls of a child have no row here.
      const { name = tool.replace(/\.undo$/, ""), branch = [] } = rowAt(tale, undoes) ?? {};
      addRow(tale, entry, { kind: "undo", ref, undoes, name, branch });
      break;
    }
    case "compensation.settled":
      endRow(tale, body.action, rowEnding(entry, body.status, body.reason));
      if (body.status === "undone") changeRow(tale, body.undoes, { isUndone: true });
      break;
    case "rollback.ended":
      goneBack(tale, body.toSeq);
      endRollback(tale, entry, "done", body);
      tale.attempt = body.generation;
  }
}

function applyLife(tale: TimelineTable, entry: Entry): void {
  const { type, body } = entry;
  const add = (name: string, ending: RowEnding) => addRow(tale, entry, { kind: "workflow", name, ...ending });
  switch (type) {
    case "workflow.created":
      add(body.name, rowEnding(entry, "created"));
      break;
    case "workflow.refused":
      add(body.asked, rowEnding(entry, "refused", body.reason, [body.by]));
      break;
    case "workflow.completed":
      add("", rowEnding(entry, "completed"));
      break;
    case "workflow.failed":
      withdraw(tale, entry, body.by);
      endRollback(tale, entry, body.report === null ? "given_up" : "done", body.report);
      add(body.code, rowEnding(entry, "failed", body.reason, [body.by]));
  }
}

/** As the arguments are now. Rows of calls and undos name an action. */
async function withTitles(place: TenantStore, rows: readonly TimelineRow[]) {
  const actionIn = ({ kind, ref, undoes }: TimelineRow) =>
    kind === "call" || kind === "undo" ? (undoes ?? ref) : null;
  const ids = new Set(rows.map(actionIn).filter((id) => id !== null));
  const titles = await readTitles(place, [...ids]);
  return rows.map((row) => ({ ...row, title: titles.get(actionIn(row) ?? "") ?? null }));
}

const APPLY = [applyCall, applyStep, applyPeople, applyIntent, applyRollback, applyLife];

export async function readTimeline(
  place: TenantStore,
  id: string,
  until: ReadUntil = {},
): Promise<readonly TimelineRow[]> {
  await workflowState(place, id);
  const tale = emptyTimeline();
  for await (const entry of entriesOf(place, id)) {
    if (isAfter(entry, until)) break;
    for (const apply of APPLY) apply(tale, entry as unknown as Entry);
  }
  return withTitles(place, structuredClone(tale.rows));
}
