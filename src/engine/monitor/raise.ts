/** What people are shown at a checkpoint that a monitor raises: why, what the workflow did last, and what cannot be undone. */

import type { Raising } from "../../core/monitor/alert.ts";
import { isStep } from "../../effects/state.ts";
import type { JsonObject } from "../../kernel/json.ts";
import { workflowStream } from "../../kernel/stream.ts";
import { freshId, type Runtime } from "../../runtime/runtime.ts";
import { readState } from "../../runtime/store-access.ts";
import { entriesOf, readChildCalls } from "../../workflows/entries.ts";
import type { RaisedCheckpoint } from "../../workflows/rules/ask.ts";
import { checkpointId } from "../../workflows/rules/checkpoints.ts";
import {
  applyEntry,
  emptyTable,
  type OperationTable,
  type RecordedOp,
} from "../../workflows/rules/operations.ts";
import { buildSnapshot } from "../../workflows/rules/snapshot.ts";
import { captureSnapshot } from "../../workflows/snapshots.ts";
import type { LiveWorkflow } from "../../workflows/state.ts";

const SHOWN_OPERATIONS = 10;

type Known = {
  readonly state: LiveWorkflow;
  readonly table: OperationTable;
  readonly calls: readonly RecordedOp[];
};

async function lookAt(runtime: Runtime, workflow: string): Promise<Known | undefined> {
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

const hasHappened = ({ settled }: RecordedOp): boolean =>
  settled?.kind === "answer" && settled.answer.executed === true;

/** Only a process that has the tool knows whether it can be undone; a step's undo stands in the definition alone. */
function undoOf({ tools }: Runtime, { op, body }: RecordedOp): "has" | "none" | "not_known" {
  const tool = String(body["tool"]);
  if (body["undo"] !== undefined) return body["undo"] === "none" ? "none" : "has";
  const known = isStep(op, tool) ? undefined : tools.get(tool);
  if (known === undefined) return "not_known";
  return known.undo === null ? "none" : "has";
}

function contextOf(
  { monitor, rule, kind, severity, signal }: Raising,
  known: Known,
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

/** undefined: it does not execute, and there is nothing to stop. */
export async function prepareRaise(
  runtime: Runtime,
  workflow: string,
  raising: Raising,
): Promise<RaisedCheckpoint | undefined> {
  const known = await lookAt(runtime, workflow);
  if (known === undefined) return undefined;
  const { monitor, rule, alert, signal } = raising;
  const done = known.calls.filter(hasHappened);
  const of = (answer: ReturnType<typeof undoOf>) => done.filter((call) => undoOf(runtime, call) === answer);
  const irreversible = of("none").map(({ op, body }) => ({
    ...{ op, action: String(body["action"]), tool: String(body["tool"]) },
  }));
  const unknown = [...new Set(of("not_known").map(({ body }) => String(body["tool"])))];
  const name = `${monitor}: ${rule}`;
  const id = freshId(runtime, "snap");
  const place = { snapshot: id, workflow, checkpoint: checkpointId({ name }), name, at: runtime.clock.now() };
  const captured = {
    summary: signal.says,
    decisionNeeded: "Shall it go on?",
    context: contextOf(raising, known, unknown),
  };
  const { artifact, ref } = await captureSnapshot(runtime, buildSnapshot(captured, place));
  return {
    ...{
      workflow,
      seq: known.state.seq,
      name,
      why: signal.says,
      monitor,
      rule,
      alert,
      artifact,
      irreversible,
    },
    approval: freshId(runtime, "apr"),
    nonce: freshId(runtime, "non"),
    snapshot: { id, ...ref },
  };
}
