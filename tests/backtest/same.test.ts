/** A policy that is back-tested over what it decided itself says the same again. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { admin } from "../../src/admin.ts";
import { type Holdpoint, isHoldpointError, NotApplied } from "../../src/index.ts";
import type { PolicyText } from "../../src/policy/rules/document.ts";
import { randomOf } from "../../src/testing/store-contract/fixture.ts";
import { temporaryFolder } from "../fixtures/folder.ts";

const POLICY: PolicyText = {
  policy: "refunds",
  default: "block",
  limits: { tool_calls: 7 },
  tools: { issue_refund: { calls: 5, repeats: 2 }, look_up: { calls: 3 } },
  totals: {
    refunded: { tool: "issue_refund", sum: "args.amount_usd" },
    lookups: { tool: "look_up", when: "result.found == true", count: true },
  },
  risk: {
    conditions: [
      { id: "large", tool: "issue_refund", when: "args.amount_usd > 50", weight: 40 },
      { id: "blind", tool: "issue_refund", when: "totals.lookups == 0", weight: 30 },
    ],
    routes: { high: { verdict: "escalate", reason: "risky" } },
  },
  rules: [
    { id: "in_all", tool: "issue_refund", when: "totals.refunded + args.amount_usd > 150", verdict: "block" },
    {
      id: "capped",
      tool: "issue_refund",
      when: "args.amount_usd > 80",
      verdict: "revise",
      set: { amount_usd: 80 },
    },
    {
      id: "again",
      tool: "issue_refund",
      when: "history.exists(h, h.tool == 'issue_refund' && h.status == 'in_doubt')",
      verdict: "escalate",
    },
    { id: "refund", tool: "issue_refund", verdict: "approve" },
    { id: "look", tool: "look_up", verdict: "approve" },
  ],
};

type Args = { readonly amount_usd: number };

function define(hp: Holdpoint, draw: (most: number) => number) {
  const lookUp = hp.gate({ name: "look_up", effect: "read", run: () => ({ found: draw(2) === 0 }) });
  const refund = hp.gate({
    name: "issue_refund",
    run: (_: Args) => {
      const luck = draw(10);
      if (luck === 0) throw new Error("no answer");
      if (luck === 1) throw new NotApplied("it was refused");
      return { ok: true };
    },
  });
  return hp.workflow("orders", async (ctx, calls: readonly number[]) => {
    for (const amount of calls) {
      if (amount === 0) await ctx.call(lookUp, {});
      else if (amount % 7 === 0) await ctx.parallel([3, 5].map((more) => () => call(amount + more)));
      else await call(amount);
    }
    function call(amount_usd: number) {
      return ctx.call(refund, { amount_usd }, { continueInDoubt: true });
    }
  });
}

/** An edit that the policy forbids is refused, and the question stays. */
async function decide(hp: Holdpoint, id: string, draw: (most: number) => number): Promise<void> {
  const by = "person:ann";
  if (draw(2) === 0) await hp.approvals.reject(id, { by, reason: "no" });
  else if (draw(3) > 0) await hp.approvals.approve(id, { by });
  else
    await hp.approvals.approve(id, { by, edit: { amount_usd: 7 } }).catch((error: unknown) => {
      if (!isHoldpointError(error, "edit_refused")) throw error;
    });
}

/** People decide whatever is asked, one way or the other, until everything has ended. */
async function decideAll(
  hp: Holdpoint,
  draw: (most: number) => number,
  done: Promise<unknown>,
): Promise<void> {
  let isOver = false;
  const over = () => {
    isOver = true;
  };
  done.then(over, over);
  while (!isOver) {
    for (const { id, edit } of (await hp.approvals.list()).items)
      if (edit !== true) await decide(hp, id, draw);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  await done;
}

describe("a policy over what it decided itself", () => {
  for (const seed of [1, 2])
    test(`changes nothing: seed ${seed}`, async (context) => {
      const random = randomOf(seed);
      const draw = (most: number) => (random(1)[0] ?? 0) % most;
      const hp = temporaryFolder(context).open({ policy: POLICY });
      const flow = define(hp, draw);
      const tasks = Array.from({ length: 12 }, () => Array.from({ length: 8 }, () => draw(12) * 9));
      await decideAll(hp, draw, Promise.all(tasks.map((calls) => flow.run(calls))));
      const report = await admin(hp).policies.backtest(POLICY);
      assert.deepEqual(report.changes, []);
      assert.ok(report.compared > 60, `${report.compared} actions`);
      assert.deepEqual(report.missing, {
        erased: 0,
        gone: 0,
        unreviewed: 0,
        partHistory: 0,
        beside: 0,
        decisions: 0,
      });
      const other = await admin(hp).policies.backtest({ ...POLICY, limits: { tool_calls: 2 } });
      assert.ok(other.changed > 0);
      await hp.close();
    });
});
