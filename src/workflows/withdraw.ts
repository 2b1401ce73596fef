/**
 * Withdraws approvals, questions and intents of a workflow that no longer waits for them.
 * A failed workflow stays listed as `closing` until any process has withdrawn everything that it began.
 */

import { withdrawIntent } from "../agents/intents/rules/answer.ts";
import { withdrawUndoIntents } from "../agents/remote-compensation.ts";
import { cancelApproval } from "../approvals/rules/withdraw.ts";
import { cancelAction } from "../effects/rules/propose.ts";

import { actionStream, approvalStream, intentStream, workflowStream } from "../kernel/stream.ts";
import { forEachReadable } from "../runtime/lists.ts";
import type { Runtime } from "../runtime/runtime.ts";
import { readState, runCommand } from "../runtime/store-access.ts";
import { readOperationTable } from "./entries.ts";
import { cancelWorkflow, closeWorkflow } from "./rules/lifecycle.ts";
import type { RecordedOp, RecordedUndo } from "./rules/operations.ts";

type WithdrawReason = { readonly by: string; readonly reason: string };

/** Cancels compensations that people have not approved yet. */
async function withdrawUndos(
  runtime: Runtime,
  undos: readonly RecordedUndo[],
  { by, reason }: WithdrawReason,
): Promise<void> {
  for (const { action, status } of undos)
    if (status === "open")
      await runCommand(runtime, { write: [actionStream(action)] }, (draft) =>
        cancelAction(draft, { action, by, reason }),
      );
}

export async function withdrawQuestions(
  runtime: Runtime,
  records: Iterable<RecordedOp>,
  { by, reason }: WithdrawReason,
): Promise<void> {
  for (const { kind, body, settled } of records) {
    if (settled !== null) continue;
    const action = String(body["action"]);
    const approval = String(body["approval"]);
    if (kind === "call")
      await runCommand(runtime, { write: [actionStream(action)] }, (draft) =>
        cancelAction(draft, { action, by, reason }),
      );
    if (kind === "question")
      await runCommand(runtime, { write: [approvalStream(approval)] }, (draft) =>
        cancelApproval(draft, { approval, by, reason }),
      );
  }
}

/** Withdraws the intents that it sent and that have no answer yet. */
export async function withdrawSends(
  runtime: Runtime,
  records: Iterable<RecordedOp>,
  { by, reason }: WithdrawReason,
): Promise<void> {
  for (const { kind, body, settled } of records) {
    if (kind !== "send" || settled?.kind === "refused") continue;
    const intent = String(body["intent"]);
    await runCommand(runtime, { write: [intentStream(intent)] }, (draft) =>
      withdrawIntent(draft, { intent, by, reason }),
    );
  }
}

/** For a child that has ended or was just cancelled. */
export async function withdrawSentBy(
  runtime: Runtime,
  workflow: string,
  said: WithdrawReason,
): Promise<void> {
  const { table } = await readOperationTable(runtime, workflow);
  await withdrawSends(runtime, table.ops.values(), said);
}

/** Cancels a child and withdraws what that began. */
async function cancelChild(runtime: Runtime, workflow: string, said: WithdrawReason): Promise<void> {
  await runCommand(runtime, { write: [workflowStream(workflow)] }, (draft) =>
    cancelWorkflow(draft, { workflow, ...said }),
  );
  await withdrawOpen(runtime, workflow, said);
}

/** Withdraws questions and actions of a failed workflow, cancels its children, then closes it. */
export async function withdrawOpen(
  runtime: Runtime,
  id: string,
  { by, reason }: WithdrawReason,
): Promise<void> {
  const state = await readState(runtime, workflowStream(id));
  if (state.status === "none" || !state.closing) return;
  const said = { by, reason };
  const { table } = await readOperationTable(runtime, id);
  await withdrawQuestions(runtime, table.ops.values(), said);
  await withdrawSends(runtime, table.ops.values(), said);
  await withdrawUndos(runtime, table.undos, said);
  if (state.isOutside === true) await withdrawUndoIntents(runtime, id, said);
  for (const { kind, body, settled } of table.ops.values())
    if (kind === "child" && settled === null) await cancelChild(runtime, String(body["child"]), said);
  await runCommand(runtime, { write: [workflowStream(id)] }, (draft) => closeWorkflow(draft, id));
}

const CLOSING_PER_LOOK = 100;

/** Closes workflows that failed while no process was there to withdraw what they began. */
export async function closeFailed(runtime: Runtime): Promise<void> {
  const query = { view: "runs", bucket: "closing", order: "oldest", limit: CLOSING_PER_LOOK } as const;
  await forEachReadable(await runtime.store.query(runtime.tenant, query), async ({ stream: { id } }) => {
    const state = await readState(runtime, workflowStream(id));
    if (state.status !== "none" && state.end?.status === "failed") await withdrawOpen(runtime, id, state.end);
  });
}
