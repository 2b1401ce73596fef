/** What is undone by itself when a definition fails, what operators send back, and what could not be undone. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { NotApplied } from "../../src/effects/run-tool.ts";
import type { RollbackReport } from "../../src/workflows/events.ts";
import { type Body, kit, opened, reject } from "./kit.ts";
import { ANN, atRest, BOB, type Desk, office, question, reopen, types } from "./office.ts";

const reportOf = (result: { readonly status: string }): RollbackReport =>
  (result as unknown as { report: RollbackReport }).report;

describe("a definition that fails", () => {
  const body: Body = async (ctx, { book }) => {
    await ctx.call(book, { n: 1 });
    await ctx.call(book, { n: 2 }, { rollbackEnabled: true });
    await ctx.call(book, { n: 3 });
    throw new Error("out of stock");
  };

  test("with rollbackEnabled is undone from the newest effect on, and has failed with what it threw", async () => {
    const { desk, done, end } = await opened(
      async (ctx, { book }) => {
        await ctx.call(book, { n: 1 });
        await ctx.call(book, { n: 2 });
        throw new Error("out of stock");
      },
      { rollbackEnabled: true },
    );
    const result = await end();
    assert.partialDeepStrictEqual(result, {
      status: "failed",
      code: "error",
      reason: "out of stock",
      by: "workflow",
    });
    assert.equal(reportOf(result).undone.length, 2);
    assert.deepEqual(done, ["book 1", "book 2", "undo 2 of 20", "undo 1 of 10"]);
    await desk.close();
  });

  test("undoes single calls that said so, and only those", async () => {
    const { desk, done, end } = await opened(body);
    assert.partialDeepStrictEqual(await end(), { status: "failed", code: "error", reason: "out of stock" });
    assert.deepEqual(done, ["book 1", "book 2", "book 3", "undo 2 of 20"]);
    await desk.close();
  });

  test("with rollbackEnabled leaves alone a call that said otherwise", async () => {
    const { desk, done, end } = await opened(
      async (ctx, { book }) => {
        await ctx.call(book, { n: 1 }, { rollbackEnabled: false });
        await ctx.call(book, { n: 2 });
        throw new Error("out of stock");
      },
      { rollbackEnabled: true },
    );
    await end();
    assert.deepEqual(done, ["book 1", "book 2", "undo 2 of 20"]);
    await desk.close();
  });

  test("undoes no more than what came after the last approved checkpoint", async () => {
    const { place, desk, done, end } = await opened(
      async (ctx, { book }) => {
        await ctx.call(book, { n: 1 });
        await ctx.checkpoint("Half");
        await ctx.call(book, { n: 2 });
        throw new Error("out of stock");
      },
      { rollbackEnabled: true },
    );
    await desk.approvals.approve(await question(place, desk), ANN);
    assert.partialDeepStrictEqual(await end(), { status: "failed", code: "error" });
    assert.deepEqual(done, ["book 1", "book 2", "undo 2 of 20"]);
    await desk.close();
  });

  test("and says nothing of rollback leaves what was done", async () => {
    const { desk, done, end, id } = await opened(async (ctx, { book }) => {
      await ctx.call(book, { n: 1 });
      throw new Error("out of stock");
    });
    assert.partialDeepStrictEqual(await end(), { status: "failed", code: "error", report: null });
    assert.deepEqual(done, ["book 1"]);
    assert.ok(!types(await desk.entries(id)).includes("rollback.began"));
    await desk.close();
  });

  test("leaves nobody with a question that it had asked beside", async () => {
    const { place, desk, end } = await opened(async (ctx) => {
      void ctx.ask("colour", "Which?");
      await ctx.sleep(1_000);
      throw new Error("out of stock");
    });
    assert.partialDeepStrictEqual(await end(), { status: "failed" });
    await place.pass(2_000);
    assert.equal(await desk.approvals.count(), 0);
    await desk.close();
  });

  test("since a checkpoint that cannot go back was rejected leaves nobody with another question", async () => {
    const { place, desk, done, id, end } = await opened(
      async (ctx, { asked }) => {
        await ctx.parallel([
          (own) => own.ask("colour", "Which?"),
          (own) => own.call(asked, { n: 1 }),
          async (own) => {
            await own.sleep(500);
            await own.checkpoint("Last");
          },
        ]);
      },
      { checkpoints: [{ name: "Last", canRollback: false }] },
    );
    const { approval } = await place.until(async () => (await desk.workflows.get(id)).pending ?? undefined);
    await reject(desk, approval);
    assert.partialDeepStrictEqual(await end(), { status: "failed", code: "rejected" });
    await place.pass(2_000);
    assert.equal(await desk.approvals.count(), 0);
    assert.deepEqual(done, []);
    await place.finish(desk.close());
  });

  test("undoes an effect that still runs when it fails, after it has ended", async () => {
    const gate = Promise.withResolvers<void>();
    const place = office();
    const desk = place.open();
    const done: string[] = [];
    const slow = desk.gate({
      name: "slow",
      policy: "approve",
      undo: () => void done.push("undo slow"),
      run: async () => {
        await gate.promise;
        done.push("slow");
      },
    });
    const flow = desk.workflow("w", { rollbackEnabled: true }, async (ctx, _: object) => {
      void ctx.call(slow, {});
      await ctx.step("short", () => 1);
      throw new Error("no");
    });
    const handle = await flow.start({});
    await place.pass(3_000);
    assert.equal((await desk.workflows.get(handle.id)).status, "rolling_back");
    gate.resolve();
    assert.partialDeepStrictEqual(await place.finish(handle.result()), { status: "failed", code: "error" });
    assert.deepEqual(done, ["slow", "undo slow"]);
    await desk.close();
  });
});

describe("an undo that fails", () => {
  const failing = (times: number, done: string[]) => {
    let tries = 0;
    return (desk: Desk) =>
      desk.gate({
        name: "book",
        policy: "approve",
        undo: () => {
          done.push(`try ${++tries}`);
          if (tries <= times) throw new NotApplied("the hotel does not answer");
        },
        run: () => void done.push("book"),
      });
  };

  const setUp = (desk: Desk, tool: ReturnType<typeof failing>) => {
    const book = tool(desk);
    return desk.workflow("w", {}, async (ctx, _: object) => {
      await ctx.call(book, {});
      await ctx.checkpoint("Only");
      return ctx.attempt;
    });
  };

  test("is tried again with back-off, and the workflow goes on when it succeeds", async () => {
    const place = office();
    const desk = place.open();
    const done: string[] = [];
    const { id } = await setUp(desk, failing(3, done)).start({});
    await reject(desk, await question(place, desk));
    await place.until(async () => (await desk.workflows.get(id)).attempt === 2);
    assert.deepEqual(done.slice(0, 5), ["book", "try 1", "try 2", "try 3", "try 4"]);
    await desk.approvals.approve(await question(place, desk), ANN);
    assert.partialDeepStrictEqual(await place.finish(desk.workflows.result(id)), { result: 2 });
    await desk.close();
  });

  test("every time makes the workflow fail with a report of what was not undone, also over a restart", async () => {
    const place = office();
    const done: string[] = [];
    const tool = failing(99, done);
    const first = place.open();
    const { id } = await setUp(first, tool).start({});
    await reject(first, await question(place, first), "no");
    await place.until(async () => done.includes("try 2"));
    const second = await reopen(place, first, (desk) => setUp(desk, tool));
    const result = await place.finish(second.workflows.result(id));
    assert.partialDeepStrictEqual(result, { status: "failed", code: "rollback_failed" });
    assert.deepEqual(
      reportOf(result).notUndone.map(({ reason }) => reason),
      ["the hotel does not answer"],
    );
    // Five in all, of which the one that was under way when the process died may have been made once more.
    assert.ok(done.length >= 6 && done.length <= 7, done.join());
    await second.close();
  });

  test("whose answer never came is in doubt, and is waited for", async () => {
    const place = office();
    const desk = place.open();
    const done: string[] = [];
    const book = desk.gate({
      name: "book",
      policy: "approve",
      undo: () => {
        done.push("undo");
        throw new Error("connection reset");
      },
      run: () => void done.push("book"),
    });
    const flow = desk.workflow("w", {}, async (ctx, _: object) => {
      await ctx.call(book, {});
      await ctx.checkpoint("Only");
      return ctx.attempt;
    });
    const { id } = await flow.start({});
    await reject(desk, await question(place, desk));
    const state = await atRest(place, desk, id);
    assert.partialDeepStrictEqual(state, { status: "rolling_back", waits: [{ kind: "doubt" }] });
    await desk.actions.resolve(state.waits[0]?.on ?? "", { status: "applied", ...ANN, reason: "it is gone" });
    await place.until(async () => (await desk.workflows.get(id)).attempt === 2);
    assert.deepEqual(done.slice(0, 2), ["book", "undo"]);
    await desk.close();
  });

  test("since people reject it makes the workflow fail, and says so", async () => {
    const { place, desk, done, end } = await opened(async (ctx, { book, gated }) => {
      await ctx.call(book, { n: 1 });
      await ctx.call(gated, { n: 2 });
      await ctx.checkpoint("Only");
    });
    await reject(desk, await question(place, desk), "no");
    await reject(desk, await question(place, desk), "keep that one");
    const result = await end();
    assert.partialDeepStrictEqual(result, { status: "failed", code: "rollback_failed" });
    const { notUndone, undone } = reportOf(result);
    assert.match(notUndone[0]?.reason ?? "", /keep that one/);
    assert.equal(undone.length, 1);
    assert.deepEqual(done, ["book 1", "gated 2", "undo 1 of 10"]);
    await desk.close();
  });
});

describe("an operator", () => {
  const body: Body = async (ctx, { book }) => {
    await ctx.call(book, { n: 1 });
    await ctx.checkpoint("One", { outputs: { at: 1 } });
    await ctx.call(book, { n: 2 });
    await ctx.checkpoint("Two", { outputs: { at: 2 } });
    await ctx.call(book, { n: 3 });
    await ctx.ask("go", "Go on?");
    return ctx.attempt;
  };
  const checkpoints = [
    { name: "One", requiresApproval: false },
    { name: "Two", requiresApproval: false },
  ];

  for (const [to, undone, made] of [
    [undefined, ["undo 3 of 30"], ["book 3"]],
    ["Two", ["undo 3 of 30"], ["book 3"]],
    ["One", ["undo 3 of 30", "undo 2 of 20"], ["book 2", "book 3"]],
    ["start", ["undo 3 of 30", "undo 2 of 20", "undo 1 of 10"], ["book 1", "book 2", "book 3"]],
  ] as const)
    test(`sends it back to ${to ?? "the last checkpoint"}, and it goes on from there`, async () => {
      const { place, desk, done, id, end, again } = await opened(body, { checkpoints });
      await question(place, desk);
      await atRest(place, desk, id);
      const request = { ...BOB, reason: "look again", ...(to === undefined ? {} : { to }) };
      assert.equal(await desk.workflows.rollback(id, request), "rolling_back");
      await again(2);
      const asked = await question(place, desk);
      await desk.approvals.approve(asked, ANN);
      assert.partialDeepStrictEqual(await end(), { status: "completed", result: 2 });
      assert.deepEqual(done, ["book 1", "book 2", "book 3", ...undone, ...made]);
      assert.equal(await desk.approvals.count(), 0);
      await desk.close();
    });

  test("sends it back for good", async () => {
    const { place, desk, done, id, end } = await opened(body, { checkpoints });
    await question(place, desk);
    await desk.workflows.rollback(id, { ...BOB, reason: "enough", to: "start", after: "fail" });
    assert.partialDeepStrictEqual(await end(), { status: "failed", reason: "enough", by: "person:bob" });
    assert.deepEqual(done.slice(3), ["undo 3 of 30", "undo 2 of 20", "undo 1 of 10"]);
    await desk.close();
  });

  test("cannot send it to a checkpoint that it has not passed: refused and recorded", async () => {
    const { place, desk, id } = await opened(body, { checkpoints });
    await question(place, desk);
    await assert.rejects(
      desk.workflows.rollback(id, { ...BOB, reason: "x", to: "Three" }),
      /no checkpoint "Three" was passed/,
    );
    const refused = (await desk.entries(id)).find(({ type }) => type === "workflow.refused");
    assert.partialDeepStrictEqual(refused?.body, {
      asked: "rollback",
      by: "person:bob",
      status: "executing",
    });
    await desk.close();
  });

  test("cannot send back what is over: refused and recorded", async () => {
    const { place, desk, id, end } = await opened(body, { checkpoints });
    await desk.approvals.approve(await question(place, desk), ANN);
    await end();
    await assert.rejects(desk.workflows.rollback(id, { ...BOB, reason: "x" }), /it is completed/);
    await assert.rejects(desk.workflows.cancel(id, { ...BOB, reason: "x" }), /it is completed/);
    assert.deepEqual(types(await desk.entries(id)).slice(-2), ["workflow.refused", "workflow.refused"]);
    await desk.close();
  });
});

test("a workflow that is closed in the middle of a rollback goes on with it elsewhere", async () => {
  const place = office();
  const done: string[] = [];
  const gate = Promise.withResolvers<void>();
  const setUp = (desk: Desk) => {
    const { book } = kit(desk, done);
    const slow = desk.gate({
      name: "slow",
      policy: "approve",
      effect: "idempotent",
      undo: () => void done.push("undo slow"),
      run: async () => {
        await gate.promise;
        done.push("slow");
      },
    });
    return desk.workflow("w", {}, async (ctx, _: object) => {
      if (ctx.attempt > 1) return ctx.attempt;
      await ctx.call(book, { n: 1 });
      await ctx.parallel([
        (own) => own.call(slow, {}),
        async (own) => {
          await own.sleep(500);
          await own.checkpoint("Only");
        },
      ]);
      return "never";
    });
  };
  const first = place.open();
  const { id } = await setUp(first).start({});
  await reject(first, await question(place, first));
  await place.pass(1_000);
  assert.equal((await first.workflows.get(id)).status, "rolling_back");
  const closing = first.close();
  await place.pass(1_000);
  assert.equal((await place.open().workflows.get(id)).status, "rolling_back");
  gate.resolve();
  await place.finish(closing);
  const second = place.open();
  setUp(second);
  await second.work();
  assert.partialDeepStrictEqual(await place.finish(second.workflows.result(id)), {
    status: "completed",
    result: 2,
  });
  assert.deepEqual(done, ["book 1", "slow", "undo slow", "undo 1 of 10"]);
  await second.close();
});
