/** Workflows that start workflows. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { ChildFailed } from "../../src/workflows/run/wait.ts";
import { kit, reject } from "./kit.ts";
import { ANN, atRest, type Desk, office, question, reopen, types, waiting } from "./office.ts";

function family(desk: Desk, done: string[], rollbackEnabled?: boolean) {
  const tools = kit(desk, done);
  const options = rollbackEnabled === undefined ? {} : { rollbackEnabled };
  const grandchild = desk.workflow("grandchild", {}, async (ctx, { n }: { n: number }) => {
    await ctx.call(tools.book, { n });
    return n;
  });
  const child = desk.workflow("child", options, async (ctx, { n }: { n: number }) => {
    await ctx.call(tools.book, { n });
    await ctx.spawn(grandchild, { n: n + 1 });
    await ctx.step("folder", { undo: () => void done.push("remove folder"), effect: "idempotent" }, () => {
      done.push("make folder");
      return 1;
    });
    return n * 2;
  });
  return { ...tools, child, grandchild };
}

describe("a child", () => {
  test("is created once, knows its parent, and its answer comes back", async () => {
    const place = office();
    const done: string[] = [];
    const setUp = (desk: Desk) => {
      const { child } = family(desk, done);
      return desk.workflow("parent", {}, async (ctx, _: object) => {
        const two = await ctx.spawn(child, { n: 1 });
        await ctx.sleep(5_000);
        return two;
      });
    };
    const first = place.open();
    const { id } = await setUp(first).start({});
    await atRest(place, first, id);
    const second = await reopen(place, first, setUp);
    assert.partialDeepStrictEqual(await place.finish(second.workflows.result(id)), { result: 2 });
    const { items } = await second.workflows.list();
    assert.deepEqual(items.map(({ name }) => name).sort(), ["child", "grandchild", "parent"]);
    const child = items.find(({ name }) => name === "child");
    const lineage = (await second.workflows.get(String(child?.id))).parent;
    assert.deepEqual(lineage, { workflow: id, op: `${id}/1//child#1`, above: [] });
    const below = items.find(({ name }) => name === "grandchild");
    const far = (await second.workflows.get(String(below?.id))).parent;
    assert.partialDeepStrictEqual(far, { workflow: String(child?.id), above: [id] });
    assert.deepEqual(done, ["book 1", "book 2", "make folder"]);
    await second.close();
  });

  test("that fails throws ChildFailed at its parent, which may go on", async () => {
    const place = office();
    const desk = place.open();
    const bad = desk.workflow("bad", {}, async () => {
      throw new Error("out of stock");
    });
    const flow = desk.workflow("parent", {}, async (ctx, _: object) => {
      const error = await ctx.spawn(bad, {}).catch((thrown: unknown) => thrown);
      assert.ok(error instanceof ChildFailed);
      assert.equal(error.code, "child_failed");
      assert.match(error.workflow, /^wf_/);
      return error.message;
    });
    const result = await place.finish(flow.run({}));
    assert.match(JSON.stringify(result), /"completed".*The workflow wf_\w+ failed: out of stock/);
    await desk.close();
  });

  test("of a parent that is sent back is undone with it, in reverse order, steps and grandchildren too", async () => {
    const place = office();
    const done: string[] = [];
    const setUp = (desk: Desk) => {
      const { child, book } = family(desk, done);
      return desk.workflow("parent", {}, async (ctx, _: object) => {
        await ctx.call(book, { n: 7 });
        await ctx.spawn(child, { n: 1 });
        await ctx.call(book, { n: 8 });
        await ctx.checkpoint("Only");
        return ctx.attempt;
      });
    };
    const first = place.open();
    const { id } = await setUp(first).start({});
    await question(place, first);
    await atRest(place, first, id);
    const second = await reopen(place, first, setUp);
    await reject(second, await question(place, second));
    await place.until(async () => (await second.workflows.get(id)).attempt === 2);
    assert.deepEqual(done.slice(0, 5), ["book 7", "book 1", "book 2", "make folder", "book 8"]);
    assert.deepEqual(done.slice(5, 10), [
      "undo 8 of 80",
      "remove folder",
      "undo 2 of 20",
      "undo 1 of 10",
      "undo 7 of 70",
    ]);
    await second.approvals.approve(await question(place, second), ANN);
    assert.partialDeepStrictEqual(await place.finish(second.workflows.result(id)), { result: 2 });
    assert.equal(done.length, 15);
    await second.close();
  });

  test("that still runs when its parent is sent back is cancelled, with what it asked", async () => {
    const place = office();
    const desk = place.open();
    const done: string[] = [];
    const { book, asked } = kit(desk, done);
    const child = desk.workflow("child", {}, async (ctx, _: object) => {
      await ctx.call(book, { n: 1 });
      await ctx.parallel([(own) => own.call(asked, { n: 2 }), (own) => own.ask("q", "Well?")]);
    });
    const flow = desk.workflow("parent", {}, async (ctx, _: object) => {
      if (ctx.attempt > 1) return ctx.attempt;
      await ctx.parallel([(own) => own.spawn(child, {}), (own) => own.checkpoint("Only")]);
      return "never";
    });
    const { id } = await flow.start({});
    await waiting(place, desk, 3);
    const { pending } = await desk.workflows.get(id);
    await reject(desk, pending?.approval ?? "");
    assert.partialDeepStrictEqual(await place.finish(desk.workflows.result(id)), {
      status: "completed",
      result: 2,
    });
    await place.pass(2_000);
    assert.deepEqual(done, ["book 1", "undo 1 of 10"]);
    assert.equal(await desk.approvals.count(), 0);
    const { items } = await desk.workflows.list({ status: "failed" });
    assert.deepEqual(
      items.map(({ name }) => name),
      ["child"],
    );
    await desk.close();
  });

  test("that failed and undid its own is not undone again by its parent", async () => {
    const place = office();
    const desk = place.open();
    const done: string[] = [];
    const { book } = kit(desk, done);
    const child = desk.workflow("child", { rollbackEnabled: true }, async (ctx, _: object) => {
      await ctx.call(book, { n: 1 });
      throw new Error("out of stock");
    });
    const flow = desk.workflow("parent", { rollbackEnabled: true }, async (ctx, _: object) => {
      await ctx.call(book, { n: 2 });
      await ctx.spawn(child, {});
    });
    assert.partialDeepStrictEqual(await place.finish(flow.run({})), { status: "failed", code: "error" });
    assert.deepEqual(done, ["book 2", "book 1", "undo 1 of 10", "undo 2 of 20"]);
    await desk.close();
  });

  for (const [what, own, expected] of [
    ["is undone with a parent that has rollbackEnabled", undefined, ["undo 2 of 20", "undo 1 of 10"]],
    ["that says otherwise is left alone by it", false, ["undo 2 of 20"]],
  ] as const)
    test(what, async () => {
      const place = office();
      const desk = place.open();
      const done: string[] = [];
      const { book } = kit(desk, done);
      const options = own === undefined ? {} : { rollbackEnabled: own };
      const child = desk.workflow("child", options, (ctx, _: object) => ctx.call(book, { n: 1 }));
      const flow = desk.workflow("parent", { rollbackEnabled: true }, async (ctx, _: object) => {
        await ctx.spawn(child, {});
        await ctx.call(book, { n: 2 });
        throw new Error("no");
      });
      assert.partialDeepStrictEqual(await place.finish(flow.run({})), { status: "failed", code: "error" });
      assert.deepEqual(done, ["book 1", "book 2", ...expected]);
      await desk.close();
    });

  test("whose effect cannot be undone is shown at its parent's checkpoint before anybody rejects", async () => {
    const place = office();
    const desk = place.open();
    const { mail } = kit(desk, []);
    const child = desk.workflow("child", {}, (ctx, _: object) => ctx.call(mail, { n: 1 }));
    const flow = desk.workflow("parent", {}, async (ctx, _: object) => {
      await ctx.spawn(child, {});
      await ctx.checkpoint("Only");
    });
    const { id } = await flow.start({});
    const asked = await question(place, desk);
    const { pending } = await desk.workflows.get(id);
    assert.deepEqual(
      pending?.irreversible.map(({ tool }) => tool),
      ["mail"],
    );
    await reject(desk, asked);
    assert.partialDeepStrictEqual(await place.finish(desk.workflows.result(id)), {
      status: "failed",
      code: "rollback_failed",
      report: { irreversible: [{ tool: "mail" }] },
    });
    await desk.close();
  });
});

describe("a child that failed and could not undo everything", () => {
  const setUp = (desk: Desk, done: string[]) => {
    const { book, mail } = kit(desk, done);
    const child = desk.workflow("child", {}, async (ctx, { mails }: { mails: boolean }) => {
      await ctx.call(book, { n: 1 });
      await ctx.call(book, { n: 2 }, { rollbackEnabled: true });
      if (mails) await ctx.call(mail, { n: 3 }, { rollbackEnabled: true });
      throw new Error("out of stock");
    });
    return desk.workflow("parent", {}, async (ctx, input: { mails: boolean }) => {
      if (ctx.attempt > 1) return "second";
      await ctx.spawn(child, input).catch(() => undefined);
      await ctx.checkpoint("Only");
      return "first";
    });
  };

  test("is undone by its parent as far as it was not, and no effect twice", async () => {
    const place = office();
    const desk = place.open();
    const done: string[] = [];
    const { id } = await setUp(desk, done).start({ mails: false });
    await reject(desk, await question(place, desk));
    assert.partialDeepStrictEqual(await place.finish(desk.workflows.result(id)), { result: "second" });
    assert.deepEqual(done, ["book 1", "book 2", "undo 2 of 20", "undo 1 of 10"]);
    await desk.close();
  });

  test("stands in its parent's report too", async () => {
    const place = office();
    const desk = place.open();
    const { id } = await setUp(desk, []).start({ mails: true });
    await reject(desk, await question(place, desk));
    assert.partialDeepStrictEqual(await place.finish(desk.workflows.result(id)), {
      status: "failed",
      code: "rollback_failed",
      report: { irreversible: [{ tool: "mail" }] },
    });
    await desk.close();
  });
});

test("cancelling a parent cancels its children and withdraws whatever any of them asked", async () => {
  const place = office();
  const desk = place.open();
  const done: string[] = [];
  const { asked } = kit(desk, done);
  const child = desk.workflow("child", {}, (ctx, _: object) => ctx.checkpoint("Child's"));
  const flow = desk.workflow("parent", {}, (ctx, _: object) =>
    ctx.parallel([
      (own) => own.spawn(child, {}),
      (own) => own.call(asked, { n: 1 }),
      (own) => own.ask("q", "Well?"),
      (own) => own.sleep(1e9),
    ]),
  );
  const { id } = await flow.start({});
  const open = await waiting(place, desk, 3);
  assert.equal(await desk.workflows.cancel(id, { ...ANN, reason: "not needed" }), "failed");
  assert.equal(await desk.workflows.cancel(id, { ...ANN, reason: "not needed" }), "failed");
  assert.partialDeepStrictEqual(await place.finish(desk.workflows.result(id)), {
    status: "failed",
    code: "cancelled",
    reason: "not needed",
    by: "person:ann",
  });
  for (const one of open) assert.equal((await desk.approvals.get(one)).status, "cancelled");
  const { items } = await desk.workflows.list();
  assert.deepEqual(items.map(({ name, status }) => `${name} ${status}`).sort(), [
    "child failed",
    "parent failed",
  ]);
  await place.pass(3_000);
  assert.deepEqual(done, []);
  assert.equal(types(await desk.entries(id)).filter((type) => type === "workflow.failed").length, 1);
  await desk.close();
});

test("a person ends a doubt of a child, however many workflows are above it", async () => {
  const place = office();
  const desk = place.open();
  const lost = desk.gate({
    name: "lost",
    policy: "approve",
    run: () => Promise.reject(new Error("no answer")),
  });
  type Below = { readonly levels: number };
  const deep = desk.workflow("deep", {}, async (ctx, { levels }: Below): Promise<unknown> => {
    if (levels > 0) return ctx.spawn(deep, { levels: levels - 1 });
    return (await ctx.call(lost, {})).status;
  });
  const { id } = await deep.start({ levels: 10 });
  const doubt = await place.until(async () => (await desk.actions.list({ phase: "in_doubt" })).items[0]);
  const action = await desk.actions.get(doubt.id);
  assert.ok(action.phase === "in_doubt" && action.effect !== null);
  await desk.actions.resolve(action.effect.id, { ...ANN, status: "not_applied", reason: "not on the list" });
  assert.partialDeepStrictEqual(await place.finish(desk.workflows.result(id)), { result: "failed" });
  await desk.close();
});
