/** What a workflow is started under, beside its definition: every call asked about, a budget over all of them. */
import assert from "node:assert/strict";
import { describe, type TestContext, test } from "node:test";
import { type Cost, type Holdpoint, holdpoint, isHoldpointError, type Notice } from "../../src/index.ts";
import { memoryStore } from "../../src/testing/testing.ts";
import { temporaryFolder } from "../fixtures/folder.ts";

const usd = (amount: number) => ({ currency: "USD", micros: BigInt(amount * 1_000_000) });

/** An instance in memory, with a person who agrees at once; answers what they were asked about. */
const inMemory =
  (look: (hp: Holdpoint, asked: string[]) => Promise<void>) => async (context: TestContext) => {
    const { keyFile } = temporaryFolder(context);
    const asked: string[] = [];
    const notify = (notice: Notice) => {
      if (notice.kind !== "waiting") return;
      asked.push(notice.tool);
      void hp.approvals.approve(notice.approval, { by: "person:ann" });
    };
    const hp: Holdpoint = holdpoint({ store: memoryStore(), keyFile, notify });
    try {
      await look(hp, asked);
    } finally {
      await hp.close();
    }
  };

const buying = (hp: Holdpoint, cost: Cost | readonly Cost[]) =>
  hp.gate({ name: "buy", policy: "approve", cost: () => cost, run: () => "bought" });

describe("a workflow that is started with approvalRequired", () => {
  test(
    "asks about its calls, its gated steps and those of its children, but not about plain steps",
    inMemory(async (hp, asked) => {
      const tell = hp.gate({ name: "tell", policy: "approve", run: () => "told" });
      const child = hp.workflow("child", async (ctx, _: object) => (await ctx.call(tell, {})).status);
      const parent = hp.workflow("parent", async (ctx, _: object) => {
        await ctx.call(tell, {});
        await ctx.step("plain", () => 1);
        await ctx.step("gated", { effect: "idempotent" }, () => 2);
        return ctx.spawn(child, {});
      });
      assert.partialDeepStrictEqual(await parent.run({}), { status: "completed", result: "done" });
      assert.deepEqual(asked, [], "policy lets all of it through");
      const second = await parent.run({}, { approvalRequired: true });
      assert.partialDeepStrictEqual(second, { status: "completed", result: "done" });
      assert.deepEqual(asked, ["tell", "parent.gated", "tell"]);
    }),
  );

  test(
    "does not soften a policy that blocks",
    inMemory(async (hp, asked) => {
      const never = hp.gate({ name: "never", policy: "block", run: () => assert.fail("it ran") });
      const one = hp.workflow("one", async (ctx, _: object) => (await ctx.call(never, {})).status);
      assert.partialDeepStrictEqual(await one.run({}, { approvalRequired: true }), { result: "refused" });
      assert.deepEqual(asked, []);
    }),
  );
});

describe("a workflow that is started with a budget", () => {
  test(
    "counts what its tools and its children's declare, and is held at the limit",
    inMemory(async (hp) => {
      await hp.budgets.limit("all", usd(100));
      await hp.budgets.limit("trip", usd(10));
      const buy = buying(hp, { budget: "all", amount: usd(4) });
      const free = hp.gate({ name: "free", policy: "approve", run: () => "free" });
      const child = hp.workflow("child", async (ctx, _: object) => (await ctx.call(buy, {})).status);
      const parent = hp.workflow("parent", async (ctx, _: object) => {
        const first = await ctx.call(buy, {});
        const second = await ctx.spawn(child, {});
        const third = await ctx.call(buy, {});
        return [first.status, second, "code" in third && third.code, (await ctx.call(free, {})).status];
      });
      const end = await parent.run({}, { budget: "trip" });
      assert.partialDeepStrictEqual(end, {
        status: "completed",
        result: ["done", "done", "over_budget", "done"],
      });
      assert.equal((await hp.budgets.get("trip")).spent, usd(8).micros);
      assert.equal((await hp.budgets.get("all")).spent, usd(8).micros);
    }),
  );

  test(
    "counts the same money once, for however many budgets a tool declares it",
    inMemory(async (hp) => {
      for (const name of ["team", "company", "trip"]) await hp.budgets.limit(name, usd(100));
      const cost = [
        { budget: "team", amount: usd(3) },
        { budget: "company", amount: usd(5) },
      ];
      const buy = buying(hp, cost);
      const own = hp.gate({
        name: "own",
        policy: "approve",
        cost: () => ({ budget: "trip", amount: usd(7) }),
        run: () => "own",
      });
      const both = hp.workflow("both", async (ctx, _: object) => {
        await ctx.call(buy, {});
        await ctx.call(own, {});
      });
      await both.run({}, { budget: "trip" });
      assert.equal((await hp.budgets.get("trip")).spent, usd(12).micros);
      assert.equal((await hp.budgets.get("team")).spent, usd(3).micros);
    }),
  );

  test(
    "that was never opened lets nothing through that costs something",
    inMemory(async (hp) => {
      await hp.budgets.limit("all", usd(100));
      const buy = buying(hp, { budget: "all", amount: usd(4) });
      const one = hp.workflow("one", async (ctx, _: object) => (await ctx.call(buy, {})).status);
      assert.partialDeepStrictEqual(await one.run({}, { budget: "nobody.opened" }), { result: "refused" });
    }),
  );
});

test(
  "a fork is under the same terms as the workflow it comes from",
  inMemory(async (hp, asked) => {
    const tell = hp.gate({ name: "tell", policy: "approve", run: () => "told" });
    const one = hp.workflow("one", async (ctx, _: object) => {
      await ctx.checkpoint("half");
      return (await ctx.call(tell, {})).status;
    });
    const { workflow } = await one.run({}, { approvalRequired: true, budget: "trip" });
    const fork = await hp.workflows.fork(workflow, { at: "half" });
    await hp.workflows.result(fork);
    assert.deepEqual(asked, ["half", "tell", "tell"]);
    assert.equal((await hp.workflows.get(fork)).budget, "trip");
  }),
);

test(
  "terms that are none are refused before anything is started",
  inMemory(async (hp) => {
    const one = hp.workflow("one", async () => 1);
    for (const options of [
      { approvalRequired: "yes" },
      { budget: "a b" },
      { budget: usd(1) },
      { maxCostUsd: 5 },
    ])
      await assert.rejects(
        one.start({}, options as never),
        (error) => isHoldpointError(error) && error.code === "invalid_input",
      );
    assert.deepEqual((await hp.workflows.list()).items, []);
  }),
);

describe("following a workflow", () => {
  test(
    "tells every entry once, in order, and ends with it",
    inMemory(async (hp) => {
      const one = hp.workflow("one", async (ctx, _: object) => {
        for (let step = 1; step <= 5; step++) await ctx.step(`${step}`, () => step);
        await ctx.checkpoint("half");
      });
      const { id } = await one.start({});
      const told: number[] = [];
      let last = "";
      for await (const { seq, type } of hp.workflows.follow(id, new AbortController().signal)) {
        told.push(seq);
        last = type;
      }
      assert.equal(last, "workflow.completed");
      assert.deepEqual(
        told,
        told.map((_, at) => at + 1),
      );
      assert.equal((await hp.workflows.get(id)).seq, told.length);
    }),
  );

  test(
    "ends with the signal, while the workflow waits",
    inMemory(async (hp) => {
      const one = hp.workflow("one", async (ctx, _: object) => ctx.sleep(1_000_000));
      const { id } = await one.start({});
      const over = new AbortController();
      for await (const { type } of hp.workflows.follow(id, over.signal))
        if (type === "workflow.suspended") setImmediate(() => over.abort());
      assert.equal((await hp.workflows.get(id)).status, "executing");
    }),
  );
});
