/**
 * The undos that a rollback requests from its remote agent, as intents: the agent receives them like all its intents.
 * - One intent per attempt at each undo. Only the undo itself answers it: acknowledged when it begins, ended when its
 *   outcome is reported.
 * - All of them end before the rollback does. Cancelling a rollback withdraws them; intents left open by a process that
 *   died are withdrawn when the agent next requests the undo.
 */

import { isHoldpointError } from "../kernel/errors.ts";
import { isJsonObject, type Json } from "../kernel/json.ts";
import { intentStream, ROSTER } from "../kernel/stream.ts";
import { eachRow } from "../runtime/lists.ts";
import type { Runtime } from "../runtime/runtime.ts";
import { readState, runCommand } from "../runtime/store-access.ts";
import type { UndoAttempt } from "../workflows/rules/rollback.ts";
import {
  type AnswerIntentCommand,
  answerByOutcome,
  type IntentMove,
  markWaiting,
  withdrawIntent,
} from "./intents/rules/answer.ts";
import { COMPENSATION_INTENT } from "./intents/rules/send.ts";
import { sendIntentNow } from "./intents/send-and-answer.ts";
import { isIntentOpen } from "./intents/stream.ts";

/** The workflow sends under its own name, so that the agent is not the sender of its own task. */
const workflowSender = (workflow: string): string => `service:${workflow}`;

type UndoRequest = {
  readonly workflow: string;
  readonly agent: string;
  readonly requestId: string;
  /** The action to undo. */
  readonly undoes: string;
  readonly tool: string;
  /** The tool that the agent declared for the undo. */
  readonly undoTool?: string;
  readonly attempt: number;
  readonly reason: string;
};

/** Without arguments and result: the agent receives those when it begins. */
export async function askForUndo(runtime: Runtime, asked: UndoRequest): Promise<void> {
  const { workflow, agent, requestId, undoes, tool, undoTool, attempt, reason } = asked;
  // Undo requests are sent to agents only; people look at the workflows they drive themselves.
  if (!agent.startsWith("agent:")) return;
  const start = `/api/workflows/${workflow}/compensations/${undoes}/start`;
  const by = undoTool === undefined ? {} : { undo_tool: undoTool };
  const payload = { workflow_id: workflow, undoes, tool, ...by, attempt, reason, start };
  const to = {
    intentType: COMPENSATION_INTENT,
    toAgent: `agent://${agent.slice("agent:".length)}`,
    to: agent,
  };
  try {
    await sendIntentNow(runtime, {
      ...to,
      payload,
      requestId,
      from: workflowSender(workflow),
      correlation: workflow,
    });
  } catch (error) {
    // Another sender used this request id for its own intent: the undo is still in the list of compensations.
    if (!isHoldpointError(error) || error.code !== "request_conflict") throw error;
  }
}

type OpenUndoIntent = { readonly id: string; readonly to: string; readonly payload: Json };

async function openUndoIntents(runtime: Runtime, workflow: string): Promise<readonly OpenUndoIntent[]> {
  const found: OpenUndoIntent[] = [];
  for await (const { stream } of eachRow(runtime, {
    view: "intents_from",
    bucket: workflowSender(workflow),
  })) {
    const state = await readState(runtime, intentStream(stream.id));
    if (state.status === "none" || !isIntentOpen(state)) continue;
    found.push({ id: stream.id, to: state.to, payload: state.payload });
  }
  return found;
}

function undoOfIntent({ payload }: OpenUndoIntent, undos: readonly UndoAttempt[]): UndoAttempt | undefined {
  if (!isJsonObject(payload)) return undefined;
  const { undoes, attempt } = payload;
  return undos.filter((undo) => undo.undoes === undoes)[Number(attempt) - 1];
}

function answerFromUndo(
  { id: intent, to: by }: OpenUndoIntent,
  { action, phase, reason }: UndoAttempt,
): AnswerIntentCommand | undefined {
  if (phase === "applied") return { intent, by, status: "completed", data: { status: phase, action } };
  if (phase !== "not_applied" && phase !== "refused") return undefined;
  return { intent, by, status: "failed", reason: reason === "" ? phase : reason };
}

/** An intent that has ended in the meantime stays as it is. */
function recordUndoProgress(runtime: Runtime, open: OpenUndoIntent, undo: UndoAttempt): Promise<IntentMove> {
  const { id: intent, to: by } = open;
  const answering = answerFromUndo(open, undo);
  return runCommand(runtime, { write: [intentStream(intent)], read: [ROSTER] }, (draft) =>
    answering === undefined
      ? markWaiting(draft, { intent, by, on: undo.action })
      : answerByOutcome(draft, answering),
  );
}

/** Records in each open intent how far its undo has come. */
export async function updateUndoIntents(
  runtime: Runtime,
  workflow: string,
  undos: readonly UndoAttempt[],
): Promise<void> {
  for (const open of await openUndoIntents(runtime, workflow)) {
    const undo = undoOfIntent(open, undos);
    if (undo !== undefined) await recordUndoProgress(runtime, open, undo);
  }
}

/** Withdraws the workflow's open intents: no process waits for them any more. */
export async function withdrawUndoIntents(
  runtime: Runtime,
  workflow: string,
  { by, reason }: { readonly by: string; readonly reason: string },
): Promise<void> {
  for (const { id: intent } of await openUndoIntents(runtime, workflow))
    await runCommand(runtime, { write: [intentStream(intent)] }, (draft) =>
      withdrawIntent(draft, { intent, by, reason }),
    );
}
