/**
 * What a workflow that goes back asks of its agent, as intents: the agent hears of them where it hears of everything else.
 *
 * J1. One intent for each attempt at each undo. It is answered by what the agent does and in no other way: taken up when it
 *     begins, over when its outcome is reported.
 * J2. All of them are over before the way back is. Whoever breaks it off withdraws them; what was left by somebody who died
 *     then is withdrawn when the agent comes to it.
 */

import { COMPENSATION } from "../../core/intent/address.ts";
import {
  type Answering,
  answerByOutcome,
  type Moved,
  waitsFor,
  withdrawIntent,
} from "../../core/intent/move.ts";
import { isOpen } from "../../core/intent/state.ts";
import { isHoldpointError } from "../../kernel/errors.ts";
import { isJsonObject, type Json } from "../../kernel/json.ts";
import { intentStream, ROSTER } from "../../kernel/stream.ts";
import { eachRow } from "../../runtime/lists.ts";
import type { Runtime } from "../../runtime/runtime.ts";
import { readState, runCommand } from "../../runtime/store-access.ts";
import type { UndoAttempt } from "../../workflows/rules/rollback.ts";
import { sendNow } from "../intent/send.ts";

/** Under its own name: its agent does not ask itself. */
const senderOf = (workflow: string): string => `service:${workflow}`;

export type Asked = {
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
export async function askForUndo(runtime: Runtime, asked: Asked): Promise<void> {
  const { workflow, agent, requestId, undoes, tool, undoTool, attempt, reason } = asked;
  // People are not written to in intents; what they drive they look at themselves.
  if (!agent.startsWith("agent:")) return;
  const start = `/api/workflows/${workflow}/compensations/${undoes}/start`;
  const by = undoTool === undefined ? {} : { undo_tool: undoTool };
  const payload = { workflow_id: workflow, undoes, tool, ...by, attempt, reason, start };
  const to = { intentType: COMPENSATION, toAgent: `agent://${agent.slice("agent:".length)}`, to: agent };
  try {
    await sendNow(runtime, { ...to, payload, requestId, from: senderOf(workflow), correlation: workflow });
  } catch (error) {
    // Somebody has used the name for an intent of their own: it is found in the list of compensations all the same.
    if (!isHoldpointError(error) || error.code !== "request_conflict") throw error;
  }
}

type Open = { readonly id: string; readonly to: string; readonly payload: Json };

async function openOf(runtime: Runtime, workflow: string): Promise<readonly Open[]> {
  const found: Open[] = [];
  for await (const { stream } of eachRow(runtime, { view: "intents_from", bucket: senderOf(workflow) })) {
    const state = await readState(runtime, intentStream(stream.id));
    if (state.status === "none" || !isOpen(state)) continue;
    found.push({ id: stream.id, to: state.to, payload: state.payload });
  }
  return found;
}

function undoFor({ payload }: Open, undos: readonly UndoAttempt[]): UndoAttempt | undefined {
  if (!isJsonObject(payload)) return undefined;
  const { undoes, attempt } = payload;
  return undos.filter((undo) => undo.undoes === undoes)[Number(attempt) - 1];
}

function answerTo(
  { id: intent, to: by }: Open,
  { action, phase, reason }: UndoAttempt,
): Answering | undefined {
  if (phase === "applied") return { intent, by, status: "completed", data: { status: phase, action } };
  if (phase !== "not_applied" && phase !== "refused") return undefined;
  return { intent, by, status: "failed", reason: reason === "" ? phase : reason };
}

/** What is over meanwhile stays as it is. */
function say(runtime: Runtime, open: Open, undo: UndoAttempt): Promise<Moved> {
  const { id: intent, to: by } = open;
  const answering = answerTo(open, undo);
  return runCommand(runtime, { write: [intentStream(intent)], read: [ROSTER] }, (draft) =>
    answering === undefined
      ? waitsFor(draft, { intent, by, on: undo.action })
      : answerByOutcome(draft, answering),
  );
}

/** Says of each what became of the undo that it asks for. */
export async function followUndos(
  runtime: Runtime,
  workflow: string,
  undos: readonly UndoAttempt[],
): Promise<void> {
  for (const open of await openOf(runtime, workflow)) {
    const undo = undoFor(open, undos);
    if (undo !== undefined) await say(runtime, open, undo);
  }
}

/** Nobody waits for them any more. */
export async function withdrawAsked(
  runtime: Runtime,
  workflow: string,
  { by, reason }: { readonly by: string; readonly reason: string },
): Promise<void> {
  for (const { id: intent } of await openOf(runtime, workflow))
    await runCommand(runtime, { write: [intentStream(intent)] }, (draft) =>
      withdrawIntent(draft, { intent, by, reason }),
    );
}
