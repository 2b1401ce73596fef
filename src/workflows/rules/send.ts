/**
 * Intents of a workflow: sent and waited for as operations of its own.
 * - The intent is created in the commit in which the workflow's stream records it, and sent once however often it is
 *   replayed.
 * - The commit that ends the intent also notifies the workflow; if the intent has already ended, that happens at once.
 */

import { awaitIntent } from "../../agents/intents/rules/answer.ts";
import { type SendIntentCommand, sendIntent } from "../../agents/intents/rules/send.ts";

import { digestOf } from "../../kernel/canonical-json.ts";
import { type NewEvent, workflowStream } from "../../kernel/stream.ts";
import { type Draft, isNeed, type Need } from "../../kernel/transaction.ts";
import { lockOwnRun, type Recorded, type Runner, reportWritten, wasRecorded } from "./lifecycle.ts";

type NotSent = { readonly kind: "unmeetable"; readonly reason: string };

export function sendFromWorkflow(
  draft: Draft,
  runner: Runner,
  {
    op,
    before,
    sending,
  }: { readonly op: string; readonly before: readonly NewEvent[]; readonly sending: SendIntentCommand },
): Need | Recorded | NotSent {
  const state = lockOwnRun(draft, runner, "run");
  if ("kind" in state) return state;
  if (wasRecorded(state, runner)) return reportWritten(draft, state, runner.workflow, []);
  if (state.status !== "executing") return { kind: "turned" };
  const sent = sendIntent(draft, sending);
  if (sent.kind === "need" || sent.kind === "unmeetable") return sent;
  const { intentType, to, payload } = sending;
  const body = { op, intent: sent.intent, intentType, to, payloadDigest: digestOf(payload) };
  const events = [...before, { type: "send.made", tv: 1, body }];
  draft.append(workflowStream(runner.workflow), events);
  return reportWritten(draft, state, runner.workflow, events);
}

type FlowWait = {
  readonly op: string;
  readonly intent: string;
  readonly withinMs: number | null;
  /** It was recorded before, and is resumed. */
  readonly isKnown: boolean;
  readonly before: readonly NewEvent[];
};

function beginWait(draft: Draft, { op, intent, withinMs, isKnown, before }: FlowWait): readonly NewEvent[] {
  const until = withinMs === null ? null : draft.now + withinMs;
  const began = { type: "wait.began", tv: 1, body: { op, intent, until } };
  return isKnown ? before : [...before, began];
}

/** Returns none of the events it wrote: the runner reads the stream. */
export function waitInWorkflow(
  draft: Draft,
  runner: Runner,
  wait: FlowWait,
): Need | Recorded | { readonly kind: "unknown" } {
  const state = lockOwnRun(draft, runner, "run");
  if ("kind" in state) return state;
  if (wasRecorded(state, runner)) return reportWritten(draft, state, runner.workflow, []);
  if (state.status !== "executing" && !wait.isKnown) return { kind: "turned" };
  draft.append(workflowStream(runner.workflow), beginWait(draft, wait));
  const awaited = awaitIntent(draft, wait.intent, { workflow: runner.workflow, op: wait.op });
  if (isNeed(awaited) || awaited.kind === "unknown") return awaited as Need | { readonly kind: "unknown" };
  return reportWritten(draft, state, runner.workflow, []);
}
