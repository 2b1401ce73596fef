/**
 * Writes down what a rule says, once: whichever process comes first raises the alert, and the checkpoint with it in the same
 * commit, and tells its people.
 */

import {
  appendAlert,
  clearAlert,
  isNews,
  type News,
  type Raising,
  raiseAlert,
} from "../../core/monitor/alert.ts";
import type { MonitorRule, Signal } from "../../core/monitor/rules.ts";
import type { Draft, Need } from "../../kernel/transaction.ts";
import { isUnreadable } from "../../runtime/lists.ts";
import { freshId, type Runtime } from "../../runtime/runtime.ts";
import { runCommand } from "../../runtime/store-access.ts";
import { type RaisedCheckpoint, raiseCheckpoint } from "../../workflows/rules/ask.ts";

import { prepareRaise } from "./raise.ts";

/** So often it is looked at again, if it has written something; then it is stopped wherever it is. */
const MOST_LOOKS = 3;

function tell(
  { notify }: Runtime,
  { alert, monitor, rule, severity, signal }: Raising,
  approval: string | null,
): void {
  const { subject, workflow, says } = signal;
  notify({ kind: "alert", alert, monitor, rule, severity, subject, workflow, says, approval });
}

async function clear(runtime: Runtime, raising: Raising): Promise<void> {
  const answer = await runCommand(runtime, {}, (draft) => clearAlert(draft, raising));
  if (answer.kind !== "cleared") return;
  const { monitor, rule, signal } = raising;
  runtime.notify({ kind: "alert_cleared", alert: answer.alert, monitor, rule, subject: signal.subject });
}

async function raiseOnly(runtime: Runtime, raising: Raising): Promise<void> {
  const answer = await runCommand(runtime, {}, (draft) => raiseAlert(draft, raising));
  if (answer.kind === "raised") tell(runtime, raising, null);
}

type Stopped = News | { readonly kind: "moved" | "not_now" };

function stop(draft: Draft, raising: Raising, raise: RaisedCheckpoint): Need | Stopped {
  const news = isNews(draft, raising);
  if (news.kind !== "new") return news;
  const raised = raiseCheckpoint(draft, raise);
  return raised.kind === "raised" ? appendAlert(draft, raising, raise.approval) : raised;
}

/** A workflow that a newer process writes to cannot be stopped by this one: then there is only the alert. */
async function raiseOrStop(runtime: Runtime, workflow: string, raising: Raising): Promise<void> {
  try {
    await raiseAndStop(runtime, workflow, raising);
  } catch (error) {
    if (!isUnreadable(error)) throw error;
    await raiseOnly(runtime, raising);
  }
}

/** Stops the workflow, unless it does not execute: then there is only the alert. */
async function raiseAndStop(runtime: Runtime, workflow: string, raising: Raising): Promise<void> {
  const news = await runCommand(runtime, {}, (draft) => isNews(draft, raising));
  if (news.kind !== "new") return;
  for (let look = 1; ; look++) {
    const seen = await prepareRaise(runtime, workflow, raising);
    if (seen === undefined) break;
    const raise = look > MOST_LOOKS ? { ...seen, seq: null } : seen;
    await runtime.reach("before_checkpoint");
    const answer: Stopped = await runCommand(runtime, {}, (draft) => stop(draft, raising, raise));
    await runtime.reach("after_checkpoint");
    if (answer.kind === "known") return;
    if (answer.kind === "not_now") break;
    if (answer.kind === "moved") continue;
    const { approval, name: tool } = raise;
    tell(runtime, raising, approval);
    return runtime.notify({ kind: "waiting", action: workflow, approval, tool, decideBy: null });
  }
  return raiseOnly(runtime, raising);
}

export type Said = { readonly monitor: string; readonly rule: MonitorRule; readonly position: number };

export async function announce(
  runtime: Runtime,
  { monitor, rule, position }: Said,
  signal: Signal,
): Promise<void> {
  const { name, kind, severity = "warning", raise = "alert" } = rule;
  const alert = freshId(runtime, "alr");
  const raising = { alert, monitor, rule: name, kind, severity, signal, position };
  if (!signal.holds) return clear(runtime, raising);
  const { workflow } = signal;
  if (raise === "alert" || workflow === null) return raiseOnly(runtime, raising);
  return raiseOrStop(runtime, workflow, raising);
}
