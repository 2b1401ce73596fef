/**
 * Records a rule's signal once: one process raises the alert, with its checkpoint in the same commit, and notifies.
 * The checkpoint shows the reason, the workflow's last operations, and which cannot be undone.
 */

import { isStep } from "../effects/state.ts";
import type { JsonObject } from "../kernel/json.ts";
import { workflowStream } from "../kernel/stream.ts";
import type { Draft, Need } from "../kernel/transaction.ts";
import { isUnreadable } from "../runtime/lists.ts";
import { freshId, type Runtime } from "../runtime/runtime.ts";
import { readState, runCommand } from "../runtime/store-access.ts";
import { entriesOf, readChildCalls } from "../workflows/entries.ts";
import { type RaisedCheckpoint, raiseCheckpoint } from "../workflows/rules/ask.ts";
import { checkpointId } from "../workflows/rules/checkpoints.ts";
import {
  applyEntry,
  emptyTable,
  hasHappened,
  irreversibleCalls,
  type OperationTable,
  type RecordedOp,
} from "../workflows/rules/operations.ts";
import { buildSnapshot } from "../workflows/rules/snapshot.ts";
import { captureSnapshot } from "../workflows/snapshots.ts";
import type { LiveWorkflow } from "../workflows/state.ts";
import {
  type AlertNews,
  appendAlert,
  checkNews,
  clearAlert,
  type RaiseAlertCommand,
  raiseAlert,
} from "./rules/alert.ts";
import type { MonitorRule, Signal } from "./rules/monitor-rule.ts";

const SHOWN_OPERATIONS = 10;

type WorkflowRecord = {
  readonly state: LiveWorkflow;
  readonly table: OperationTable;
  readonly calls: readonly RecordedOp[];
};

async function readWorkflowRecord(runtime: Runtime, workflow: string): Promise<WorkflowRecord | undefined> {
  const state = await readState(runtime, workflowStream(workflow));
  if (state.status !== "executing") return undefined;
  const table = emptyTable();
  for await (const entry of entriesOf(runtime, workflow)) {
    if (entry.seq > state.seq) break;
    applyEntry(table, entry);
  }
  const since = state.passed.at(-1)?.seq ?? 0;
  const recent = [...table.ops.values()].filter(
    ({ seq, settled }) => seq > since && settled?.kind !== "refused",
  );
  const calls = recent.filter(({ kind }) => kind === "call");
  for (const { kind, body } of recent)
    if (kind === "child") calls.push(...(await readChildCalls(runtime, String(body["child"]))));
  return { state, table, calls };
}

/** Only a process with the tool knows whether it has an undo. A step's undo is only in the workflow definition. */
function undoOfOperation({ tools }: Runtime, { op, body }: RecordedOp): "has" | "none" | "not_known" {
  const tool = String(body["tool"]);
  if (body["undo"] !== undefined) return body["undo"] === "none" ? "none" : "has";
  const known = isStep(op, tool) ? undefined : tools.get(tool);
  if (known === undefined) return "not_known";
  return known.undo === null ? "none" : "has";
}

function checkpointContext(
  { monitor, rule, kind, severity, signal }: RaiseAlertCommand,
  known: WorkflowRecord,
  unknown: readonly string[],
): JsonObject {
  const { state, table } = known;
  const names = [...table.ops.values()].filter(({ kind: of }) => of !== "value" && of !== "log");
  return {
    monitor,
    rule,
    kind,
    severity,
    subject: signal.subject,
    figures: signal.figures,
    operations: state.operations,
    attempt: state.generation,
    last_operations: names.slice(-SHOWN_OPERATIONS).map((one) => `${one.kind} ${one.key}`),
    ...(unknown.length === 0 ? {} : { undo_not_known: [...unknown] }),
  };
}

/** undefined: the workflow is not executing, so there is nothing to stop. */
async function prepareRaisedCheckpoint(
  runtime: Runtime,
  workflow: string,
  raising: RaiseAlertCommand,
): Promise<RaisedCheckpoint | undefined> {
  const known = await readWorkflowRecord(runtime, workflow);
  if (known === undefined) return undefined;
  const { monitor, rule, alert, signal } = raising;
  const irreversible = irreversibleCalls(known.calls, (call) => undoOfOperation(runtime, call) === "none");
  const open = known.calls.filter(
    (call) => hasHappened(call) && undoOfOperation(runtime, call) === "not_known",
  );
  const unknown = [...new Set(open.map(({ body }) => String(body["tool"])))];
  const name = `${monitor}: ${rule}`;
  const id = freshId(runtime, "snap");
  const place = { snapshot: id, workflow, checkpoint: checkpointId({ name }), name, at: runtime.clock.now() };
  const captured = {
    summary: signal.says,
    decisionNeeded: "Shall it go on?",
    context: checkpointContext(raising, known, unknown),
  };
  const { artifact, ref } = await captureSnapshot(runtime, buildSnapshot(captured, place));
  return {
    ...{ workflow, name, monitor, rule, alert, artifact, irreversible },
    seq: known.state.seq,
    why: signal.says,
    approval: freshId(runtime, "apr"),
    nonce: freshId(runtime, "non"),
    snapshot: { id, ...ref },
  };
}

/** Attempts, if the workflow writes in between; after that it is stopped at any position. */
const MAX_ATTEMPTS_TO_STOP = 3;

function notifyAlert(
  { notify }: Runtime,
  { alert, monitor, rule, severity, signal }: RaiseAlertCommand,
  approval: string | null,
): void {
  const { subject, workflow, says } = signal;
  notify({ kind: "alert", alert, monitor, rule, severity, subject, workflow, says, approval });
}

async function clearAndNotify(runtime: Runtime, raising: RaiseAlertCommand): Promise<void> {
  const answer = await runCommand(runtime, {}, (draft) => clearAlert(draft, raising));
  if (answer.kind !== "cleared") return;
  const { monitor, rule, signal } = raising;
  runtime.notify({ kind: "alert_cleared", alert: answer.alert, monitor, rule, subject: signal.subject });
}

async function raiseOnly(runtime: Runtime, raising: RaiseAlertCommand): Promise<void> {
  const answer = await runCommand(runtime, {}, (draft) => raiseAlert(draft, raising));
  if (answer.kind === "raised") notifyAlert(runtime, raising, null);
}

type RaiseWithCheckpointAnswer = AlertNews | { readonly kind: "moved" | "not_now" };

function raiseWithCheckpoint(
  draft: Draft,
  raising: RaiseAlertCommand,
  raise: RaisedCheckpoint,
): Need | RaiseWithCheckpointAnswer {
  const news = checkNews(draft, raising);
  if (news.kind !== "new") return news;
  const raised = raiseCheckpoint(draft, raise);
  return raised.kind === "raised" ? appendAlert(draft, raising, raise.approval) : raised;
}

/** This process cannot stop a workflow that a newer one writes to: it only raises the alert. */
async function raiseOrStop(runtime: Runtime, workflow: string, raising: RaiseAlertCommand): Promise<void> {
  try {
    await raiseAndStop(runtime, workflow, raising);
  } catch (error) {
    if (!isUnreadable(error)) throw error;
    await raiseOnly(runtime, raising);
  }
}

/** Stops the workflow if it is executing; otherwise only raises the alert. */
async function raiseAndStop(runtime: Runtime, workflow: string, raising: RaiseAlertCommand): Promise<void> {
  const news = await runCommand(runtime, {}, (draft) => checkNews(draft, raising));
  if (news.kind !== "new") return;
  for (let look = 1; ; look++) {
    const seen = await prepareRaisedCheckpoint(runtime, workflow, raising);
    if (seen === undefined) break;
    const raise = look > MAX_ATTEMPTS_TO_STOP ? { ...seen, seq: null } : seen;
    await runtime.reach("before_checkpoint");
    const answer: RaiseWithCheckpointAnswer = await runCommand(runtime, {}, (draft) =>
      raiseWithCheckpoint(draft, raising, raise),
    );
    await runtime.reach("after_checkpoint");
    if (answer.kind === "known") return;
    if (answer.kind === "not_now") break;
    if (answer.kind === "moved") continue;
    const { approval, name: tool } = raise;
    notifyAlert(runtime, raising, approval);
    return runtime.notify({ kind: "waiting", action: workflow, approval, tool, decideBy: null });
  }
  return raiseOnly(runtime, raising);
}

type SignalSource = { readonly monitor: string; readonly rule: MonitorRule; readonly position: number };

export async function recordSignal(
  runtime: Runtime,
  { monitor, rule, position }: SignalSource,
  signal: Signal,
): Promise<void> {
  const { name, kind, severity = "warning", raise = "alert" } = rule;
  const alert = freshId(runtime, "alr");
  const raising = { alert, monitor, rule: name, kind, severity, signal, position };
  if (!signal.holds) return clearAndNotify(runtime, raising);
  const { workflow } = signal;
  if (raise === "alert" || workflow === null) return raiseOnly(runtime, raising);
  return raiseOrStop(runtime, workflow, raising);
}
