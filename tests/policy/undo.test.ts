/** What a document says of taking something back. */
import assert from "node:assert/strict";
import { describe, type TestContext, test } from "node:test";
import { z } from "zod";
import { admin } from "../../src/admin.ts";
import type { Holdpoint } from "../../src/index.ts";
import { explain } from "../../src/policy/backtest/rules/explain.ts";
import { runCase } from "../../src/policy/rules/cases.ts";
import { compilePolicy } from "../../src/policy/rules/compile.ts";
import type { PolicyDocument, PolicyText } from "../../src/policy/rules/document.ts";
import { pendingApproval, temporaryFolder } from "../fixtures/folder.ts";

const ANN = { by: "person:ann" };
type Rules = NonNullable<PolicyText["rules"]>;
type Risk = NonNullable<PolicyText["risk"]>;

const document = (more: Partial<PolicyText>): PolicyText => ({ policy: "p", default: "approve", ...more });

async function paid(hp: Holdpoint) {
  const done: string[] = [];
  const pay = hp.gate({
    name: "pay",
    policy: "approve",
    input: z.object({ amount: z.number() }),
    run: () => void done.push("paid"),
    undo: () => void done.push("back"),
  });
  const flow = hp.workflow("flow", { checkpoints: [{ name: "Look" }] }, async (ctx, _: object) => {
    await ctx.call(pay, { amount: 5 });
    await ctx.checkpoint("Look", {});
  });
  const { id, result } = await flow.start({});
  const look = await pendingApproval(hp);
  return { id, result, done, look };
}

/** How the rollback ended: what was done, and why something was not. */
async function takenBack(context: TestContext, policy: PolicyText) {
  const hp = temporaryFolder(context).open({ policy });
  const { id, result, done } = await paid(hp);
  await hp.workflows.rollback(id, { ...ANN, reason: "no", after: "fail" });
  const ended = await result();
  assert.ok(ended.status === "failed");
  return { hp, done, why: ended.report?.notUndone.map(({ reason }) => reason) ?? [] };
}

const BIG = { id: "big", when: "args.amount > 100", verdict: "block", reason: "too much" } as const;

const LEFT_ALONE: readonly (readonly [string, Partial<PolicyText>])[] = [
  ["a rule without tool that asks for the call's arguments", { rules: [BIG] }],
  ["a rule for a pattern that means the call too", { rules: [{ ...BIG, tool: "pay*" }] }],
  ["a rule that holds only for the lack of them", { rules: [{ ...BIG, when: "!has(args.amount)" }] }],
  ["a rule that cannot be answered", { rules: [{ ...BIG, when: 'args["amount"] > 100' }] }],
  [
    "a rule that would set them",
    { rules: [{ id: "cap", verdict: "revise", set: { amount: 5 }, reason: "cap" }] },
  ],
  [
    "a function that throws",
    { rules: [{ ...BIG, when: ({ args }) => (args as { amount: number }).amount.toFixed(0) === "100" }] },
  ],
  [
    "a condition of risk without tool",
    {
      risk: {
        conditions: [{ id: "big", when: "args.amount > 100", weight: 40 }],
        routes: { low: "approve" },
      },
    },
  ],
  [
    "a route for the level of whatever has no risk",
    {
      risk: {
        conditions: [{ id: "known", tool: "pay", when: "true", weight: -40 }],
        levels: { medium: -30, high: -20, critical: -10 },
        routes: { critical: "block" },
      } as Risk,
    },
  ],
];

describe("a compensation is left alone by", () => {
  for (const [what, more] of LEFT_ALONE)
    test(what, async (context) => {
      const { done, why } = await takenBack(context, document(more));
      assert.deepEqual(why, []);
      assert.deepEqual(done, ["paid", "back"]);
    });
});

const BLOCKED: readonly (readonly [string, Rules])[] = [
  ["names it", [{ ...BIG, tool: "pay.undo", when: "args.args.amount < 100" }]],
  ["means compensations", [{ ...BIG, tool: "*.undo", when: "true" }]],
  ["names it and cannot be answered", [{ ...BIG, tool: "pay.undo" }]],
  [
    "holds of everything, whatever its arguments",
    [{ ...BIG, when: 'history.exists(one, one.tool == "pay")' }],
  ],
];

describe("a compensation is blocked by a rule that", () => {
  for (const [what, rules] of BLOCKED)
    test(what, async (context) => {
      const { done, why } = await takenBack(context, document({ rules }));
      assert.equal(why.length, 1);
      assert.deepEqual(done, ["paid"]);
    });
});

describe("a back-test", () => {
  const ASKS = document({
    default: "block",
    rules: [
      { id: "pay", tool: "pay", verdict: "approve" },
      { id: "u", tool: "pay.undo", verdict: "escalate" },
    ],
  });
  const ASKS_NOT = { ...ASKS, rules: ASKS.rules?.slice(0, 1) ?? [] };

  test("shows that a policy stops asking about compensations, and does not say that it blocks the edit of one", async (context) => {
    const hp = temporaryFolder(context).open({ policy: ASKS });
    const { id, result, look } = await paid(hp);
    await hp.workflows.rollback(id, { ...ANN, reason: "no", after: "fail" });
    let undo = look;
    while (undo === look) undo = await pendingApproval(hp);
    await hp.approvals.approve(undo, { ...ANN, edit: { args: { amount: 4 }, result: null } });
    await result();
    const { changes, people } = await admin(hp).policies.backtest(ASKS_NOT);
    assert.deepEqual(
      changes.map(({ tool, from, to }) => [tool, from.verdict, from.rule, to.verdict, to.rule]),
      [["pay.undo", "escalate", "u", "approve", "undo:not_named"]],
    );
    assert.partialDeepStrictEqual(people, [{ decision: "edited", total: 1, approve: 1, editBlocked: 0 }]);
    assert.deepEqual((await admin(hp).policies.backtest(ASKS)).changes, []);
  });
});

test("a case and an explanation say of a compensation what would come of it", () => {
  const text = document({
    default: "block",
    rules: [BIG, { ...BIG, id: "u", tool: "pay.undo", when: "false" }],
  });
  const made = compilePolicy(text, null);
  assert.ok(made.ok);
  const when = { tool: "pay.undo", args: { args: { amount: 500 }, result: null } };
  const then = { verdict: "approve", rule: "undo:not_named" } as const;
  assert.deepEqual(runCase(made.policy, { name: "undo", when, then }, null).differences, []);
  const facts = { effectClass: "once", agent: "agent:a", requester: [], requestId: null, workflow: null };
  const input = { ...when, ...facts, history: [], now: 0 };
  const told = { input, asked: "undo" } as const;
  const { review, rounds } = explain(text as PolicyDocument, made.policy, told, (value) => ({
    ok: true,
    value,
  }));
  assert.equal(review.verdict, "approve");
  assert.deepEqual(
    rounds[0]?.rules.map(({ outcome }) => outcome),
    ["speaks of other tools", "does not match"],
  );
});
