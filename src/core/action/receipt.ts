/** The record of an effect's outcome: fixed when the outcome is, signed when somebody asks for it. */
import type { JsonObject } from "../../kernel/json.ts";
import type { ActionIn } from "./state.ts";

export type Receipt = {
  readonly v: 1;
  readonly tenant: string;
  readonly action: string;
  readonly requestId: string | null;
  readonly effect: string;
  readonly attempt: number;
  readonly tool: string;
  readonly effectClass: string;
  readonly argsHash: string;
  readonly argsDigest: string;
  readonly binding: string;
  /** The approval that was used up, or null when the policy allowed it by itself. */
  readonly approval: string | null;
  /** The standing grant of which this was a use; absent where there was none. */
  readonly grant?: string;
  /** Who agreed to it, or granted it before it was asked for. */
  readonly approvedBy: readonly string[];
  readonly executedFrom: string;
  /** A person decided on this very action. */
  readonly humanApproved: boolean;
  readonly startedAt: number;
  readonly endedAt: number;
  readonly status: "applied" | "not_applied" | "in_doubt";
  readonly resultDigest: string | null;
  /** The epoch, probe or person whose word the status is. */
  readonly by: string;
  readonly reason: string;
  /** Where the outcome stands in the journal. */
  readonly stream: string;
  readonly seq: number;
};

export type EndedAction = ActionIn<"applied"> | ActionIn<"not_applied"> | ActionIn<"in_doubt">;

export function receiptOf(tenant: string, id: string, state: EndedAction): Receipt {
  const { effect, outcome } = state;
  const people = effect.grant.kind === "approval" ? effect.grant : null;
  const standing = effect.grant.kind === "standing" ? effect.grant : null;
  return {
    v: 1,
    tenant,
    action: id,
    requestId: state.requestId,
    effect: effect.id,
    attempt: effect.attempt,
    tool: state.tool,
    effectClass: state.effectClass,
    argsHash: state.argsDigest.slice(0, 12),
    argsDigest: state.argsDigest,
    binding: effect.binding,
    approval: people?.approval ?? null,
    ...(standing === null ? {} : { grant: standing.grant }),
    approvedBy: [...(people?.by ?? standing?.by ?? [])],
    executedFrom: state.from,
    humanApproved: people !== null,
    startedAt: effect.startedAt,
    endedAt: outcome.at,
    status: state.phase,
    resultDigest: outcome.resultDigest,
    by: outcome.by,
    reason: outcome.reason,
    stream: `action/${id}`,
    seq: outcome.seq,
  };
}

export function receiptPayload(receipt: Receipt, entry: string): JsonObject {
  return { ...receipt, entry };
}
