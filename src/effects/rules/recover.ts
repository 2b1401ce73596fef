/**
 * What happens to an effect whose owner died or whose attempt failed, by effect class.
 *
 * - Only effects of ended epochs are taken over. The process that began them has no further say.
 * - Nothing is sent again while a kill switch is on, after `execute_by`, or after the receiver forgot the key.
 * - `once` and `probed` are never sent again, nor is a tool that changed meanwhile: they go in doubt.
 * - Much time may pass between start and send, so switches and `execute_by` are checked again just before the send.
 */

import { actionStream, epochStream, switchStream } from "../../kernel/stream.ts";
import type { Draft, Need } from "../../kernel/transaction.ts";
import { checkKillSwitches, type SwitchCheck, switchScopes } from "../../kill-switch/rules.ts";
import type { EffectClass } from "../../policy/rules/tool-rules.ts";
import type { ActionIn, LiveAction } from "../state.ts";
import { appendActionEvent, getLiveAction } from "../stream.ts";
import { lockEffect, recordOutcome } from "./outcome.ts";
import { isTooLate, TOO_LATE } from "./start.ts";

export type Retry = {
  readonly action: string;
  /** The epoch that will make the next attempt. */
  readonly epoch: string;
  readonly reason: string;
  /** The tool in this process. null: this process does not have it. */
  readonly tool: { readonly keyRetentionMs: number } | "changed" | null;
};

export type RetryAnswer =
  | { readonly kind: "retry"; readonly state: ActionIn<"running"> }
  | { readonly kind: "in_doubt"; readonly state: LiveAction }
  /** Another process's, not dead, or waiting for the kill switch or for a process with the tool. */
  | { readonly kind: "left" };

const SENT_AGAIN: readonly EffectClass[] = ["read", "idempotent", "keyed"];
export const isSentAgain = (effectClass: EffectClass): boolean => SENT_AGAIN.includes(effectClass);

function whyNotAgain(state: ActionIn<"running">, now: number, tool: Retry["tool"]): string | undefined {
  const { effectClass } = state;
  // A process with the original tool may never come back. In doubt, the effect is visible to people.
  if (tool === "changed") return "the tool is no longer the one that was started";
  const retentionMs = tool?.keyRetentionMs ?? Number.POSITIVE_INFINITY;
  if (!SENT_AGAIN.includes(effectClass)) return `a tool of class ${effectClass} is not sent twice`;
  if (effectClass === "read") return undefined;
  if (isTooLate(state, now)) return TOO_LATE;
  return isForgotten(state, now, retentionMs) ? "the receiver may have forgotten the key" : undefined;
}

/** Checked when the next attempt is decided, and again just before it is sent: much time may pass in between. */
export function isForgotten(state: ActionIn<"running">, now: number, retentionMs: number): boolean {
  return state.effectClass === "keyed" && now >= state.effect.startedAt + retentionMs;
}

function doubt(draft: Draft, action: string, state: ActionIn<"running">, reason: string): RetryAnswer {
  appendActionEvent(draft, action, "effect.in_doubt", { attempt: state.effect.attempt, reason });
  return { kind: "in_doubt", state: getLiveAction(draft, action) };
}

/** The next attempt, or doubt. The caller has made sure that the present attempt has ended. */
function again(draft: Draft, command: Retry, state: ActionIn<"running">): Need | RetryAnswer {
  const more = draft.need({ read: [...switchScopes(state).map(switchStream), epochStream(command.epoch)] });
  if (more !== undefined) return more;
  const look = checkKillSwitches(draft, state);
  if (look.kind === "need") return look;
  const never = whyNotAgain(state, draft.now, command.tool);
  if (never !== undefined) return doubt(draft, command.action, state, `${command.reason}; ${never}`);
  if (
    command.tool === null ||
    look.on !== undefined ||
    draft.state(epochStream(command.epoch)).life !== "open"
  )
    return { kind: "left" };
  const body = { epoch: command.epoch, reason: command.reason };
  appendActionEvent(draft, command.action, "effect.retried", body);
  return { kind: "retry", state: getLiveAction(draft, command.action) as ActionIn<"running"> };
}

/** Takes over an effect of an epoch that has ended. */
export function takeOver(draft: Draft, command: Retry): Need | RetryAnswer {
  const state = lockEffect(draft, command.action);
  if ("kind" in state) return state;
  // An effect that an agent performs itself outlives every process.
  if (state.phase !== "running" || state.effect.reportBy !== undefined) return { kind: "left" };
  if (draft.state(epochStream(state.effect.epoch)).life !== "ended") return { kind: "left" };
  return again(draft, command, state);
}

/** The owner retries after an attempt that it cannot confirm as applied. */
export function retryOwn(draft: Draft, command: Retry & { readonly attempt: number }): Need | RetryAnswer {
  const state = lockEffect(draft, command.action);
  if ("kind" in state) return state;
  const { epoch, attempt } = command;
  if (state.phase !== "running" || state.effect.epoch !== epoch || state.effect.attempt !== attempt)
    return { kind: "left" };
  // This process was presumed dead: the process that took over determines the outcome.
  if (draft.state(epochStream(epoch)).life !== "open") return { kind: "left" };
  const answer = again(draft, command, state);
  const why = `${command.reason}; it was not sent again because new effects are stopped`;
  return answer.kind === "left" ? doubt(draft, command.action, state, why) : answer;
}

export type SendCommand = {
  readonly action: string;
  readonly epoch: string;
  /** True if this process must not touch an attempt: it may have been sent, or the process may no longer run. */
  isLeft(state: ActionIn<"running">): boolean;
};

export type SendAnswer =
  | { readonly kind: "send"; readonly state: ActionIn<"running">; readonly now: number }
  | { readonly kind: "left"; readonly state: LiveAction };

function whyNotNow({ now }: Draft, state: ActionIn<"running">, { on }: SwitchCheck): string | undefined {
  if (isTooLate(state, now)) return TOO_LATE;
  return on === undefined ? undefined : `the kill switch (${on.scope}) came on before it was sent`;
}

/** The last check before a send. An effect that may no longer be sent, and never was, was certainly not applied. */
export function admitSend(draft: Draft, command: SendCommand): Need | SendAnswer {
  const { action, epoch } = command;
  const ref = actionStream(action);
  const more = draft.need({ read: [ref] });
  if (more !== undefined) return more;
  const state = draft.state(ref);
  if (state.phase === "none") throw new TypeError(`the action ${action} does not exist`);
  if (state.phase !== "running" || state.effect.epoch !== epoch || command.isLeft(state))
    return { kind: "left", state };
  const look = checkKillSwitches(draft, state);
  if (look.kind === "need") return look;
  const reason = whyNotNow(draft, state, look);
  if (reason === undefined) return { kind: "send", state, now: draft.now };
  const { attempt } = state.effect;
  const answer = recordOutcome(draft, { action, epoch, attempt, report: { status: "not_applied", reason } });
  return answer.kind === "need" ? answer : { kind: "left", state: answer.state };
}
