/** What a gated call answers. Only misuse and store failures throw. */
import { type Receipt, receiptOf } from "../core/action/receipt.ts";
import { notesIn } from "../core/action/settled-answer.ts";
import { effectOf } from "../core/action/start.ts";
import type { LiveAction } from "../core/action/state.ts";
import { copyJson } from "../kernel/canonical-json.ts";
import type { Json } from "../kernel/json.ts";
import { type Refusal, refusal } from "../kernel/refusals.ts";
import type { Runtime } from "../runtime/runtime.ts";
import { loadValue } from "../runtime/store-access.ts";

export type Executed<Result> = {
  readonly executed: true;
  /** What the tool returned; null when it returned nothing, or when a person ended a doubt and it is not known. */
  readonly result: Result | null;
  readonly receipt: Receipt;
  readonly action: string;
  /** What the people who approved it noted; only where they did. */
  readonly notes?: readonly string[];
};

export type NotExecuted = Refusal & {
  readonly executed: false;
  readonly action: string;
  readonly approval: string | null;
};

/** It may or may not have happened. Nobody will try again until a person or a probe has said which. */
export type InDoubt = {
  readonly executed: "in_doubt";
  readonly reason: string;
  readonly next: string;
  readonly receipt: Receipt;
  readonly action: string;
  readonly effect: string;
};

export type Answer<Result> = Executed<Result> | NotExecuted | InDoubt;

export function refused(action: string, why: Refusal, approval: string | null = null): NotExecuted {
  return { executed: false, ...why, action, approval };
}

/** The answer that an ended action has for ever. */
export async function answerOf(
  place: Pick<Runtime, "store" | "tenant">,
  action: string,
  state: LiveAction,
): Promise<Answer<Json> | undefined> {
  switch (state.phase) {
    case "applied": {
      const receipt = receiptOf(place.tenant, action, state);
      const result = copyJson(await loadValue(place, state.outcome.result));
      return { executed: true, result, receipt, action, ...notesIn(state.effect) };
    }
    case "not_applied":
      return refused(
        action,
        refusal("not_applied", `tool ${state.tool}`, state.outcome.reason),
        state.effect.grant.kind === "approval" ? state.effect.grant.approval : null,
      );
    case "refused":
      return refused(action, state.refusal, state.approval);
    case "in_doubt": {
      const effect = effectOf(action);
      const next = `Find out what happened, then: holdpoint resolve ${effect} applied|not_applied --reason "…"`;
      return {
        executed: "in_doubt",
        reason: state.outcome.reason,
        next,
        receipt: receiptOf(place.tenant, action, state),
        action,
        effect,
      };
    }
    default:
      return undefined;
  }
}
