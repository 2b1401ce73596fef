/**
 * The record of an effect's outcome, fixed with the outcome and signed on request. Also the JSON answer that a caller
 * gets for an action that has ended; a large result is a reference in it.
 */

import type { Json, JsonObject } from "../../kernel/json.ts";
import { type Refusal, refusal } from "../../kernel/refusals.ts";
import type { ActionIn, Grant, LiveAction } from "../state.ts";

type EndedAction = ActionIn<"applied" | "not_applied" | "in_doubt">;

export function receiptOf(tenant: string, id: string, state: EndedAction) {
  const { effect, outcome } = state;
  const people = effect.grant.kind === "approval" ? effect.grant : null;
  const standing = effect.grant.kind === "standing" ? effect.grant : null;
  const used: { grant?: string | undefined } = standing === null ? {} : { grant: standing.grant };
  return {
    v: 1 as const,
    tenant,
    action: id,
    requestId: state.requestId,
    effect: effect.id,
    attempt: effect.attempt,
    tool: state.tool,
    effectClass: state.effectClass as string,
    argsHash: state.argsDigest.slice(0, 12),
    argsDigest: state.argsDigest,
    binding: effect.binding,
    /** The approval that was consumed. null: a policy verdict or a standing grant permitted it. */
    approval: people?.approval ?? null,
    /** The standing grant that was used; absent if there was none. */
    ...used,
    /** People who approved it, or who gave the standing grant. */
    approvedBy: [...(people?.by ?? standing?.by ?? [])] as readonly string[],
    executedFrom: state.from as string,
    /** A person decided on this very action. */
    humanApproved: people !== null,
    startedAt: effect.startedAt,
    endedAt: outcome.at,
    status: state.phase,
    resultDigest: outcome.resultDigest,
    /** The epoch, probe or person that reported the status. */
    by: outcome.by,
    reason: outcome.reason,
    /** Position of the outcome in the journal. */
    stream: `action/${id}`,
    seq: outcome.seq,
  };
}
export type Receipt = Readonly<ReturnType<typeof receiptOf>>;

const asJson = (receipt: Receipt): JsonObject => receipt as unknown as JsonObject;

export function receiptPayload(receipt: Receipt, entry: string): JsonObject {
  return { ...asJson(receipt), entry };
}

export type SettledAnswer =
  | {
      readonly executed: true;
      readonly result: Json;
      readonly receipt: JsonObject;
      readonly action: string;
      readonly notes?: readonly string[];
    }
  | (Refusal & { readonly executed: false; readonly action: string; readonly approval: string | null })
  | {
      readonly executed: "in_doubt";
      readonly reason: string;
      readonly next: string;
      readonly receipt: JsonObject;
      readonly action: string;
      readonly effect: string;
    };

/** Notes of the people who approved it, for the caller. Empty if they left none. */
function grantNotes({ grant }: { readonly grant: Grant }): { readonly notes?: readonly string[] } {
  return grant.kind === "approval" && grant.notes.length > 0 ? { notes: [...grant.notes] } : {};
}

function refusedAnswer(action: string, why: Refusal, approval: string | null = null): SettledAnswer {
  return { executed: false, ...why, action, approval };
}

/** The permanent answer of an action that has ended. undefined while it has none. */
export function settledAnswer(tenant: string, action: string, state: LiveAction): SettledAnswer | undefined {
  switch (state.phase) {
    case "applied":
      return {
        executed: true,
        result: state.outcome.result,
        receipt: asJson(receiptOf(tenant, action, state)),
        action,
        ...grantNotes(state.effect),
      };
    case "not_applied": {
      const { grant } = state.effect;
      const why = refusal("not_applied", `tool ${state.tool}`, state.outcome.reason);
      return refusedAnswer(action, why, grant.kind === "approval" ? grant.approval : null);
    }
    case "refused":
      return refusedAnswer(action, state.refusal, state.approval);
    case "in_doubt": {
      const { id: effect } = state.effect;
      const { reason } = state.outcome;
      const next = `Find out what happened, then: holdpoint resolve ${effect} applied|not_applied --reason "…"`;
      const receipt = asJson(receiptOf(tenant, action, state));
      return { executed: "in_doubt", reason, next, receipt, action, effect };
    }
    default:
      return undefined;
  }
}
