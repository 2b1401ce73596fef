/** A small sound history of everything that a run has, to be spoilt by tests. */

import type { ApprovalState } from "../../../src/approvals/state.ts";
import type { ActionState } from "../../../src/effects/state.ts";
import { canonicalJson } from "../../../src/kernel/canonical-json.ts";
import type { Json } from "../../../src/kernel/json.ts";
import type { WorkflowState } from "../../../src/workflows/state.ts";
import type { Received } from "../../crash/effects.ts";
import type { History } from "./history.ts";
import type { Line } from "./told.ts";
import { BUDGET, RESERVED, SPENT } from "./tools.ts";
import { emptyJournal, type Journal } from "./watch.ts";

type Shape = {
  readonly tool: string;
  readonly args?: Json;
  readonly phase?: string;
  readonly requestId?: string | null;
  readonly workflow?: string;
  readonly by?: string;
};

/** Only what checkers look at. */
export function action(id: string, shape: Shape): readonly [string, ActionState] {
  const { tool, args = { n: 1 }, phase = "applied", requestId = id, workflow, by = "epo_1" } = shape;
  const costs = tool === "bank.draw" ? [{ budget: BUDGET, micros: String(RESERVED), currency: "USD" }] : [];
  const effect = { id: id.replace("act_", "eff_"), attempt: 1, costs, epoch: "epo_1" };
  const within = workflow === undefined ? {} : { within: { workflow, op: "op" } };
  const state = {
    ...{ tool, args, phase, requestId, ...within, agent: "agent:client", effectClass: "once", held: null },
    ...{ effect, outcome: { by }, approval: "apr_1" },
  };
  return [id, state as unknown as ActionState];
}

export function received(key: string, tool: string, args: Json = { n: 1 }): Received {
  return { at: 0, mode: "ignores", tool, key, args: canonicalJson(args), outcome: "applied" };
}

export const approvalOf = (status: string, votes: readonly (readonly [string, string])[]): ApprovalState =>
  ({
    status,
    approvers: { quorum: 1 },
    votes: votes.map(([by, decision]) => ({ by, decision })),
  }) as unknown as ApprovalState;

export const workflowOf = (status: string, isOver = true): WorkflowState =>
  ({ status, end: isOver ? { status } : null }) as unknown as WorkflowState;

const made = (id: string) => ({ type: "call.made", body: { action: id } });
const undo = (id: string, undoes: string) => [
  { type: "compensation.made", body: { action: id, undoes } },
  { type: "compensation.settled", body: { action: id, undoes, status: "undone" } },
];

export const TRIP = [
  made("act_book"),
  made("act_pay"),
  ...undo("act_unpay", "act_pay"),
  ...undo("act_unbook", "act_book"),
  { type: "rollback.ended", body: { undone: ["act_pay", "act_book"], notUndone: [], irreversible: [] } },
];

const told = { said: "yes", at: 0 } as const;

function journalOf(): Journal {
  const journal = emptyJournal();
  const trip = { workflow: "wf_1", requestId: null };
  const states = [
    action("act_1", { tool: "once.pay" }),
    action("act_2", { tool: "bank.draw" }),
    action("act_3", { tool: "asked.wire" }),
    action("act_book", { ...trip, tool: "trip.book" }),
    action("act_pay", { ...trip, tool: "trip.pay" }),
    action("act_unpay", { ...trip, tool: "trip.pay.undo", args: { args: { n: 1 }, result: "r5" } }),
    action("act_unbook", { ...trip, tool: "trip.book.undo", args: { args: { n: 1 }, result: "r4" } }),
  ];
  for (const [id, state] of states) journal.actions.set(id, state);
  journal.approvals.set("apr_1", approvalOf("consumed", [["person:ann", "approve"]]));
  journal.decisions.set("apr_1", ["approval.approved"]);
  journal.workflows.set("wf_1", workflowOf("completed"));
  journal.histories.set("wf_1", [...TRIP]);
  const limit = { currency: "USD", micros: 10_000_000n };
  const reservations = new Map<string, bigint>();
  journal.budgets.set(BUDGET, { limit, spent: SPENT, reserved: 0n, overrun: 0n, reservations });
  return journal;
}

const call = (requestId: string, tool: string): Line => ({
  ...told,
  ...{ kind: "call", requestId, tool, n: 1, answer: "done", action: requestId, status: "applied" },
});

export function soundHistory(): History & { readonly told: Line[]; readonly received: Received[] } {
  return {
    journal: journalOf(),
    told: [
      call("act_1", "once.pay"),
      call("act_2", "bank.draw"),
      call("act_3", "asked.wire"),
      { ...told, kind: "vote", approval: "apr_1", by: "person:ann", decision: "approve", status: "approved" },
      {
        ...{ kind: "vote", approval: "apr_1", by: "person:bob", decision: "reject", status: "approved" },
        ...{ said: "no", at: 0 },
      },
      { ...told, kind: "workflow", step: "complete", requestId: "w", workflow: "wf_1" },
      { kind: "read", of: "action", id: "act_1", known: "applied", status: "applied", at: 0 },
    ],
    received: [
      received("eff_1", "once.pay"),
      received("eff_2", "bank.draw"),
      received("eff_3", "asked.wire"),
      received("eff_book", "trip.book"),
      received("eff_pay", "trip.pay"),
      received("eff_unpay", "trip.pay.undo", { args: { n: 1 }, result: "r5" }),
      received("eff_unbook", "trip.book.undo", { args: { n: 1 }, result: "r4" }),
    ],
  };
}
