/** What a policy sees of the calls that its workflow made before. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { PastCall, PolicyInput, Verdict } from "../../src/policy/rules/verdict.ts";
import { ANN, type Desk, office, question, reopen } from "./office.ts";

const CAP = 100;
const amountOf = ({ args }: Pick<PastCall, "args">): number => (args as { amount: number }).amount;
const MAYBE = ["running", "applied", "in_doubt"];
const counts = ({ tool, status, undone }: PastCall): boolean =>
  tool === "pay" && MAYBE.includes(status) && !undone;

/** At most 100 in all; unknown counts. */
function capped(call: Pick<PolicyInput, "history"> & { readonly args: { amount: number } }): Verdict {
  const before = call.history.filter(counts).reduce((sum, past) => sum + amountOf(past), 0);
  return before + call.args.amount > CAP
    ? { verdict: "block", reason: `${before} of ${CAP} are used` }
    : { verdict: "approve" };
}

type Args = { readonly amount: number };

function paying(desk: Desk, run: (args: Args) => unknown = () => "paid") {
  return desk.gate({ name: "pay", policy: capped, undo: () => "taken back", run });
}

const ran = (answers: readonly { readonly status: unknown }[]) => answers.map(({ status }) => status);

describe("a policy that looks at what its workflow did before", () => {
  test("lets calls through until the cap is reached", async () => {
    const place = office();
    const desk = place.open();
    const pay = paying(desk);
    const flow = desk.workflow("w", {}, async (ctx, _: object) => {
      const answers: { readonly status: unknown }[] = [];
      for (const amount of [60, 50, 40, 1]) answers.push(await ctx.call(pay, { amount }));
      return ran(answers);
    });
    const result = await place.finish(flow.run({}));
    assert.partialDeepStrictEqual(result, { result: ["done", "refused", "done", "refused"] });
    await desk.close();
  });

  test("of calls side by side lets no more through than one after the other", async () => {
    const place = office();
    const desk = place.open();
    const pay = paying(desk);
    const flow = desk.workflow("w", {}, async (ctx, _: object) => {
      const calls = Array.from({ length: 8 }, () => () => ctx.call(pay, { amount: 40 }));
      return ran(await ctx.parallel(calls));
    });
    const result = await place.finish(flow.run({}));
    assert.equal(result.status, "completed");
    const executed = result.status === "completed" ? result.result.filter((one) => one === "done") : [];
    assert.equal(executed.length, 2);
    await desk.close();
  });

  test("counts what is in doubt", async () => {
    const place = office();
    const desk = place.open();
    const run = ({ amount }: Args) => {
      if (amount === 60) throw new Error("no answer");
      return "paid";
    };
    const pay = paying(desk, run);
    const flow = desk.workflow("w", {}, async (ctx, _: object) => {
      const lost = await ctx.call(pay, { amount: 60 }, { continueInDoubt: true });
      return ran([lost, await ctx.call(pay, { amount: 50 }), await ctx.call(pay, { amount: 40 })]);
    });
    assert.partialDeepStrictEqual(await place.finish(flow.run({})), {
      result: ["in_doubt", "refused", "done"],
    });
    await desk.close();
  });

  test("sees the result of what was applied and the attempt that made it, and not what was undone", async () => {
    const place = office();
    const desk = place.open();
    const seen: (readonly PastCall[])[] = [];
    const pay = desk.gate({
      name: "pay",
      undo: () => "taken back",
      policy: (call: PolicyInput) => {
        seen.push(call.history);
        return "approve";
      },
      run: (args: Args) => ({ paid: args.amount }),
    });
    const flow = desk.workflow("w", { checkpoints: [{ name: "Look" }] }, async (ctx, _: object) => {
      await ctx.call(pay, { amount: ctx.attempt });
      await ctx.checkpoint("Look", {});
      await ctx.call(pay, { amount: 9 });
    });
    const { id } = await flow.start({});
    await desk.approvals.reject(await question(place, desk), { ...ANN, reason: "again" });
    await desk.approvals.approve(await question(place, desk), ANN);
    await place.finish(desk.workflows.result(id));
    const facts = (seen.at(-1) ?? []).map(({ result, generation, undone }) => ({
      result,
      generation,
      undone,
    }));
    assert.deepEqual(facts, [
      { result: { paid: 1 }, generation: 1, undone: true },
      { result: { paid: 2 }, generation: 2, undone: false },
    ]);
    await desk.close();
  });

  test("is asked again at dispatch, with what happened since the person was asked", async () => {
    const place = office();
    const desk = place.open();
    const wait = desk.gate({ name: "wait", policy: "approve", run: () => "waited" });
    const pay = desk.gate({
      name: "pay",
      policy: (call: Parameters<typeof capped>[0]) => {
        const said = capped(call);
        return said.verdict === "approve" && call.args.amount > 50 ? "escalate" : said;
      },
      run: () => "paid",
    });
    const flow = desk.workflow("w", {}, async (ctx, _: object) => {
      const slow = async () => {
        await ctx.call(wait, {});
        return ctx.call(pay, { amount: 50 });
      };
      return ran(await ctx.parallel([() => ctx.call(pay, { amount: 60 }), slow]));
    });
    const { id } = await flow.start({});
    const approval = await question(place, desk);
    await place.pass(1_000);
    await desk.approvals.approve(approval, ANN);
    assert.partialDeepStrictEqual(await place.finish(desk.workflows.result(id)), {
      result: ["refused", "done"],
    });
    await desk.close();
  });

  test("cannot change what later reviews see", async () => {
    const place = office();
    const desk = place.open();
    const pay = desk.gate({
      name: "pay",
      policy: (call: PolicyInput & { readonly args: Args }) => {
        const verdict = capped(call);
        for (const past of call.history) (past.args as { amount: number }).amount = 0;
        return verdict;
      },
      run: () => "paid",
    });
    const flow = desk.workflow("w", {}, async (ctx, _: object) => {
      const answers: { readonly status: unknown }[] = [];
      for (const amount of [60, 30, 30]) answers.push(await ctx.call(pay, { amount }));
      return ran(answers);
    });
    assert.partialDeepStrictEqual(await place.finish(flow.run({})), { result: ["done", "done", "refused"] });
    await desk.close();
  });

  test("sees the same after its process died", async () => {
    const place = office();
    const set = (desk: Desk) => {
      const pay = paying(desk);
      return desk.workflow("w", {}, async (ctx, _: object) => {
        const first = await ctx.call(pay, { amount: 60 });
        await ctx.sleep(1_000);
        return ran([first, await ctx.call(pay, { amount: 50 })]);
      });
    };
    const first = place.open();
    const { id } = await set(first).start({});
    await place.pass(300);
    const desk = await reopen(place, first, set);
    assert.partialDeepStrictEqual(await place.finish(desk.workflows.result(id)), {
      result: ["done", "refused"],
    });
    await desk.close();
  });

  test("outside of a workflow sees nothing", async () => {
    const place = office();
    const desk = place.open();
    const pay = paying(desk);
    const answers: { readonly status: unknown }[] = [];
    for (const amount of [60, 60]) answers.push(await place.finish(pay({ amount })));
    assert.deepEqual(ran(answers), ["done", "done"]);
    await desk.close();
  });
});
