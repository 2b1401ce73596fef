/** What an agent is told of an action that it proposed. Only misuse and store failures throw. */
import type { Advanced } from "../../core/action/advance.ts";
import { type Receipt, receiptOf } from "../../core/action/receipt.ts";
import { lookAtPermit } from "../../core/action/report.ts";
import type { ActionIn, LiveAction } from "../../core/action/state.ts";
import { HoldpointError } from "../../core/errors.ts";
import type { Json } from "../../core/json.ts";
import type { Refusal } from "../../core/refusal.ts";
import { actionStream } from "../../core/stream.ts";
import type { Answer } from "../answer.ts";
import { loadArgs, loadValue, readState } from "../read-state.ts";
import { getReceipt } from "../receipts.ts";
import { runCommand } from "../run-command.ts";
import type { Runtime } from "../runtime.ts";

/** The agent may perform it now, once, with these arguments, and has to report by then. */
export type Permit = {
  readonly kind: "permitted";
  readonly action: string;
  readonly effect: string;
  readonly tool: string;
  /** Hand it to the receiver: the same whenever the agent asks again. */
  readonly key: string;
  /** As they were approved; people or the policy may have changed them. */
  readonly args: Json;
  readonly approvedBy: readonly string[];
  readonly notes: readonly string[];
  readonly reportBy: number;
  /** It may not be begun after this; null: at any time before the report. */
  readonly executeBy: number | null;
};

export type OutsideAnswer =
  | Permit
  | {
      readonly kind: "waiting";
      readonly action: string;
      readonly approval: string;
      readonly decideBy: number | null;
    }
  | ({ readonly kind: "refused"; readonly action: string; readonly approval: string | null } & Refusal)
  | ({ readonly kind: "held"; readonly action: string } & Refusal)
  | {
      readonly kind: "settled";
      readonly action: string;
      readonly receipt: Receipt;
      readonly result: Json;
    };

async function permitOf(runtime: Runtime, action: string, state: ActionIn<"running">): Promise<Permit> {
  const { effect } = state;
  const { grant } = effect;
  return {
    kind: "permitted",
    action,
    effect: effect.id,
    tool: state.tool,
    key: effect.id,
    args: await loadArgs(runtime, state),
    approvedBy: grant.kind === "verdict" ? [] : [...grant.by],
    notes: grant.kind === "approval" ? [...grant.notes] : [],
    reportBy: effect.reportBy ?? 0,
    executeBy: effect.executeBy,
  };
}

/** Of an action that has come to rest, or that the agent was permitted to perform. */
export async function restOf(runtime: Runtime, action: string): Promise<OutsideAnswer> {
  const state = (await readState(runtime, actionStream(action))) as LiveAction;
  if (state.phase === "refused")
    return { kind: "refused", action, approval: state.approval, ...state.refusal };
  if (state.phase === "running") return again(runtime, action);
  if ("outcome" in state) {
    const receipt = receiptOf(runtime.tenant, action, state);
    return { kind: "settled", action, receipt, result: await loadValue(runtime, state.outcome.result) };
  }
  throw new TypeError(`the action ${action} has not come to rest`);
}

async function again(runtime: Runtime, action: string): Promise<OutsideAnswer> {
  const look = await runCommand(runtime, { write: [actionStream(action)] }, (draft) =>
    lookAtPermit(draft, action),
  );
  if (look.kind === "permitted") return permitOf(runtime, action, look.state);
  return look.kind === "held" ? { kind: "held", action, ...look.refusal } : restOf(runtime, action);
}

/** undefined: somebody else moved it in between, look again. */
export async function outsideAnswer(
  runtime: Runtime,
  action: string,
  answer: Advanced,
): Promise<OutsideAnswer | undefined> {
  switch (answer.kind) {
    case "started":
      return permitOf(runtime, action, answer.state);
    case "waiting":
      return { kind: "waiting", action, approval: answer.approval, decideBy: answer.decideBy };
    case "held":
      return { kind: "held", action, ...answer.refusal };
    case "refused":
    case "settled":
      return restOf(runtime, action);
    case "moved":
    case "turned":
      return undefined;
    case "epoch_ended":
      throw new HoldpointError("epoch_ended", "This process was taken for dead and another one took over.");
  }
}

/** The same of a tool that is performed here. */
export async function answerOfCall(runtime: Runtime, answer: Answer<Json>): Promise<OutsideAnswer> {
  const { action } = answer;
  if (answer.executed !== false) {
    const result = answer.executed === true ? answer.result : null;
    return { kind: "settled", action, receipt: answer.receipt, result };
  }
  const { executed: _no, approval, action: _same, ...refusal } = answer;
  if (refusal.code === "pending" && approval !== null)
    return { kind: "waiting", action, approval, decideBy: null };
  if (refusal.retry) return { kind: "held", action, ...refusal };
  const receipt = refusal.code === "not_applied" ? await getReceipt(runtime, action) : undefined;
  if (receipt !== undefined) return { kind: "settled", action, receipt, result: null };
  return { kind: "refused", action, approval, ...refusal };
}
