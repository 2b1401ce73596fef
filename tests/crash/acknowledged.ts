/** Whether everything that a process was told is true of the journal's states. */

import type { ApprovalState } from "../../src/approvals/state.ts";
import type { BudgetStreamState } from "../../src/budgets/stream.ts";
import type { ActionState } from "../../src/effects/state.ts";
import type { Action, Approval } from "../../src/index.ts";
import type { Told } from "./told.ts";

/** The journal, folded. */
export type States = {
  readonly actions: ReadonlyMap<string, ActionState | Action>;
  readonly approvals: ReadonlyMap<string, ApprovalState | Approval>;
  readonly budgets: ReadonlyMap<string, Pick<BudgetStreamState, "limit" | "spent" | "reserved">>;
};

/** What each answer may still become. A doubt is ended by a probe or a person; everything else stays. */
const ENDED: Readonly<Record<string, readonly string[]>> = {
  done: ["applied"],
  in_doubt: ["in_doubt", "applied", "not_applied"],
  not_applied: ["not_applied"],
  pending: ["waiting", "open", "running", "applied", "not_applied", "in_doubt", "refused"],
  over_budget: ["waiting", "open", "running", "applied", "not_applied", "in_doubt", "refused"],
};

function callLost(told: Extract<Told, { kind: "call" }>, { actions }: States): string | undefined {
  const { requestId, action, status, code, seq } = told;
  const state = actions.get(action) ?? { phase: "none" };
  const said = code ?? status;
  const allowed = ENDED[said] ?? ["refused"];
  if (!allowed.includes(state.phase))
    return `${requestId} was answered ${said} and ${action} is ${state.phase}`;
  if (state.phase === "none" || state.requestId !== requestId)
    return `${requestId} was answered with ${action}, which is another's`;
  if (status === "done" && "outcome" in state && state.outcome?.seq !== seq)
    return `${requestId} was answered with the receipt at ${seq} and it stands at ${state.outcome?.seq}`;
  return undefined;
}

const DECIDED: Readonly<Record<string, readonly string[]>> = {
  approved: ["approved", "consumed", "lapsed"],
  modified: ["modified", "consumed", "lapsed"],
  rejected: ["rejected"],
};

function decisionLost(told: Extract<Told, { kind: "decision" }>, { approvals }: States): string | undefined {
  const { approval, status, by } = told;
  const state = approvals.get(approval) ?? { status: "none" };
  const allowed = DECIDED[status];
  if (state.status === "none" || (allowed !== undefined && !allowed.includes(state.status)))
    return `${approval} was acknowledged as ${status} and is ${state.status}`;
  const isKnown =
    state.votes.some((vote) => vote.by === by) || state.edit?.by === by || state.editRefused?.by === by;
  return isKnown ? undefined : `${approval} has lost the decision of ${by}`;
}

function budgetLost(told: Extract<Told, { kind: "budget" }>, { budgets }: States): string | undefined {
  const now = budgets.get(told.budget)?.limit?.micros ?? 0n;
  return now < BigInt(told.micros)
    ? `the limit ${told.micros} of ${told.budget} was set and is ${now}`
    : undefined;
}

/** Everything that was acknowledged and is not there, in words. A seal is for the verifier to look at. */
export function lostOf(told: readonly Told[], states: States): readonly string[] {
  const lost = (one: Told): string | undefined => {
    if (one.kind === "call") return callLost(one, states);
    if (one.kind === "decision") return decisionLost(one, states);
    return one.kind === "budget" ? budgetLost(one, states) : undefined;
  };
  return told.flatMap((one) => lost(one) ?? []);
}
