/**
 * The answer of a gated call: its five statuses, how it is built from a recorded action, and the errors that `run`
 * throws. The journal keeps the answer of a workflow's call in the words of `SettledAnswer`; only this file translates.
 */
import { copyJson } from "../kernel/canonical-json.ts";
import { HoldpointError } from "../kernel/errors.ts";
import type { Json, JsonObject } from "../kernel/json.ts";
import { type Refusal, refusal } from "../kernel/refusals.ts";
import { loadValue } from "../runtime/store-access.ts";
import type { TenantStore } from "../stores/store.ts";
import { type Receipt, type SettledAnswer, settledAnswer } from "./rules/receipt.ts";
import type { LiveAction } from "./state.ts";

/** The tool ran. */
export type DoneAnswer<Result> = {
  readonly status: "done";
  /** The tool's return value. If a person resolved a doubt as applied, nobody knows the value and it is null. */
  readonly result: Result;
  readonly receipt: Receipt;
  readonly action: string;
  /** Notes of the people who approved it. Absent if there are none. */
  readonly notes?: readonly string[];
};

/** Nothing ran yet. Call again with the same request id. */
export type PendingAnswer = Refusal & {
  readonly status: "pending";
  readonly action: string;
} & (
    | { readonly waitingFor: "approval"; readonly approval: string }
    | { readonly waitingFor: "kill_switch" | "budget"; readonly approval: null }
  );

/** The effect started and was proven not applied. It may be proposed again under a new request id. */
export type FailedAnswer = Refusal & {
  readonly status: "failed";
  readonly action: string;
  readonly approval: string | null;
};

/** Nothing ran, and nothing will under this request id. */
export type RefusedAnswer = Refusal & {
  readonly status: "refused";
  readonly action: string;
  readonly approval: string | null;
};

/** The effect may or may not have been applied. Nothing retries it until a person or a probe resolves it. */
export type InDoubtAnswer = {
  readonly status: "in_doubt";
  readonly reason: string;
  readonly next: string;
  readonly receipt: Receipt;
  readonly action: string;
  readonly effect: string;
};

export type Answer<Result> =
  | DoneAnswer<Result>
  | PendingAnswer
  | FailedAnswer
  | RefusedAnswer
  | InDoubtAnswer;

export function pendingApproval(action: string, approval: string): PendingAnswer {
  const why = refusal("pending", "approval", "a person has to decide first");
  return { status: "pending", waitingFor: "approval", ...why, action, approval };
}

export function obstacleKind({ code }: Refusal): "budget" | "kill_switch" {
  return code === "over_budget" ? "budget" : "kill_switch";
}

/** The kill switch or a budget holds it. */
export function heldAnswer(action: string, why: Refusal): PendingAnswer {
  return { status: "pending", waitingFor: obstacleKind(why), ...why, action, approval: null };
}

const asReceipt = (receipt: JsonObject) => receipt as unknown as Receipt;

/** The answer shares what `settled` holds, but for the result. */
async function translate(place: TenantStore, settled: SettledAnswer): Promise<Answer<Json>> {
  if (settled.executed === true) {
    const { executed: _, receipt, ...rest } = settled;
    const result = copyJson(await loadValue(place, rest.result));
    return { status: "done", ...rest, result, receipt: asReceipt(receipt) };
  }
  if (settled.executed === "in_doubt") {
    const { executed: _, receipt, ...rest } = settled;
    return { status: "in_doubt", ...rest, receipt: asReceipt(receipt) };
  }
  const { executed: _, ...rest } = settled;
  return { status: rest.code === "not_applied" ? "failed" : "refused", ...rest };
}

/** A copy of a recorded answer, with the result that may be stored apart. */
export function loadAnswer(place: TenantStore, settled: SettledAnswer): Promise<Answer<Json>> {
  return translate(place, copyJson(settled) as unknown as SettledAnswer);
}

/** The permanent answer of an action that has ended. undefined while it has none. */
export async function buildAnswer(
  place: TenantStore,
  action: string,
  state: LiveAction,
): Promise<Answer<Json> | undefined> {
  const settled = settledAnswer(place.tenant, action, state);
  return settled === undefined ? undefined : translate(place, settled);
}

/** The same answer in the words of the journal. */
export function toSettledAnswer(answer: Exclude<Answer<Json>, PendingAnswer>): SettledAnswer {
  if (answer.status === "done") {
    const { status: _, receipt, ...rest } = answer;
    return { executed: true, ...rest, receipt: receipt as unknown as JsonObject };
  }
  if (answer.status === "in_doubt") {
    const { status: _, receipt, ...rest } = answer;
    return { executed: "in_doubt", ...rest, receipt: receipt as unknown as JsonObject };
  }
  const { status: _, ...rest } = answer;
  return { executed: false, ...rest };
}

/** Thrown by `run`: nothing ran yet. Calling again with the same request id waits for it. */
export class Pending extends HoldpointError {
  readonly answer: PendingAnswer;
  constructor(answer: PendingAnswer) {
    super("call_pending", `The call waits: ${answer.reason}.`, { next: answer.next, details: answer });
    this.answer = answer;
  }
}

/** Thrown by `run`: the effect started and was proven not applied. */
export class Failed extends HoldpointError {
  readonly answer: FailedAnswer;
  constructor(answer: FailedAnswer) {
    super("call_failed", `The call failed: ${answer.reason}.`, { next: answer.next, details: answer });
    this.answer = answer;
  }
}

/** Thrown by `run`: nothing ran, and nothing will under this request id. */
export class Refused extends HoldpointError {
  readonly answer: RefusedAnswer;
  constructor(answer: RefusedAnswer) {
    const what = `The call was refused by ${answer.by} (${answer.code}): ${answer.reason}.`;
    super("call_refused", what, { next: answer.next, details: answer });
    this.answer = answer;
  }
}

/** Thrown by `run`: the effect may or may not have been applied, or it was and its result is unknown. */
export class InDoubt extends HoldpointError {
  readonly answer: InDoubtAnswer | DoneAnswer<unknown>;
  constructor(answer: InDoubtAnswer | DoneAnswer<unknown>) {
    const isApplied = answer.status === "done";
    const what = isApplied
      ? `The effect of ${answer.action} was applied, and its result is unknown: ${answer.receipt.by} resolved it.`
      : `It is not known whether the effect ${answer.effect} was applied: ${answer.reason}.`;
    const texts = isApplied
      ? {
          data: "The outcome is recorded.",
          next: "Do not call it again; look the result up at the receiver.",
        }
      : { next: answer.next };
    super("call_in_doubt", what, { ...texts, details: answer });
    this.answer = answer;
  }
}

/** The result of a call, or the error of its status. */
export function unwrapAnswer<Result>(answer: Answer<Result>): Result {
  switch (answer.status) {
    case "done":
      // A person resolved a doubt as applied: nobody knows the return value.
      if (answer.receipt.resultDigest === null) throw new InDoubt(answer);
      return answer.result;
    case "pending":
      throw new Pending(answer);
    case "failed":
      throw new Failed(answer);
    case "refused":
      throw new Refused(answer);
    case "in_doubt":
      throw new InDoubt(answer);
  }
}
