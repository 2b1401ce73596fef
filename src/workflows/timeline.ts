/**
 * A workflow's entries as rows of what happened: operations with their outcomes, rollbacks with what they undid, and
 * changes of its status. Which process took it up and let go of it is left out.
 */

import { readTitles } from "../effects/actions.ts";
import type { SettledAnswer } from "../effects/rules/receipt.ts";
import type { Json, JsonObject } from "../kernel/json.ts";
import type { TenantStore } from "../stores/store.ts";
import { entriesOf } from "./entries.ts";
import type { RollbackReport } from "./events.ts";
import { isAfter, type ReadUntil, workflowState } from "./read.ts";
import { keyOfOperation, type WorkflowEntry } from "./rules/operations.ts";
import type { TimelineRow } from "./views.ts";

type TimelineCheckpoint = NonNullable<TimelineRow["checkpoint"]>;

/** `places`: index of the newest row of an operation, action, approval or child. */
type TimelineTable = { rows: TimelineRow[]; readonly places: Map<string, number>; attempt: number };

const emptyTimeline = (): TimelineTable => ({ rows: [], places: new Map(), attempt: 1 });

const textOrEmpty = (value: Json | undefined): string => (typeof value === "string" ? value : "");

const textList = (value: Json | undefined): readonly string[] =>
  Array.isArray(value) ? value.filter((one: Json): one is string => typeof one === "string") : [];

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
  entry: WorkflowEntry,
  row: Partial<TimelineRow> & Pick<TimelineRow, "kind">,
): void {
  const { seq, at, body } = entry;
  const op = typeof body["op"] === "string" ? body["op"] : null;
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

function rowEnding(entry: WorkflowEntry, status: string, reason = "", by: readonly string[] = []): RowEnding {
  return { status, reason, by, endedSeq: entry.seq, endedAt: entry.at };
}

/** A row ends once; a repeated end changes nothing. */
function endRow(tale: TimelineTable, id: string, how: Partial<TimelineRow>): void {
  if (rowAt(tale, id)?.endedSeq === null) changeRow(tale, id, how);
}

function endOfCall(entry: WorkflowEntry): RowEnding {
  const answer = entry.body["answer"] as unknown as SettledAnswer;
  if (answer.executed === true)
    return rowEnding(entry, "applied", "", textList(answer.receipt["approvedBy"]));
  if (answer.executed === "in_doubt") return rowEnding(entry, "in_doubt", answer.reason);
  return answer.code === "not_applied"
    ? rowEnding(entry, "not_applied", answer.reason)
    : rowEnding(entry, "refused", answer.reason, [answer.by]);
}

function applyCall(tale: TimelineTable, entry: WorkflowEntry): void {
  const { body } = entry;
  switch (entry.type) {
    case "call.made":
      addRow(tale, entry, {
        kind: "call",
        ref: textOrEmpty(body["action"]),
        name: textOrEmpty(body["tool"]),
      });
      return;
    case "call.settled":
      endRow(tale, textOrEmpty(body["action"]), endOfCall(entry));
      return;
    case "child.spawned":
      addRow(tale, entry, {
        kind: "child",
        ref: textOrEmpty(body["child"]),
        name: textOrEmpty(body["name"]),
      });
      return;
    case "child.ended":
      endRow(
        tale,
        textOrEmpty(body["child"]),
        rowEnding(entry, textOrEmpty(body["status"]), textOrEmpty(body["reason"])),
      );
  }
}

/** The first entry of a step is its end or its first retry. */
function openStep(tale: TimelineTable, entry: WorkflowEntry, op: string): void {
  if (rowAt(tale, op)?.endedSeq !== null) addRow(tale, entry, { kind: "step" });
}

function applyStep(tale: TimelineTable, entry: WorkflowEntry): void {
  const { body } = entry;
  const op = textOrEmpty(body["op"]);
  switch (entry.type) {
    case "step.completed":
    case "step.failed":
    case "operation.refused": {
      openStep(tale, entry, op);
      const status = entry.type === "step.completed" ? "completed" : "failed";
      endRow(tale, op, { ...rowEnding(entry, status, textOrEmpty(body["error"])), until: null });
      return;
    }
    case "step.retried":
      openStep(tale, entry, op);
      changeRow(tale, op, { reason: textOrEmpty(body["error"]), until: Number(body["retryAt"]) });
      return;
    case "log.written":
      addRow(tale, entry, { kind: "log", name: textOrEmpty(body["text"]), ...rowEnding(entry, "written") });
      return;
    case "sleep.began":
      addRow(tale, entry, { kind: "sleep", until: Number(body["until"]) });
      return;
    case "sleep.ended":
      endRow(tale, op, rowEnding(entry, "over"));
  }
}

/** Key in `places` of the last checkpoint that asked people. */
const CHECKPOINT = "checkpoint";

/** A rollback or a failure withdraws the pending checkpoint. */
function withdraw(tale: TimelineTable, entry: WorkflowEntry): void {
  endRow(tale, CHECKPOINT, rowEnding(entry, "withdrawn", "", [textOrEmpty(entry.body["by"])]));
}

function factsOf(body: JsonObject): TimelineCheckpoint {
  const { snapshot, irreversible } = body as unknown as TimelineCheckpoint;
  return { snapshot, canRollback: body["canRollback"] !== false, irreversible: irreversible ?? [] };
}

function applyIntent(tale: TimelineTable, entry: WorkflowEntry): void {
  const { body } = entry;
  switch (entry.type) {
    case "send.made":
      addRow(tale, entry, { kind: "intent", ref: textOrEmpty(body["intent"]), ...rowEnding(entry, "sent") });
      return;
    case "wait.began": {
      const until = typeof body["until"] === "number" ? body["until"] : null;
      addRow(tale, entry, { kind: "wait", until });
      return;
    }
    case "wait.ended":
      endRow(tale, textOrEmpty(body["op"]), {
        ...rowEnding(entry, textOrEmpty(body["status"]), textOrEmpty(body["reason"])),
        until: null,
      });
  }
}

function applyPeople(tale: TimelineTable, entry: WorkflowEntry): void {
  const { body } = entry;
  const approval = textOrEmpty(body["approval"]);
  const said = [textOrEmpty(body["reason"]), textList(body["by"])] as const;
  switch (entry.type) {
    case "checkpoint.reached":
    case "checkpoint.raised":
      tale.places.set(CHECKPOINT, tale.rows.length);
      addRow(tale, entry, { kind: "checkpoint", ref: approval, checkpoint: factsOf(body) });
      return;
    case "checkpoint.passed": {
      const passed = rowEnding(entry, "passed", textOrEmpty(body["why"]));
      addRow(tale, entry, { kind: "checkpoint", checkpoint: factsOf(body), ...passed });
      return;
    }
    case "checkpoint.decided":
      endRow(tale, approval, rowEnding(entry, textOrEmpty(body["decision"]), ...said));
      return;
    case "question.asked":
      addRow(tale, entry, { kind: "question", ref: approval, reason: textOrEmpty(body["text"]) });
      return;
    case "question.answered":
      endRow(tale, approval, rowEnding(entry, textOrEmpty(body["status"]), ...said));
  }
}

/** Key in `places` of the rollback in progress. */
const ROLLBACK = "rollback";

function endRollback(
  tale: TimelineTable,
  entry: WorkflowEntry,
  status: string,
  report: RollbackReport | null,
): void {
  const { seq: endedSeq, at: endedAt } = entry;
  const kept =
    report === null
      ? null
      : { undone: report.undone, notUndone: report.notUndone, irreversible: report.irreversible };
  endRow(tale, ROLLBACK, { status, endedSeq, endedAt, report: kept });
}

function goneBack(tale: TimelineTable, toSeq: number): void {
  const isOwn = ({ kind }: TimelineRow) => kind !== "rollback" && kind !== "undo";
  tale.rows = tale.rows.map((row) => (row.seq > toSeq && isOwn(row) ? { ...row, isBack: true } : row));
}

function applyRollback(tale: TimelineTable, entry: WorkflowEntry): void {
  const { body } = entry;
  switch (entry.type) {
    case "rollback.began": {
      const name = body["to"] === null ? "" : operationName(textOrEmpty(body["to"]));
      withdraw(tale, entry);
      tale.places.set(ROLLBACK, tale.rows.length);
      addRow(tale, entry, {
        kind: "rollback",
        name,
        by: [textOrEmpty(body["by"])],
        reason: textOrEmpty(body["reason"]),
      });
      return;
    }
    case "compensation.made": {
      const undoes = textOrEmpty(body["undoes"]);
      const undone = rowAt(tale, undoes);
      const branch = undone?.branch ?? [];
      // Calls of a child have no row here.
      const name = undone?.name ?? textOrEmpty(body["tool"]).replace(/\.undo$/, "");
      addRow(tale, entry, { kind: "undo", ref: textOrEmpty(body["action"]), undoes, name, branch });
      return;
    }
    case "compensation.settled": {
      const status = textOrEmpty(body["status"]);
      endRow(tale, textOrEmpty(body["action"]), rowEnding(entry, status, textOrEmpty(body["reason"])));
      if (status === "undone") changeRow(tale, textOrEmpty(body["undoes"]), { isUndone: true });
      return;
    }
    case "rollback.ended": {
      const report = body as unknown as RollbackReport;
      goneBack(tale, Number(body["toSeq"]));
      endRollback(tale, entry, "done", report);
      tale.attempt = Number(body["generation"]);
    }
  }
}

function applyLife(tale: TimelineTable, entry: WorkflowEntry): void {
  const { body } = entry;
  const said = [textOrEmpty(body["reason"]), [textOrEmpty(body["by"])]] as const;
  switch (entry.type) {
    case "workflow.created":
      addRow(tale, entry, {
        kind: "workflow",
        name: textOrEmpty(body["name"]),
        ...rowEnding(entry, "created"),
      });
      return;
    case "workflow.refused":
      addRow(tale, entry, {
        kind: "workflow",
        name: textOrEmpty(body["asked"]),
        ...rowEnding(entry, "refused", ...said),
      });
      return;
    case "workflow.completed":
      addRow(tale, entry, { kind: "workflow", ...rowEnding(entry, "completed") });
      return;
    case "workflow.failed": {
      const report = body["report"] as unknown as RollbackReport | null;
      withdraw(tale, entry);
      endRollback(tale, entry, report === null ? "given_up" : "done", report);
      addRow(tale, entry, {
        kind: "workflow",
        name: textOrEmpty(body["code"]),
        ...rowEnding(entry, "failed", ...said),
      });
    }
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

export async function readTimeline(
  place: TenantStore,
  id: string,
  until: ReadUntil = {},
): Promise<readonly TimelineRow[]> {
  await workflowState(place, id);
  const tale = emptyTimeline();
  for await (const entry of entriesOf(place, id)) {
    if (isAfter(entry, until)) break;
    applyCall(tale, entry);
    applyStep(tale, entry);
    applyPeople(tale, entry);
    applyIntent(tale, entry);
    applyRollback(tale, entry);
    applyLife(tale, entry);
  }
  return withTitles(place, structuredClone(tale.rows));
}
