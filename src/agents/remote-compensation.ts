/**
 * The undos that a rollback asks of its remote agent, as intents: the agent hears of them where it hears of everything
 * else.
 * - One intent for each attempt at each undo. Only the undo itself answers it: taken up when it begins, over when its
 *   outcome is reported.
 * - All of them are over before the rollback is. Breaking a rollback off withdraws them; what a process that died left
 *   open is withdrawn when the agent comes to it.
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

/** Under its own name: its agent does not ask itself. */
const workflowSender = (workflow: string): string => `service:${workflow}`;

type UndoRequest = {
  readonly workflow: string;
  readonly agent: string;
  readonly requestId: string;
  /** The action that is to be undone. */
  readonly undoes: string;
  readonly tool: string;
  /** The tool by which its agent had said that it would take it back. */
  readonly undoTool?: string;
  readonly attempt: number;
  readonly reason: string;
};

/** Arguments and result are not in it: the agent is handed them when it begins. */
export async function askForUndo(runtime: Runtime, asked: UndoRequest): Promise<void> {
  const { workflow, agent, requestId, undoes, tool, undoTool, attempt, reason } = asked;
  // People are not written to in intents; what they drive they look at themselves.
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
    // Somebody has used the name for an intent of their own: it is found in the list of compensations all the same.
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

/** What is over meanwhile stays as it is. */
function recordUndoProgress(runtime: Runtime, open: OpenUndoIntent, undo: UndoAttempt): Promise<IntentMove> {
  const { id: intent, to: by } = open;
  const answering = answerFromUndo(open, undo);
  return runCommand(runtime, { write: [intentStream(intent)], read: [ROSTER] }, (draft) =>
    answering === undefined
      ? markWaiting(draft, { intent, by, on: undo.action })
      : answerByOutcome(draft, answering),
  );
}

/** Says of each what became of the undo that it asks for. */
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

/** Nobody waits for them any more. */
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
