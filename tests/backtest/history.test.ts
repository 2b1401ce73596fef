/** A policy that is asked again is told the same as it was told then. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { readFirstReview } from "../../src/policy/backtest/replay-journal.ts";
import { runBacktest } from "../../src/policy/backtest/run.ts";
import { compilePolicy } from "../../src/policy/rules/compile.ts";
import type { PolicyRule } from "../../src/policy/rules/document.ts";
import type { PolicyInput, Verdict } from "../../src/policy/rules/verdict.ts";

import { ANN, type Desk, type Office, office, question } from "../workflows/office.ts";

type Args = { readonly amount: number };
type Seen = Pick<PolicyInput, "requestId" | "workflow" | "history" | "now" | "args" | "agent" | "tool">;

function copyOf({ requestId, workflow, history, now, args, agent, tool }: PolicyInput): Seen {
  return structuredClone({ requestId, workflow, history, now, args, agent, tool });
}

function paying(desk: Desk, seen: Seen[], verdict: (input: PolicyInput) => Verdict) {
  return desk.gate<Args, unknown>({
    name: "pay",
    undo: () => "taken back",
    policy: ((input: PolicyInput) => {
      seen.push(copyOf(input));
      return verdict(input);
    }) as never,
    run: ({ amount }) => {
      if (amount === 13) throw new Error("no answer");
      return { paid: amount };
    },
  });
}

/** What was seen last at that time: before, the history may not have been at hand. */
function thenSeen(seen: readonly Seen[], { requestId, now }: Seen): Seen | undefined {
  return seen.findLast((one) => one.requestId === requestId && one.now === now);
}

async function assertSame(desk: Desk, seen: readonly Seen[]): Promise<readonly Seen[]> {
  const again: Seen[] = [];
  const judge = (input: PolicyInput): Verdict => {
    again.push(copyOf(input));
    return { verdict: "approve" };
  };
  await runBacktest(desk.runtime, { name: "same", digest: "d", judge, countsCalls: () => false });
  const calls = again.filter(({ tool }) => tool === "pay");
  for (const one of calls) assert.deepEqual(one, thenSeen(seen, one));
  return calls;
}

const approve = (): Verdict => ({ verdict: "approve" });
const finished = (place: Office, desk: Desk, id: string) => place.finish(desk.workflows.result(id));

describe("a policy that is asked again is told the same as then", () => {
  test("of calls one after the other, side by side, and in doubt", async () => {
    const place = office();
    const desk = place.open();
    const seen: Seen[] = [];
    const pay = paying(desk, seen, approve);
    const flow = desk.workflow("w", {}, async (ctx, _: object) => {
      await ctx.call(pay, { amount: 1 });
      await ctx.call(pay, { amount: 13 }, { continueInDoubt: true });
      await ctx.parallel([2, 3, 4].map((amount) => () => ctx.call(pay, { amount })));
      await ctx.call(pay, { amount: 5 });
    });
    await place.finish(flow.run({}));
    const calls = await assertSame(desk, seen);
    assert.deepEqual(
      calls.at(-1)?.history.map(({ status }) => status),
      ["applied", "in_doubt", "applied", "applied", "applied"],
    );
    await desk.close();
  });

  test("after a rollback, with what was undone", async () => {
    const place = office();
    const desk = place.open();
    const seen: Seen[] = [];
    const pay = paying(desk, seen, approve);
    const flow = desk.workflow("w", { checkpoints: [{ name: "Look" }] }, async (ctx, _: object) => {
      await ctx.call(pay, { amount: ctx.attempt });
      await ctx.checkpoint("Look", {});
      await ctx.call(pay, { amount: 9 });
    });
    const { id } = await flow.start({});
    await desk.approvals.reject(await question(place, desk), { ...ANN, reason: "again" });
    await desk.approvals.approve(await question(place, desk), ANN);
    await finished(place, desk, id);
    const calls = await assertSame(desk, seen);
    assert.deepEqual(
      calls.at(-1)?.history.map(({ undone, generation }) => [undone, generation]),
      [
        [true, 1],
        [false, 2],
      ],
    );
    await desk.close();
  });

  test("in a workflow that was forked after its origin had ended", async () => {
    const place = office();
    const desk = place.open();
    const seen: Seen[] = [];
    const pay = paying(desk, seen, approve);
    const flow = desk.workflow("w", { checkpoints: [{ name: "Look" }] }, async (ctx, _: object) => {
      await ctx.call(pay, { amount: 1 });
      await ctx.checkpoint("Look", {});
      await ctx.call(pay, { amount: 2 });
    });
    const { id } = await flow.start({});
    await desk.approvals.approve(await question(place, desk), ANN);
    await finished(place, desk, id);
    const fork = await desk.workflows.fork(id, { at: "Look" });
    await desk.work();
    await finished(place, desk, fork);
    const calls = await assertSame(desk, seen);
    assert.deepEqual([calls.length, calls.at(-1)?.workflow?.id], [3, fork]);
    assert.equal(calls.at(-1)?.history.length, 1);
    await desk.close();
  });

  test("of an action that people decided later, and told alone", async () => {
    const place = office();
    const desk = place.open();
    const seen: Seen[] = [];
    const ask = ({ args }: PolicyInput): Verdict =>
      (args as Args).amount > 5 ? { verdict: "escalate", rule: "large" } : { verdict: "approve" };
    const pay = paying(desk, seen, ask);
    const flow = desk.workflow("w", {}, async (ctx, _: object) => {
      await ctx.call(pay, { amount: 1 });
      await ctx.call(pay, { amount: 8 });
      await ctx.call(pay, { amount: 2 });
    });
    const { id } = await flow.start({});
    await desk.approvals.approve(await question(place, desk), ANN);
    await finished(place, desk, id);
    const calls = await assertSame(desk, seen);
    const large = calls.find(({ args }) => (args as Args).amount === 8);
    const told = await readFirstReview(desk.runtime, large?.requestId ?? "");
    assert.deepEqual(copyOf(told.input), large);
    assert.deepEqual([told.said.verdict, told.said.rule, told.isWhole], ["escalate", "large", true]);
    await desk.close();
  });
});

describe("a compensation that is played again", () => {
  async function undone(...rules: readonly PolicyRule[]) {
    const place = office();
    const desk = place.open();
    const pay = paying(desk, [], approve);
    const flow = desk.workflow("w", { checkpoints: [{ name: "Look" }] }, async (ctx, _: object) => {
      await ctx.call(pay, { amount: 1 });
      await ctx.checkpoint("Look", {});
    });
    const { id } = await flow.start({});
    await desk.approvals.reject(await question(place, desk), { ...ANN, reason: "no", final: true });
    await finished(place, desk, id);
    const made = compilePolicy({ policy: "strict", default: "block", rules }, null);
    assert.ok(made.ok);
    const report = await runBacktest(desk.runtime, made.policy);
    await desk.close();
    return report;
  }

  test("is left as it was by a policy that has no rule for it", async () => {
    const { compared, changes } = await undone();
    assert.equal(compared, 2);
    assert.deepEqual(
      changes.map(({ tool }) => tool),
      ["pay"],
    );
  });

  test("is changed by a rule that speaks of it", async () => {
    const { changes } = await undone({ id: "no_undo", tool: "pay.undo", verdict: "block" });
    assert.deepEqual(
      changes.map(({ tool }) => tool),
      ["pay", "pay.undo"],
    );
  });
});
