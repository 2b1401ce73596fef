/** Rollbacks, forks and ends under attack: each test names the finding that it came from. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { workflowStream } from "../../src/kernel/stream.ts";
import { runCommand } from "../../src/runtime/store-access.ts";
import type { WorkflowContext } from "../../src/workflows/definition.ts";
import { cancelWorkflow } from "../../src/workflows/rules/lifecycle.ts";
import { type Kit, kit, opened, reject } from "./kit.ts";
import { ANN, atRest, type Desk, office, question, reopen, types, waiting } from "./office.ts";

const STOP = { ...ANN, reason: "stop" };

describe("10: what a workflow had begun, when it fails while no process works,", () => {
  function setUp(done: string[]) {
    return (desk: Desk) => {
      const { book, asked } = kit(desk, done);
      const child = desk.workflow("child", {}, async (ctx, _: object) => {
        await ctx.sleep(20_000);
        await ctx.call(book, { n: 1 });
      });
      const checkpoints = [{ name: "Look", canRollback: false }];
      return desk.workflow("w", { checkpoints }, (ctx, _: object) =>
        ctx.parallel([
          (one) => one.spawn(child, {}),
          (one) => one.call(asked, { n: 2 }),
          (one) => one.ask("day", "Which day?"),
          async (one) => {
            await one.sleep(1_000);
            await one.checkpoint("Look");
          },
        ]),
      );
    };
  }

  async function away(done: string[]) {
    const place = office();
    const first = place.open();
    const { id } = await setUp(done)(first).start({});
    await place.until(async () => (await first.workflows.get(id)).pending !== null);
    await place.pass(1_000);
    await first.close();
    return { place, id };
  }

  async function back(place: ReturnType<typeof office>, done: string[], id: string) {
    const second = place.open();
    setUp(done)(second);
    await second.work();
    await place.pass(60_000);
    assert.equal((await second.workflows.get(id)).status, "failed");
    assert.deepEqual(done, []);
    assert.equal(await second.approvals.count(), 0);
    const { items } = await second.workflows.list();
    assert.deepEqual(
      items.map(({ status }) => status),
      ["failed", "failed"],
    );
    assert.ok(!(await second.workflows.get(id)).closing);
    await second.close();
  }

  test("by a rejection for good, is withdrawn by the next one that does", async () => {
    const done: string[] = [];
    const { place, id } = await away(done);
    const clerk = place.open();
    const { pending } = await clerk.workflows.get(id);
    await reject(clerk, pending?.approval ?? "");
    await clerk.close();
    await back(place, done, id);
  });

  test("by a cancel whose process died before it could withdraw anything, is withdrawn all the same", async () => {
    const done: string[] = [];
    const { place, id } = await away(done);
    const clerk = place.open();
    await runCommand(clerk.runtime, { write: [workflowStream(id)] }, (draft) =>
      cancelWorkflow(draft, { workflow: id, ...STOP }),
    );
    clerk.crash();
    await back(place, done, id);
  });

  test("and nobody decided in time, is withdrawn: a child too, although no person said so", async () => {
    const place = office();
    const desk = place.open();
    const done: string[] = [];
    const { book } = kit(desk, done);
    const child = desk.workflow("child", {}, async (ctx, _: object) => {
      await ctx.sleep(60_000);
      await ctx.call(book, { n: 1 });
    });
    const checkpoints = [{ name: "Look", canRollback: false, timeoutSeconds: 5 }];
    const flow = desk.workflow("w", { checkpoints }, (ctx, _: object) =>
      ctx.parallel([(one) => one.spawn(child, {}), (one) => one.checkpoint("Look")]),
    );
    const { id } = await flow.start({});
    assert.partialDeepStrictEqual(await place.finish(desk.workflows.result(id)), { code: "expired" });
    await place.pass(70_000);
    assert.deepEqual(done, []);
    assert.ok(types(await desk.entries(id)).includes("child.ended"));
    await desk.close();
  });
});

describe("8: the rollback of a parent", () => {
  function family(desk: Desk, done: string[]) {
    const { gated, book } = kit(desk, done);
    const child = desk.workflow("child", {}, async (ctx, _: object) => {
      await ctx.call(gated, { n: 1 });
      await ctx.checkpoint("Inner");
    });
    return desk.workflow("w", {}, async (ctx, _: object) => {
      await ctx.call(book, { n: 5 });
      await ctx.spawn(child, {}).catch(() => undefined);
      await ctx.checkpoint("Outer");
    });
  }

  async function goingBack() {
    const place = office();
    const desk = place.open();
    const done: string[] = [];
    const { id } = await family(desk, done).start({});
    await reject(desk, await question(place, desk));
    await place.until(async () => {
      const { items } = await desk.approvals.list();
      return items.some(({ tool }) => tool === "gated.undo");
    });
    return { place, desk, done, id };
  }

  test("asks anew about an undo that its child was still asking about", async () => {
    const { place, desk, done, id } = await goingBack();
    await desk.workflows.rollback(id, { ...STOP, after: "fail" });
    await place.pass(2_000);
    await desk.approvals.approve(await question(place, desk), ANN);
    const end = await place.finish(desk.workflows.result(id));
    assert.partialDeepStrictEqual(end, { code: "rolled_back", report: { notUndone: [] } });
    assert.deepEqual(done, ["book 5", "gated 1", "undo 1 of 10", "undo 5 of 50"]);
    assert.equal(await desk.approvals.count(), 0);
    await desk.close();
  });

  test("respects that a person did not want that undo", async () => {
    const { place, desk, done, id } = await goingBack();
    await reject(desk, await question(place, desk), "leave it");
    await reject(desk, await question(place, desk), "no", { final: true });
    const end = await place.finish(desk.workflows.result(id));
    assert.partialDeepStrictEqual(end, {
      code: "rollback_failed",
      report: { notUndone: [{ reason: "leave it" }] },
    });
    assert.deepEqual(done, ["book 5", "gated 1", "undo 5 of 50"]);
    assert.equal(await desk.approvals.count(), 0);
    await desk.close();
  });

  test("does not undo again what its child had undone by itself", async () => {
    const place = office();
    const desk = place.open();
    const done: string[] = [];
    const { book } = kit(desk, done);
    const child = desk.workflow("child", { rollbackEnabled: true }, async (ctx, _: object) => {
      await ctx.call(book, { n: 1 });
      throw new Error("no");
    });
    const flow = desk.workflow("w", {}, async (ctx, _: object) => {
      await ctx.call(book, { n: 5 });
      await ctx.spawn(child, {}).catch(() => undefined);
      await ctx.checkpoint("Look");
    });
    const { id } = await flow.start({});
    await reject(desk, await question(place, desk), "no", { final: true });
    const end = await place.finish(desk.workflows.result(id));
    assert.deepEqual(done, ["book 5", "book 1", "undo 1 of 10", "undo 5 of 50"]);
    assert.equal(end.status === "failed" && end.report?.undone.length, 2);
    await desk.close();
  });
});

describe("12: a fork at a checkpoint that something was open beside", () => {
  const OPEN: { readonly [name: string]: (ctx: WorkflowContext, tools: Kit) => Promise<unknown> } = {
    "a call that waits for people": (ctx, { asked }) => ctx.call(asked, { n: 7 }),
    "a question": (ctx) => ctx.ask("day", "Which day?"),
  };

  async function besideLook(name: string) {
    const all = await opened((ctx, tools) =>
      ctx.parallel([
        async (one) => OPEN[name]?.(one, tools),
        async (one) => {
          await one.sleep(1_000);
          await one.checkpoint("Look");
        },
      ]),
    );
    const { place, desk, id } = all;
    const approval = await place.until(async () => (await desk.workflows.get(id)).pending?.approval);
    await desk.approvals.approve(approval, ANN);
    await atRest(place, desk, id);
    return all;
  }

  for (const name of Object.keys(OPEN)) {
    test(`asks for ${name} again`, async () => {
      const { place, desk, id, done } = await besideLook(name);
      const fork = await desk.workflows.fork(id, { at: "Look" });
      for (const one of await waiting(place, desk, 2)) await desk.approvals.approve(one, ANN);
      assert.equal((await place.finish(desk.workflows.result(fork))).status, "completed");
      assert.equal((await place.finish(desk.workflows.result(id))).status, "completed");
      assert.deepEqual(done, name === "a question" ? [] : ["asked 7", "asked 7"]);
      await desk.close();
    });

    test(`asks for ${name} again, although its origin was cancelled`, async () => {
      const { place, desk, id } = await besideLook(name);
      await desk.workflows.cancel(id, STOP);
      const fork = await desk.workflows.fork(id, { at: "Look" });
      await desk.approvals.approve(await question(place, desk), ANN);
      assert.equal((await place.finish(desk.workflows.result(fork))).status, "completed");
      await desk.close();
    });
  }

  test("goes on as it began, whatever its origin comes to later", async () => {
    const place = office();
    const done: string[] = [];
    const setUp = (desk: Desk) => {
      const { asked } = kit(desk, done);
      return desk.workflow("w", {}, async (ctx, _: object) => {
        const [answer] = await ctx.parallel([
          (one) => one.call(asked, { n: 7 }),
          async (one) => {
            await one.sleep(1_000);
            await one.checkpoint("Look");
          },
        ]);
        await ctx.sleep(5_000);
        return answer.status;
      });
    };
    const first = place.open();
    const { id } = await setUp(first).start({});
    const look = await place.until(async () => (await first.workflows.get(id)).pending?.approval);
    await first.approvals.approve(look, ANN);
    await atRest(place, first, id);
    const fork = await first.workflows.fork(id, { at: "Look" });
    const [own] = await waiting(place, first, 2);
    await first.approvals.approve(own ?? "", ANN);
    await place.until(async () => done.length === 1);
    const second = await reopen(place, first, setUp);
    await second.approvals.approve(await question(place, second), ANN);
    assert.partialDeepStrictEqual(await place.finish(second.workflows.result(fork)), { result: "done" });
    assert.deepEqual(done, ["asked 7", "asked 7"]);
    await second.close();
  });
});

describe("11: what a fork has borrowed", () => {
  const flow = () =>
    opened(async (ctx, { gated }) => {
      const answer = await ctx.call(gated, { n: 1 });
      await ctx.checkpoint("One");
      await ctx.checkpoint("Two");
      await ctx.sleep(60_000);
      return answer.status;
    });

  async function atTwo() {
    const all = await flow();
    const { place, desk, id } = all;
    await desk.approvals.approve(await question(place, desk), ANN);
    await place.until(async () => (await desk.workflows.get(id)).pending?.name === "Two");
    return all;
  }

  test("is not being undone: nobody forks over a rollback, nor after one that was broken off", async () => {
    const { place, desk, id } = await atTwo();
    await desk.workflows.rollback(id, { ...STOP, to: "start", after: "fail" });
    await question(place, desk);
    await assert.rejects(desk.workflows.fork(id, { at: "One" }), /cannot be forked.*rolled back past there/);
    await desk.workflows.cancel(id, STOP);
    await assert.rejects(desk.workflows.fork(id, { at: "One" }), /has passed no checkpoint "One"/);
    await desk.close();
  });

  test("is not undone by its origin's rollback, until the fork has failed", async () => {
    const { place, desk, id, done } = await atTwo();
    const fork = await desk.workflows.fork(id, { at: "One" });
    const back = { ...STOP, to: "start", after: "fail" } as const;
    await assert.rejects(desk.workflows.rollback(id, back), new RegExp(`the fork ${fork} goes on`));
    assert.equal((await desk.workflows.get(id)).status, "awaiting_approval");
    await desk.workflows.cancel(fork, STOP);
    await desk.workflows.rollback(id, back);
    await desk.approvals.approve(await question(place, desk), ANN);
    assert.partialDeepStrictEqual(await place.finish(desk.workflows.result(id)), { code: "rolled_back" });
    assert.deepEqual(done, ["gated 1", "undo 1 of 10"]);
    assert.ok(types(await desk.entries(id)).includes("workflow.forked"));
    await desk.close();
  });

  test("is undone by its origin's rollback once all of many forks have failed", async () => {
    const { place, desk, id, done } = await atTwo();
    const forks: string[] = [];
    for (let count = 0; count < 10; count++) forks.push(await desk.workflows.fork(id, { at: "One" }));
    const back = { ...STOP, to: "start", after: "fail" } as const;
    for (const fork of forks) {
      await assert.rejects(desk.workflows.rollback(id, back), new RegExp(`the fork ${fork} goes on`));
      await desk.workflows.cancel(fork, STOP);
    }
    await desk.workflows.rollback(id, back);
    await desk.approvals.approve(await question(place, desk), ANN);
    assert.partialDeepStrictEqual(await place.finish(desk.workflows.result(id)), { code: "rolled_back" });
    assert.deepEqual(done, ["gated 1", "undo 1 of 10"]);
    await desk.close();
  });

  test("by way of a fork that has failed since, is in the way as well", async () => {
    const { place, desk, id } = await atTwo();
    const fork = await desk.workflows.fork(id, { at: "One" });
    const two = await place.until(async () => (await desk.workflows.get(fork)).pending?.approval);
    await desk.approvals.approve(two, ANN);
    await place.until(async () => (await desk.workflows.get(fork)).passed.length === 2);
    const last = await desk.workflows.fork(fork, { at: "Two" });
    await desk.workflows.cancel(fork, STOP);
    await assert.rejects(desk.workflows.rollback(id, { ...STOP, to: "start" }), new RegExp(`fork ${last}`));
    assert.equal((await place.finish(desk.workflows.result(last))).status, "completed");
    await desk.close();
  });
});

test("21: what began last is undone first, whatever was asked for first", async () => {
  const { place, desk, done, end } = await opened(async (ctx, { asked, book }) => {
    await ctx.parallel([(one) => one.call(asked, { n: 1 }), (one) => one.call(book, { n: 2 })]);
    await ctx.checkpoint("Look");
  });
  const first = await question(place, desk);
  await place.pass(1_000);
  await desk.approvals.approve(first, ANN);
  await place.until(async () => done.length === 2);
  await reject(desk, await question(place, desk), "no", { final: true });
  await end();
  assert.deepEqual(done, ["book 2", "asked 1", "undo 1 of 10", "undo 2 of 20"]);
  await desk.close();
});

describe("22: a step", () => {
  const setUp = (done: string[], step: string) => (desk: Desk) => {
    desk.gate({
      name: "w.book",
      policy: "approve",
      effect: "idempotent",
      run: () => void done.push("the tool"),
      undo: () => void done.push("undo of the tool"),
    });
    const undo = () => void done.push("undo of the step");
    return desk.workflow("w", {}, async (ctx, _: object) => {
      await ctx.step(step, { undo, effect: "idempotent" }, () => void done.push("step"));
      await ctx.checkpoint("Look");
    });
  };

  test("is undone as it says, although a registered tool has its made-up name", async () => {
    const place = office();
    const done: string[] = [];
    const first = place.open();
    const { id } = await setUp(done, "book")(first).start({});
    await question(place, first);
    const second = await reopen(place, first, setUp(done, "book"));
    await reject(second, await question(place, second), "no", { final: true });
    await place.finish(second.workflows.result(id));
    assert.deepEqual(done, ["step", "undo of the step"]);
    await second.close();
  });

  test("that the definition no longer has keeps the rollback waiting for one that does", async () => {
    const place = office();
    const done: string[] = [];
    const first = place.open();
    const { id } = await setUp(done, "book")(first).start({});
    await question(place, first);
    const second = await reopen(place, first, setUp(done, "book a room"));
    await second.workflows.rollback(id, { ...STOP, after: "fail" });
    const state = await atRest(place, second, id);
    assert.equal(state.status, "rolling_back");
    assert.deepEqual(
      state.waits.map(({ kind }) => kind),
      ["definition"],
    );
    const third = await reopen(place, second, setUp(done, "book"));
    assert.partialDeepStrictEqual(await place.finish(third.workflows.result(id)), { code: "rolled_back" });
    assert.deepEqual(done, ["step", "undo of the step"]);
    await third.close();
  });
});

test("24: a cancel in the middle of a rollback withdraws the undo's question and says how far it came", async () => {
  const { place, desk, done, id, end } = await opened(async (ctx, { gated, book, mail, look }) => {
    await ctx.call(gated, { n: 1 });
    await ctx.call(mail, { n: 3 });
    await ctx.call(look, { n: 4 });
    await ctx.call(book, { n: 2 });
    await ctx.checkpoint("One");
  });
  await reject(desk, await question(place, desk));
  await question(place, desk);
  await desk.workflows.cancel(id, STOP);
  const calls = (await desk.entries(id)).flatMap(({ type, body }) =>
    type === "call.made" ? body["action"] : [],
  );
  const [gated, mail, , book] = calls;
  const result = await end();
  assert.partialDeepStrictEqual(result, { code: "cancelled", report: { undone: [book] } });
  const report = result.status === "failed" ? result.report : null;
  assert.deepEqual(
    [report?.notUndone.map(({ action }) => action), report?.irreversible.map(({ action }) => action)],
    [[gated], [mail]],
  );
  assert.equal(await desk.approvals.count(), 0);
  assert.equal(done.at(-1), "undo 2 of 20");
  await desk.close();
});

test("23: what could not be undone is on the next card and in the last report", async () => {
  const { place, desk, id, end, again } = await opened(
    async (ctx, { mail }) => {
      if (ctx.attempt === 1) await ctx.call(mail, { n: 1 });
      await ctx.checkpoint("Look");
    },
    { onIrreversible: "continue" },
  );
  await reject(desk, await question(place, desk));
  await again(2);
  await question(place, desk);
  const left = (await desk.workflows.get(id)).pending?.irreversible.map(({ tool }) => tool);
  assert.deepEqual(left, ["mail"]);
  await reject(desk, await question(place, desk), "no", { final: true });
  const result = await end();
  assert.partialDeepStrictEqual(result, { code: "rejected", report: { irreversible: [{ tool: "mail" }] } });
  await desk.close();
});

test("23: what a child declares to be undone is undone when its parent fails, though the parent declares nothing", async () => {
  const place = office();
  const desk = place.open();
  const done: string[] = [];
  const { book } = kit(desk, done);
  const child = desk.workflow("child", { rollbackEnabled: true }, async (ctx, _: object) => {
    await ctx.call(book, { n: 1 });
  });
  const flow = desk.workflow("w", {}, async (ctx, _: object) => {
    await ctx.spawn(child, {});
    await ctx.call(book, { n: 2 });
    throw new Error("no visa");
  });
  const end = await place.finish(flow.run({}));
  assert.partialDeepStrictEqual(end, { code: "error", reason: "no visa", report: { notUndone: [] } });
  assert.deepEqual(done, ["book 1", "book 2", "undo 1 of 10"]);
  await desk.close();
});

test("16: a child's checkpoint is undone as it says when its parent goes back, and reported", async () => {
  const place = office();
  const done: string[] = [];
  const setUp = (desk: Desk) => {
    const undo = { run: (outputs: object) => void done.push(`undo ${JSON.stringify(outputs)}`) };
    const checkpoints = [{ name: "Inner", requiresApproval: false, undo }];
    const grandchild = desk.workflow("grandchild", { checkpoints }, async (ctx, _: object) => {
      await ctx.checkpoint("Inner", { outputs: { a: 2 } });
    });
    const child = desk.workflow("child", { checkpoints }, async (ctx, _: object) => {
      await ctx.checkpoint("Inner", { outputs: { a: 1 } });
      await ctx.sleep(1_000);
      await ctx.spawn(grandchild, {});
    });
    return desk.workflow("w", {}, async (ctx, _: object) => {
      await ctx.spawn(child, {});
      await ctx.checkpoint("Look");
    });
  };
  const first = place.open();
  const { id } = await setUp(first).start({});
  await question(place, first);
  const second = await reopen(place, first, setUp);
  await reject(second, await question(place, second), "no", { final: true });
  const result = await place.finish(second.workflows.result(id));
  assert.deepEqual(done, ['undo {"a":2}', 'undo {"a":1}']);
  assert.equal(result.status === "failed" && result.report?.undone.length, 2);
  await second.close();
});
