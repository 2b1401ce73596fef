/**
 * The answer to a remote agent about an action that it proposed: a permit, a pending approval, a refusal or the
 * receipt. Only misuse and store failures throw.
 */

import { getReceipt } from "../effects/actions.ts";
import { type Caller, throwIfCallerGone } from "../effects/advance-call.ts";
import { type Answer, obstacleKind } from "../effects/answer.ts";
import { probeAction } from "../effects/recover.ts";
import type { Advanced } from "../effects/rules/advance.ts";
import { askForPermit, type PermitAsk, type PermitLook, permitState } from "../effects/rules/permit.ts";
import { type Receipt, receiptOf } from "../effects/rules/receipt.ts";
import type { ActionIn, LiveAction } from "../effects/state.ts";
import type { Tool } from "../effects/tool.ts";
import { HoldpointError } from "../kernel/errors.ts";
import type { Json } from "../kernel/json.ts";
import type { Refusal } from "../kernel/refusals.ts";
import { actionStream } from "../kernel/stream.ts";
import type { Draft, Need } from "../kernel/transaction.ts";
import type { Runtime } from "../runtime/runtime.ts";
import { loadArgs, loadValue, readState, runCommand } from "../runtime/store-access.ts";
import type { Permit, RemoteAnswer } from "./contract.ts";

type RemoteOutcome = Extract<RemoteAnswer, { readonly receipt: unknown }>;

const OUTCOMES = { applied: "done", not_applied: "failed", in_doubt: "in_doubt" } as const;

function outcomeAnswer(action: string, receipt: Receipt, result: Json): RemoteOutcome {
  return { status: OUTCOMES[receipt.status], action, receipt, result };
}

export function pendingRemotely(action: string, approval: string, decideBy: number | null): RemoteAnswer {
  return { status: "pending", waitingFor: "approval", action, approval, decideBy };
}

export function heldRemotely(action: string, why: Refusal): RemoteAnswer {
  return { status: "pending", waitingFor: obstacleKind(why), action, ...why };
}

async function loadPermit(runtime: Runtime, action: string, state: ActionIn<"running">): Promise<Permit> {
  const { effect } = state;
  const { grant } = effect;
  const { isBegun, handedOut } = permitState(state);
  return {
    status: "permitted",
    action,
    effect: effect.id,
    tool: state.tool,
    key: effect.id,
    args: await loadArgs(runtime, state),
    approvedBy: grant.kind === "verdict" ? [] : [...grant.by],
    notes: grant.kind === "approval" ? [...grant.notes] : [],
    reportBy: effect.reportBy ?? 0,
    executeBy: effect.executeBy,
    begun: isBegun,
    handedOut,
  };
}

/** The caller, and the tool of the effect. */
export type PermitContext = { readonly caller: Caller; readonly tool: Tool };

/** For an action that has an outcome, was refused, or whose permit the agent requests. */
async function answerAtRest(runtime: Runtime, action: string, asks: PermitContext): Promise<RemoteAnswer> {
  const state = (await readState(runtime, actionStream(action))) as LiveAction;
  if (state.phase === "refused")
    return { status: "refused", action, approval: state.approval, ...state.refusal };
  if (state.phase === "running") return askForPermitAgain(runtime, action, asks);
  if ("outcome" in state) {
    const receipt = receiptOf(runtime.tenant, action, state);
    return outcomeAnswer(action, receipt, await loadValue(runtime, state.outcome.result));
  }
  throw new TypeError(`the action ${action} has not come to rest`);
}

/** Begins and issues nothing for a caller that is gone. */
function askUnlessGone(draft: Draft, asked: PermitAsk, { isGone }: Caller): Need | PermitLook {
  const look = askForPermit(draft, asked);
  if (isGone !== undefined && (look.kind === "permitted" || look.kind === "doubted"))
    throwIfCallerGone({ isGone });
  return look;
}

async function askForPermitAgain(
  runtime: Runtime,
  action: string,
  asks: PermitContext,
): Promise<RemoteAnswer> {
  const { caller, tool } = asks;
  const { keyRetentionMs } = tool.rules;
  const look = await runCommand(runtime, { write: [actionStream(action)] }, (draft) =>
    askUnlessGone(draft, { ...caller.asker, action, keyRetentionMs }, caller),
  );
  switch (look.kind) {
    case "permitted":
      return loadPermit(runtime, action, look.state);
    case "pending":
      return { status: "pending", waitingFor: "holder", action, reportBy: look.reportBy };
    case "held":
      return heldRemotely(action, look.refusal);
    case "doubted":
      await afterDoubt(runtime, action, look.state);
      return answerAtRest(runtime, action, asks);
    case "settled":
      return answerAtRest(runtime, action, asks);
  }
}

/** Notifies people; probes at once if the tool can. */
async function afterDoubt(runtime: Runtime, action: string, state: ActionIn<"in_doubt">): Promise<void> {
  const { effect, outcome, tool } = state;
  runtime.notify({ kind: "in_doubt", action, effect: effect.id, tool, reason: outcome.reason });
  await probeAction(runtime, action, runtime.clock);
}

/** undefined: another process changed it in between, look again. */
export async function answerRemoteAgent(
  runtime: Runtime,
  answer: Advanced & { readonly action: string },
  asks: PermitContext,
): Promise<RemoteAnswer | undefined> {
  const { action } = answer;
  switch (answer.kind) {
    case "started":
      return loadPermit(runtime, action, answer.state);
    case "waiting":
      return pendingRemotely(action, answer.approval, answer.decideBy);
    case "held":
      return heldRemotely(action, answer.refusal);
    case "refused":
    case "settled":
      return answerAtRest(runtime, action, asks);
    case "moved":
    case "turned":
      return undefined;
    case "epoch_ended":
      throw new HoldpointError("epoch_ended", "This process was taken for dead and another one took over.");
  }
}

/** The same for a tool that is performed here. */
export async function answerFromLocalCall(runtime: Runtime, answer: Answer<Json>): Promise<RemoteAnswer> {
  const { action } = answer;
  if (answer.status === "done") return outcomeAnswer(action, answer.receipt, answer.result);
  if (answer.status === "in_doubt") return outcomeAnswer(action, answer.receipt, null);
  const { by, code, reason, retry, next, approval } = answer;
  const why = { by, code, reason, retry, next };
  if (answer.status === "pending")
    return approval === null ? heldRemotely(action, why) : pendingRemotely(action, approval, null);
  const receipt = answer.status === "failed" ? await getReceipt(runtime, action) : undefined;
  if (receipt !== undefined) return outcomeAnswer(action, receipt, null);
  return { status: "refused", action, approval, ...why };
}
