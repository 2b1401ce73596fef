/** Going back: what is undone, in which order, and what comes after. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { SentBack } from "../../src/workflows/definition.ts";
import { type Body, flowOf, kit, opened, reject } from "./kit.ts";
import { ANN, atRest, type Desk, office, question, reopen, types, waiting } from "./office.ts";

describe("a rejected checkpoint", () => {
  const body: Body = async (ctx, { book, look, tidy }) => {
    await ctx.call(book, { n: 1 });
    await ctx.checkpoint("First", { outputs: { kept: "this" }, memory: { factsLearned: ["a"] } });
    await ctx.call(book, { n: 2 });
    await ctx.call(look, { n: 0 });
    await ctx.call(tidy, { n: 0 });
    await ctx.parallel([(own) => own.call(book, { n: 3 }), (own) => own.call(book, { n: 4 })]);
    await ctx.checkpoint("Second");
    return ctx.sentBack;
  };

  test("undoes what came after the last approved one, newest first, each once, and leaves alone what has nothing to undo", async () => {
    const { place, desk, done, end, again } = await opened(body);
    await desk.approvals.approve(await question(place, desk), ANN);
    await place.until(async () => done.includes("book 4"));
    await reject(desk, await question(place, desk), "too much");
    await again(2);
    assert.deepEqual(done.slice(0, 6), ["book 1", "book 2", "look 0", "tidy 0", "book 3", "book 4"]);
    const back = done.slice(6, 9);
    assert.deepEqual(back, ["undo 4 of 40", "undo 3 of 30", "undo 2 of 20"]);
    await desk.approvals.approve(await question(place, desk), ANN);
    const result = await end();
    assert.equal(result.status, "completed");
    const sentBack = (result.status === "completed" ? result.result : null) as SentBack;
    assert.partialDeepStrictEqual(sentBack, {
      rejectedCheckpoint: "Second",
      lastApprovedCheckpoint: "First",
      by: "person:ann",
      reason: "too much",
      irreversible: [],
      restored: { outputs: { kept: "this" }, memory: { factsLearned: ["a"] } },
    });
    assert.equal(sentBack.undone.length, 3);
    // The call before the approved checkpoint is answered from the journal, and was not made again.
    assert.deepEqual(done.slice(9), ["book 2", "look 0", "tidy 0", "book 3", "book 4"]);
    await desk.close();
  });

  test("goes back to the start where none was approved before, and nothing is restored", async () => {
    const { place, desk, done, end, again } = await opened(async (ctx, { book }) => {
      await ctx.call(book, { n: ctx.attempt });
      await ctx.checkpoint("Only");
      return [ctx.attempt, ctx.sentBack?.restored, ctx.sentBack?.lastApprovedCheckpoint];
    });
    await reject(desk, await question(place, desk));
    await again(2);
    await desk.approvals.approve(await question(place, desk), ANN);
    assert.partialDeepStrictEqual(await end(), { result: [2, null, null] });
    assert.deepEqual(done, ["book 1", "undo 1 of 10", "book 2"]);
    await desk.close();
  });

  test("that cannot roll back ends the workflow: what was done stays done", async () => {
    const checkpoints = [{ name: "Only", canRollback: false }];
    const { place, desk, done, id, end } = await opened(
      async (ctx, { book }) => {
        await ctx.call(book, { n: 1 });
        await ctx.checkpoint("Only");
      },
      { checkpoints },
    );
    await reject(desk, await question(place, desk), "never");
    assert.partialDeepStrictEqual(await end(), {
      status: "failed",
      code: "rejected",
      reason: "never",
      by: "person:ann",
      report: null,
    });
    assert.deepEqual(done, ["book 1"]);
    assert.ok(!types(await desk.entries(id)).includes("rollback.began"));
    await desk.close();
  });

  test("with final is undone and fails, however many attempts were left", async () => {
    const { place, desk, done, end } = await opened(async (ctx, { book }) => {
      await ctx.call(book, { n: 1 });
      await ctx.checkpoint("Only");
    });
    await reject(desk, await question(place, desk), "never", { final: true });
    const result = await end();
    assert.partialDeepStrictEqual(result, { status: "failed", code: "rejected", reason: "never" });
    assert.equal((result.status === "failed" && result.report?.undone.length) || 0, 1);
    assert.deepEqual(done, ["book 1", "undo 1 of 10"]);
    await desk.close();
  });

  test("for the last attempt is undone and fails", async () => {
    const { place, desk, done, end, again } = await opened(
      async (ctx, { book }) => {
        await ctx.call(book, { n: ctx.attempt });
        await ctx.checkpoint("Only");
      },
      { attempts: 2 },
    );
    await reject(desk, await question(place, desk), "no");
    await again(2);
    await reject(desk, await question(place, desk), "still no");
    assert.partialDeepStrictEqual(await end(), { status: "failed", code: "rejected", reason: "still no" });
    assert.deepEqual(done, ["book 1", "undo 1 of 10", "book 2", "undo 2 of 20"]);
    await desk.close();
  });

  test("withdraws what people were asked beside it, waits for what is under way, and undoes that too", async () => {
    const gate = Promise.withResolvers<void>();
    const place = office();
    const desk = place.open();
    const done: string[] = [];
    const { book, asked } = kit(desk, done);
    const slow = desk.gate({
      name: "slow",
      policy: "approve",
      undo: () => void done.push("undo slow"),
      run: async () => {
        await gate.promise;
        done.push("slow");
      },
    });
    const flow = desk.workflow("w", {}, async (ctx, _: object) => {
      if (ctx.attempt > 1) return "second";
      await ctx.parallel([
        (own) => own.call(slow, {}),
        (own) => own.call(asked, { n: 7 }),
        (own) => own.ask("colour", "Which?"),
        async (own) => {
          await own.call(book, { n: 1 });
          await own.sleep(1_000);
          await own.checkpoint("Only");
        },
      ]);
      return "first";
    });
    const { id } = await flow.start({});
    const open = await waiting(place, desk, 3);
    const { pending } = await desk.workflows.get(id);
    await reject(desk, pending?.approval ?? "");
    await place.pass(5_000);
    assert.deepEqual(done, ["book 1"]);
    assert.equal((await desk.workflows.get(id)).status, "rolling_back");
    gate.resolve();
    assert.partialDeepStrictEqual(await place.finish(desk.workflows.result(id)), {
      status: "completed",
      result: "second",
    });
    assert.deepEqual(done.slice(1).sort(), ["slow", "undo 1 of 10", "undo slow"]);
    for (const one of open) {
      const { status } = await desk.approvals.get(one);
      assert.equal(status, one === pending?.approval ? "rejected" : "cancelled");
    }
    await desk.close();
  });
});

describe("an effect that cannot be undone", () => {
  const body: Body = async (ctx, { book, mail }) => {
    await ctx.call(book, { n: 1 });
    await ctx.call(mail, { n: 2 });
    await ctx.checkpoint("Only");
    return ctx.sentBack?.irreversible.length;
  };

  test("is shown before anybody rejects, and a rejection fails with a report of what is left", async () => {
    const { place, desk, done, id, end } = await opened(body);
    const asked = await question(place, desk);
    const { pending } = await desk.workflows.get(id);
    assert.deepEqual(
      pending?.irreversible.map(({ tool }) => tool),
      ["mail"],
    );
    await reject(desk, asked, "no");
    const result = await end();
    assert.partialDeepStrictEqual(result, {
      status: "failed",
      code: "rollback_failed",
      report: { irreversible: [{ tool: "mail" }], notUndone: [] },
    });
    assert.match(JSON.stringify(result), /not everything could be undone: act_/);
    assert.deepEqual(done, ["book 1", "mail 2", "undo 1 of 10"]);
    await desk.close();
  });

  test("with onIrreversible continue is told to the next attempt", async () => {
    const { place, desk, end, again } = await opened(body, { onIrreversible: "continue" });
    await reject(desk, await question(place, desk));
    await again(2);
    await desk.approvals.approve(await question(place, desk), ANN);
    assert.partialDeepStrictEqual(await end(), { status: "completed", result: 1 });
    await desk.close();
  });
});

describe("an undo", () => {
  test("that policy escalates asks a person first, and waits without being run", async () => {
    const place = office();
    const done: string[] = [];
    const body: Body = async (ctx, { gated }) => {
      await ctx.call(gated, { n: ctx.attempt });
      await ctx.checkpoint("Only");
      return ctx.attempt;
    };
    const first = place.open();
    const { id } = await flowOf(first, done, body).start({});
    await reject(first, await question(place, first));
    const state = await atRest(place, first, id);
    assert.equal(state.status, "rolling_back");
    assert.deepEqual(
      state.waits.map(({ kind }) => kind),
      ["approval"],
    );
    const second = await reopen(place, first, (desk) => flowOf(desk, done, body));
    const asked = await question(place, second);
    assert.equal((await second.approvals.get(asked)).tool, "gated.undo");
    assert.deepEqual(done, ["gated 1"]);
    await second.approvals.approve(asked, ANN);
    await place.until(async () => (await second.workflows.get(id)).attempt === 2);
    await second.approvals.approve(await question(place, second), ANN);
    assert.partialDeepStrictEqual(await place.finish(second.workflows.result(id)), { result: 2 });
    assert.deepEqual(done, ["gated 1", "undo 1 of 10", "gated 2"]);
    await second.close();
  });

  test("of a step is a function of the definition's own, found again by a new process", async () => {
    const place = office();
    const done: string[] = [];
    const setUp = (desk: Desk) =>
      desk.workflow("w", {}, async (ctx, _: object) => {
        const folder = await ctx.step("name", () => "f1");
        await ctx.step(
          "make",
          { undo: (result: { path: string }) => void done.push(`remove ${result.path} in ${folder}`) },
          () => {
            done.push("make");
            return { path: "/tmp/x" };
          },
        );
        await ctx.checkpoint("Only");
        return ctx.attempt;
      });
    const first = place.open();
    const { id } = await setUp(first).start({});
    const asked = await question(place, first);
    await atRest(place, first, id);
    first.crash();
    const people = place.open({ agent: "people" });
    await reject(people, asked);
    const second = place.open();
    setUp(second);
    await second.work();
    await place.until(async () => (await second.workflows.get(id)).attempt === 2);
    await second.approvals.approve(await question(place, second), ANN);
    assert.partialDeepStrictEqual(await place.finish(second.workflows.result(id)), { result: 2 });
    assert.deepEqual(done, ["make", "remove /tmp/x in f1", "make"]);
    await second.close();
  });

  test("of a checkpoint comes before those of the tools that led to it", async () => {
    const done: string[] = [];
    const checkpoints = [
      {
        name: "Only",
        undo: { run: (outputs: object) => void done.push(`checkpoint ${JSON.stringify(outputs)}`) },
      },
    ];
    const {
      place,
      desk,
      done: tools,
      end,
      again,
    } = await opened(
      async (ctx, { book }) => {
        await ctx.call(book, { n: 1 });
        done.push("booked");
        await ctx.checkpoint("Only", { outputs: { n: 5 } });
        return ctx.attempt;
      },
      { checkpoints },
    );
    await reject(desk, await question(place, desk));
    await again(2);
    await desk.approvals.approve(await question(place, desk), ANN);
    await end();
    assert.deepEqual(
      done.filter((line) => line.startsWith("checkpoint")),
      ['checkpoint {"n":5}'],
    );
    assert.deepEqual(tools, ["book 1", "undo 1 of 10", "book 1"]);
    await desk.close();
  });
});

describe("an effect in doubt in the range", () => {
  for (const status of ["applied", "not_applied"] as const)
    test(`is waited for: nothing is undone until it is resolved as ${status}`, async () => {
      const place = office();
      const desk = place.open();
      const done: string[] = [];
      const { book } = kit(desk, done);
      const wire = desk.gate({
        name: "wire",
        policy: "approve",
        undo: () => void done.push("undo wire"),
        run: () => {
          throw new Error("connection reset");
        },
      });
      const flow = desk.workflow("w", {}, async (ctx, _: object) => {
        await ctx.call(book, { n: ctx.attempt });
        if (ctx.attempt === 1) await ctx.call(wire, {}, { continueInDoubt: true });
        await ctx.checkpoint("Only");
        return ctx.attempt;
      });
      const { id } = await flow.start({});
      await reject(desk, await question(place, desk));
      const state = await atRest(place, desk, id);
      assert.equal(state.status, "rolling_back");
      assert.equal(state.waits[0]?.kind, "doubt");
      await place.pass(10_000);
      assert.deepEqual(done, ["book 1"]);
      await desk.actions.resolve(state.waits[0]?.on ?? "", { status, ...ANN, reason: "the bank says so" });
      await place.until(async () => (await desk.workflows.get(id)).attempt === 2);
      await desk.approvals.approve(await question(place, desk), ANN);
      await place.finish(desk.workflows.result(id));
      const wired = status === "applied" ? ["undo wire"] : [];
      assert.deepEqual(done, ["book 1", ...wired, "undo 1 of 10", "book 2"]);
      await desk.close();
    });
});
