/** What programs and operators do with workflows from outside: find, look back, fork, cancel. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { isHoldpointError } from "../../src/kernel/errors.ts";
import { type Body, flowOf, opened, reject } from "./kit.ts";
import { ANN, atRest, BOB, type Desk, office, question, reopen, types } from "./office.ts";

const body: Body = async (ctx, { book }) => {
  await ctx.call(book, { n: 1 });
  await ctx.checkpoint("One", { outputs: { at: 1 } });
  const told = await ctx.ask<{ n: number }>("n", "How many?", { suggestion: { n: 2 } });
  await ctx.call(book, { n: told.answered ? told.answer.n : 0 });
  await ctx.checkpoint("Two");
  return told.answered ? told.answer.n : 0;
};

describe("a fork", () => {
  test("goes on where its origin passed a checkpoint, repeats no effect, and ends by itself", async () => {
    const { place, desk, done, id, end } = await opened(body);
    await desk.approvals.approve(await question(place, desk), ANN);
    await desk.approvals.approve(await question(place, desk), ANN);
    await place.until(async () => (await desk.workflows.get(id)).pending?.name === "Two");
    const fork = await desk.workflows.fork(id, { at: "One" });
    const asked = await place.until(async () => {
      const { items } = await desk.approvals.list();
      return items.find(({ tool }) => tool === "n")?.id;
    });
    await desk.approvals.approve(asked, { ...ANN, edit: { n: 7 } });
    await place.until(async () => (await desk.workflows.get(fork)).pending?.name === "Two");
    assert.deepEqual(done, ["book 1", "book 2", "book 7"]);
    const { pending } = await desk.workflows.get(fork);
    await desk.approvals.approve(pending?.approval ?? "", ANN);
    assert.partialDeepStrictEqual(await place.finish(desk.workflows.result(fork)), { result: 7 });
    const { pending: own } = await desk.workflows.get(id);
    await desk.approvals.approve(own?.approval ?? "", ANN);
    assert.partialDeepStrictEqual(await end(), { result: 2 });
    assert.partialDeepStrictEqual((await desk.workflows.get(fork)).fork, { workflow: id, checkpoint: "One" });
    await place.finish(desk.close());
  });

  test("that is sent back undoes its own effects and none of its origin's, in any process", async () => {
    const place = office();
    const done: string[] = [];
    const first = place.open();
    const { id } = await flowOf(first, done, body).start({});
    await first.approvals.approve(await question(place, first), ANN);
    await first.approvals.approve(await question(place, first), ANN);
    await place.until(async () => (await first.workflows.get(id)).pending?.name === "Two");
    const fork = await first.workflows.fork(id, { at: "One" });
    const asked = await place.until(async () => {
      const { items } = await first.approvals.list();
      return items.find(({ tool }) => tool === "n")?.id;
    });
    await first.approvals.approve(asked, ANN);
    await place.until(async () => (await first.workflows.get(fork)).pending?.name === "Two");
    await atRest(place, first, fork);
    const second = await reopen(place, first, (desk) => flowOf(desk, done, body));
    const { pending } = await second.workflows.get(fork);
    await reject(second, pending?.approval ?? "", "no", { final: true });
    assert.partialDeepStrictEqual(await place.finish(second.workflows.result(fork)), {
      status: "failed",
      code: "rejected",
    });
    assert.deepEqual(done, ["book 1", "book 2", "book 2", "undo 2 of 20"]);
    const { pending: own } = await second.workflows.get(id);
    await second.approvals.approve(own?.approval ?? "", ANN);
    assert.partialDeepStrictEqual(await place.finish(second.workflows.result(id)), { status: "completed" });
    await second.close();
  });

  test("of a checkpoint that was not passed is refused, and says which there are", async () => {
    const { place, desk, id } = await opened(body);
    await question(place, desk);
    await assert.rejects(
      desk.workflows.fork(id, { at: "One" }),
      /has passed no checkpoint "One".*passed none/,
    );
    await desk.approvals.approve(await question(place, desk), ANN);
    await assert.rejects(desk.workflows.fork(id, { at: "Two" }), /It has passed "One"/);
    await place.finish(desk.close());
  });
});

describe("before a workflow is rolled back", () => {
  test("a call without an undo is not said to be undone, also if the workflow undoes all on failure", async () => {
    const waiting: Body = async (ctx, { book, mail, tidy }) => {
      for (const tool of [book, mail, tidy]) await ctx.call(tool, { n: 1 });
      await ctx.ask("n", "How many?");
    };
    const { place, desk, id } = await opened(waiting, { rollbackEnabled: true });
    await question(place, desk);
    const { targets } = await desk.workflows.rollbackOutlook(id);
    const undo = targets[0]?.calls.map(({ tool, undo: can }) => [tool, can]);
    assert.deepEqual(Object.fromEntries(undo ?? []), { book: "yes", mail: "no", tidy: "nothing" });
    await place.finish(desk.close());
  });
});

describe("a workflow as it stood", () => {
  test("after every entry is the fold of the entries until then; at the last one it is what stands now", async () => {
    const { place, desk, id, end } = await opened(body);
    await reject(desk, await question(place, desk));
    await place.until(async () => (await desk.workflows.get(id)).attempt === 2);
    await desk.approvals.approve(await question(place, desk), ANN);
    await desk.approvals.approve(await question(place, desk), ANN);
    await place.until(async () => (await desk.workflows.get(id)).pending?.name === "Two");
    await desk.approvals.approve(await question(place, desk), ANN);
    await end();
    const entries = await desk.entries(id);
    const seen: string[] = [];
    for (const { seq, at } of entries) {
      const stood = await desk.workflows.at(id, { seq });
      assert.equal(stood.seq, seq);
      assert.ok((await desk.workflows.at(id, { time: at })).seq >= seq);
      if (seen.at(-1) !== stood.status) seen.push(stood.status);
    }
    assert.deepEqual(seen, [
      "initialized",
      "executing",
      "awaiting_approval",
      "rolling_back",
      "executing",
      "awaiting_approval",
      "executing",
      "awaiting_approval",
      "executing",
      "settling",
      "completed",
    ]);
    assert.deepEqual(await desk.workflows.at(id, { seq: entries.length }), await desk.workflows.get(id));
    await assert.rejects(desk.workflows.at(id, { time: 1 }), /did not exist at that time/);
    await place.finish(desk.close());
  });
});

describe("jobs", () => {
  test("are the whole, one approval for each time a checkpoint was reached, and the settlement", async () => {
    const { place, desk, id, end } = await opened(body);
    const first = await question(place, desk);
    assert.deepEqual(
      (await desk.workflows.jobs(id)).map(({ kind, status }) => `${kind} ${status}`),
      ["main open", "approval open"],
    );
    await reject(desk, first, "once more");
    await place.until(async () => (await desk.workflows.get(id)).attempt === 2);
    for (let left = 3; left > 0; left--) {
      await desk.approvals.approve(await question(place, desk), ANN);
      await place.pass(500);
    }
    await end();
    const jobs = await desk.workflows.jobs(id);
    assert.deepEqual(
      jobs.map(({ kind, name, status, reason }) => [kind, name, status, reason]),
      [
        ["main", "w", "completed", ""],
        ["approval", "One", "rejected", "once more"],
        ["approval", "One", "completed", ""],
        ["approval", "Two", "completed", ""],
        ["settlement", "settlement", "completed", ""],
      ],
    );
    assert.equal(new Set(jobs.map(({ id: job }) => job)).size, jobs.length);
    assert.ok(jobs.every(({ kind, artifactUri }) => (kind === "approval") === (artifactUri !== null)));
    await place.finish(desk.close());
  });
});

describe("a request id", () => {
  const setUp = (desk: Desk, ran: number[]) =>
    desk.workflow("w", {}, (ctx, { n }: { n: number }) =>
      ctx.step("work", () => {
        ran.push(n);
        return n;
      }),
    );

  test("leads to the same workflow, for ever and in every process", async () => {
    const place = office();
    const ran: number[] = [];
    const first = place.open();
    const flow = setUp(first, ran);
    const one = await flow.start({ n: 1 }, { requestId: "r" });
    const two = await flow.start({ n: 1 }, { requestId: "r" });
    assert.equal(one.id, two.id);
    await place.finish(one.result());
    await first.close();
    const second = place.open();
    const three = await setUp(second, ran).start({ n: 1 }, { requestId: "r" });
    assert.equal(three.id, one.id);
    assert.partialDeepStrictEqual(await place.finish(three.result()), { result: 1 });
    assert.deepEqual(ran, [1]);
    await second.close();
  });

  test("with another input is a conflict: nothing is started", async () => {
    const place = office();
    const desk = place.open();
    const flow = setUp(desk, []);
    const { id } = await flow.start({ n: 1 }, { requestId: "r" });
    await assert.rejects(flow.start({ n: 2 }, { requestId: "r" }), (error) => {
      assert.ok(isHoldpointError(error, "request_conflict"));
      assert.match(error.message, new RegExp(id));
      return true;
    });
    assert.equal((await desk.workflows.list()).items.length, 1);
    await place.finish(desk.close());
  });

  test("is none of an action's: both may have the same", async () => {
    const place = office();
    const desk = place.open();
    const tool = desk.gate({ name: "t", policy: "approve", run: () => "ran" });
    assert.partialDeepStrictEqual(await tool({}, { requestId: "r" }), { status: "done" });
    assert.partialDeepStrictEqual(await place.finish(setUp(desk, []).run({ n: 1 }, { requestId: "r" })), {
      result: 1,
    });
    await place.finish(desk.close());
  });
});

describe("cancelling", () => {
  test("while a step runs lets nothing after it begin", async () => {
    const place = office();
    const desk = place.open();
    const gate = Promise.withResolvers<void>();
    const ran: string[] = [];
    const flow = desk.workflow("w", {}, async (ctx, _: object) => {
      await ctx.step("one", async () => {
        ran.push("one");
        await gate.promise;
      });
      await ctx.step("two", () => void ran.push("two"));
    });
    const handle = await flow.start({});
    await place.until(async () => ran.length === 1);
    await desk.workflows.cancel(handle.id, { ...BOB, reason: "stop" });
    gate.resolve();
    assert.partialDeepStrictEqual(await place.finish(handle.result()), {
      status: "failed",
      code: "cancelled",
    });
    await place.pass(2_000);
    assert.deepEqual(ran, ["one"]);
    assert.ok(!types(await desk.entries(handle.id)).includes("step.completed"));
    await place.finish(desk.close());
  });

  test("in the middle of a rollback leaves what is not undone", async () => {
    const { place, desk, done, id, end } = await opened(async (ctx, { gated, book }) => {
      await ctx.call(gated, { n: 1 });
      await ctx.call(book, { n: 2 });
      await ctx.checkpoint("Only");
    });
    await reject(desk, await question(place, desk));
    await question(place, desk);
    await desk.workflows.cancel(id, { ...BOB, reason: "leave it" });
    assert.partialDeepStrictEqual(await end(), { status: "failed", code: "cancelled" });
    await place.pass(2_000);
    assert.deepEqual(done, ["gated 1", "book 2", "undo 2 of 20"]);
    assert.equal(await desk.approvals.count(), 0);
    await place.finish(desk.close());
  });

  test("needs somebody and a reason", async () => {
    const { place, desk, id } = await opened(body);
    await assert.rejects(desk.workflows.cancel(id, { by: "ann", reason: "x" }), /not a principal/);
    await assert.rejects(desk.workflows.cancel(id, { ...ANN, reason: " " }), /reason/);
    await assert.rejects(
      desk.workflows.cancel("wf_00000000000000000000000001", { ...ANN, reason: "x" }),
      /There is no workflow/,
    );
    await place.finish(desk.close());
  });
});
