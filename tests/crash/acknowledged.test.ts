import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { lostOf, type States } from "./acknowledged.ts";
import type { Told } from "./told.ts";

type Parts = { readonly action?: object; readonly approval?: object; readonly limit?: bigint };

function states({ action, approval, limit }: Parts): States {
  return {
    actions: new Map(action === undefined ? [] : [["act_1", action]]),
    approvals: new Map(approval === undefined ? [] : [["apr_1", approval]]),
    budgets: new Map(limit === undefined ? [] : [["shared", { limit: { currency: "USD", micros: limit } }]]),
  } as unknown as States;
}

const call: Told = {
  kind: "call",
  requestId: "r1",
  action: "act_1",
  status: "done",
  code: null,
  seq: 3,
};
const applied = { phase: "applied", requestId: "r1", outcome: { seq: 3 } };
const decision: Told = { kind: "decision", approval: "apr_1", status: "approved", by: "person:ann" };
const consumed = { status: "consumed", votes: [{ by: "person:ann" }], edit: null, editRefused: null };

describe("what was acknowledged", () => {
  test("is there", () => {
    const told: readonly Told[] = [call, decision, { kind: "budget", budget: "shared", micros: "5" }];
    assert.deepEqual(lostOf(told, states({ action: applied, approval: consumed, limit: 7n })), []);
  });

  test("is missed when the action has gone", () => {
    assert.deepEqual(lostOf([call], states({})), ["r1 was answered done and act_1 is none"]);
  });

  for (const phase of ["running", "in_doubt", "not_applied"])
    test(`is missed when what was answered as done is ${phase}`, () => {
      const found = lostOf([call], states({ action: { ...applied, phase } }));
      assert.deepEqual(found, [`r1 was answered done and act_1 is ${phase}`]);
    });

  test("is missed when the receipt is another one", () => {
    const found = lostOf([call], states({ action: { ...applied, outcome: { seq: 5 } } }));
    assert.deepEqual(found, ["r1 was answered with the receipt at 3 and it stands at 5"]);
  });

  test("is missed when the action is another request's", () => {
    const found = lostOf([call], states({ action: { ...applied, requestId: "r2" } }));
    assert.deepEqual(found, ["r1 was answered with act_1, which is another's"]);
  });

  test("may move on from doubt, and from nothing that was refused for good", () => {
    const doubt: Told = { ...call, status: "in_doubt" };
    assert.deepEqual(lostOf([doubt], states({ action: applied })), []);
    const rejected: Told = { ...call, status: "refused", code: "rejected", seq: null };
    assert.deepEqual(lostOf([rejected], states({ action: applied })), [
      "r1 was answered rejected and act_1 is applied",
    ]);
  });

  test("is missed when a decision is undone or its vote has gone", () => {
    const pending = { ...consumed, status: "pending" };
    assert.deepEqual(lostOf([decision], states({ approval: pending })), [
      "apr_1 was acknowledged as approved and is pending",
    ]);
    assert.deepEqual(lostOf([decision], states({ approval: { ...consumed, votes: [] } })), [
      "apr_1 has lost the decision of person:ann",
    ]);
    assert.deepEqual(lostOf([decision], states({})), ["apr_1 was acknowledged as approved and is none"]);
  });

  test("is missed when a budget has an older limit", () => {
    const told: Told = { kind: "budget", budget: "shared", micros: "9" };
    assert.deepEqual(lostOf([told], states({ limit: 7n })), ["the limit 9 of shared was set and is 7"]);
  });
});
