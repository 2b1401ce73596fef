import assert from "node:assert/strict";
import { test } from "node:test";
import type { BacktestReport, VerdictChange } from "./rules/report.ts";
import { trialReport } from "./trial-report.ts";

const change = (action: string, more: Partial<VerdictChange> = {}): VerdictChange => ({
  ...{ action, tool: "pay", agent: "agent:a", at: 1, workflow: null },
  from: { verdict: "escalate", rule: "asked", reason: "", revised: false, policy: "p" },
  to: { verdict: "approve", rule: "default", reason: "no rule", revised: true },
  ...{ person: null, edit: null, costs: null, amount: null },
  ...more,
});

const report = (more: Partial<BacktestReport>): BacktestReport => ({
  ...{ policy: { name: "p", digest: "d" }, since: null },
  ...{ actions: 10, compared: 8, changed: 3, limited: 0, byCode: 0 },
  ...{ transitions: [], people: [], dangers: [], changes: [], leftOff: { dangers: 0, changes: 0 } },
  missing: { erased: 1, gone: 1, unreviewed: 0, partHistory: 0, beside: 0, decisions: 0 },
  ...more,
});

test("what people rejected or changed comes first, and nothing is listed twice", () => {
  const person = { decision: "edited", by: ["person:ann"], reason: "" } as const;
  const danger = change("act_2", { person });
  const { listed, dangers } = trialReport(
    report({
      ...{ dangers: [danger], changes: [change("act_1"), danger, change("act_3")] },
      leftOff: { dangers: 4, changes: 0 },
    }),
    undefined,
  );
  assert.deepEqual(
    listed.map(({ action, from, to, people }) => [action, from, to, people]),
    [
      ["act_2", "escalate", "approve, revised", "edited"],
      ["act_1", "escalate", "approve, revised", null],
      ["act_3", "escalate", "approve, revised", null],
    ],
  );
  assert.equal(dangers, 5);
});

test("what is the same, what changed and what nobody could judge are all of the actions", () => {
  const { actions, same, changed, unknown } = trialReport(report({}), undefined);
  assert.deepEqual([same, changed, unknown], [5, 3, 2]);
  assert.equal(same + changed + unknown, actions);
});

test("sums say what is known, and of how many it is not", () => {
  const row = {
    ...{ from: "escalate", to: "approve", count: 3, withoutCost: 1 },
    money: [{ currency: "USD", micros: "12500000" }],
    amount: { micros: "20000000", count: 1 },
  };
  const { changes } = trialReport(report({ transitions: [row] }), "total");
  assert.deepEqual(changes[0]?.sums, [
    "12.5 USD",
    "total 20 in 1 action",
    "1 not started, so no cost of theirs is recorded",
  ]);
});
