/** The checker of fleets finds every kind of fault that is planted into a sound history, and none in a sound one. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { checkHistory } from "./storm/check.ts";
import { FAULTS, type FaultKind } from "./storm/history.ts";
import { action, approvalOf, received, soundHistory, TRIP, workflowOf } from "./storm/sample.ts";
import { BUDGET } from "./storm/tools.ts";

type Spoilt = ReturnType<typeof soundHistory>;
type Plant = { readonly name: string; readonly finds: FaultKind; spoil(history: Spoilt): void };

const set = ({ journal }: Spoilt, ...[id, shape]: Parameters<typeof action>) =>
  journal.actions.set(...action(id, shape));
const answered = { kind: "call", tool: "once.pay", n: 1, at: 0, status: null } as const;

const PLANTS: readonly Plant[] = [
  {
    name: "an acknowledged call that is not there",
    finds: "lost",
    spoil: ({ told }) =>
      told.push({ ...answered, requestId: "gone", said: "yes", answer: "done", action: "act_9" }),
  },
  {
    name: "an acknowledged outcome that became another",
    finds: "lost",
    spoil: (history) => set(history, "act_1", { tool: "once.pay", phase: "not_applied" }),
  },
  {
    name: "a report that was acknowledged and is not there",
    finds: "lost",
    spoil: ({ told }) =>
      told.push({ kind: "report", action: "act_8", status: "applied", said: "yes", at: 0 }),
  },
  {
    name: "a workflow that was acknowledged as completed and is not",
    finds: "lost",
    spoil: ({ journal }) => journal.workflows.set("wf_1", workflowOf("failed")),
  },
  {
    name: "a vote that was acknowledged and does not count",
    finds: "lost",
    spoil: ({ journal }) =>
      journal.approvals.set("apr_1", approvalOf("consumed", [["person:cid", "approve"]])),
  },
  {
    name: "a call that was refused and is there",
    finds: "denied",
    spoil: ({ told }) =>
      told.push({ ...answered, requestId: "act_2", said: "no", answer: "invalid_input", action: null }),
  },
  {
    name: "a vote that was refused and counts",
    finds: "denied",
    spoil: ({ journal }) => {
      const votes = [["person:ann", "approve"] as const, ["person:bob", "reject"] as const];
      journal.approvals.set("apr_1", approvalOf("consumed", votes));
    },
  },
  {
    name: "a reader that saw less than had been acknowledged",
    finds: "stale read",
    spoil: ({ told }) =>
      told.push({ kind: "read", of: "action", id: "act_1", known: "applied", status: "running", at: 0 }),
  },
  {
    name: "an approval that was decided twice",
    finds: "two winners",
    spoil: ({ journal }) => journal.decisions.set("apr_1", ["approval.approved", "approval.rejected"]),
  },
  {
    name: "two approvers who were told of different winners",
    finds: "two winners",
    spoil: ({ told }) =>
      told.push({
        ...{ kind: "vote", approval: "apr_1", by: "person:cid", decision: "reject", said: "no", at: 0 },
        status: "rejected",
      }),
  },
  {
    name: "a budget that held more than its limit for a moment",
    finds: "over budget",
    spoil: ({ journal }) => journal.overruns.push(`${BUDGET} held 11 at entry 7`),
  },
  {
    name: "money that nobody spent",
    finds: "ledger",
    spoil: ({ journal }) => {
      const budget = journal.budgets.get(BUDGET);
      if (budget !== undefined) journal.budgets.set(BUDGET, { ...budget, spent: budget.spent + 1n });
    },
  },
  {
    name: "money of an effect in doubt that is not kept",
    finds: "ledger",
    spoil: (history) => set(history, "act_2", { tool: "bank.draw", phase: "in_doubt" }),
  },
  {
    name: "an effect that happened twice",
    finds: "doubled",
    spoil: ({ received: lines }) => lines.push(received("eff_1", "once.pay")),
  },
  {
    name: "something that happened and is called not applied",
    finds: "unexplained",
    spoil: (history) => {
      history.told.length = 0;
      set(history, "act_1", { tool: "once.pay", phase: "not_applied" });
    },
  },
  {
    name: "something that happened and nobody had started",
    finds: "unexplained",
    spoil: ({ received: lines }) => lines.push(received("eff_7", "once.pay")),
  },
  {
    name: "something that happened with other bytes",
    finds: "unexplained",
    spoil: (history) => set(history, "act_1", { tool: "once.pay", args: { n: 2 } }),
  },
  {
    name: "something that is called applied and never happened",
    finds: "phantom",
    spoil: ({ received: lines }) => lines.splice(0, 1),
  },
  {
    name: "a compensation that happened twice",
    finds: "compensation",
    spoil: (history) => {
      const args = { args: { n: 1 }, result: "r5" };
      set(history, "act_more", { tool: "trip.pay.undo", args, requestId: null, workflow: "wf_1" });
      history.received.push(received("eff_more", "trip.pay.undo", args));
    },
  },
  {
    name: "compensations in the order of the calls",
    finds: "compensation",
    spoil: ({ journal }) => {
      const [book, pay, a, b, c, d, end] = TRIP;
      journal.histories.set(
        "wf_1",
        [book, pay, c, d, a, b, end].flatMap((one) => one ?? []),
      );
    },
  },
  {
    name: "a compensation of what had not happened",
    finds: "compensation",
    spoil: (history) => {
      set(history, "act_pay", { tool: "trip.pay", phase: "not_applied", requestId: null, workflow: "wf_1" });
      history.received.splice(4, 1);
    },
  },
  {
    name: "a rollback that says nothing of something applied",
    finds: "compensation",
    spoil: ({ journal }) =>
      journal.histories.set("wf_1", [
        ...TRIP.slice(0, 4),
        { type: "rollback.ended", body: { undone: ["act_pay"], notUndone: [], irreversible: [] } },
      ]),
  },
  {
    name: "an effect that runs for ever",
    finds: "stuck",
    spoil: (history) => set(history, "act_x", { tool: "once.pay", phase: "running", requestId: null }),
  },
  {
    name: "a workflow that nobody goes on with",
    finds: "stuck",
    spoil: ({ journal }) => journal.workflows.set("wf_2", workflowOf("executing", false)),
  },
];

describe("the checker of fleets", () => {
  test("finds nothing wrong with a sound history", () => {
    assert.deepEqual(checkHistory(soundHistory()), []);
  });
  for (const { name, finds, spoil } of PLANTS)
    test(`finds ${name}`, () => {
      const history = soundHistory();
      spoil(history);
      const kinds = checkHistory(history).map(({ kind }) => kind);
      assert.ok(kinds.includes(finds), `found ${kinds.join() || "nothing"}`);
    });
  test("has a planted fault of every kind", () => {
    assert.deepEqual(new Set(PLANTS.map(({ finds }) => finds)), new Set(FAULTS));
  });
});
