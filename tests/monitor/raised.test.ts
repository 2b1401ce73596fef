import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { MonitorRule } from "../../src/alerts/rules/monitor-rule.ts";
import { deaths, told as deathWords, dieAt } from "../workflows/death.ts";
import { type Body, flowOf, opened, reject } from "../workflows/kit.ts";
import { ANN, atRest, type Desk, office, question, reopen, types, waiting } from "../workflows/office.ts";
import { allAlerts, countOf, noticesOf, standing, watch } from "./watching.ts";

/** Stops a workflow after so many operations. */
const after = (operations: number, more: Partial<MonitorRule> = {}): MonitorRule =>
  ({
    kind: "resources",
    name: "long",
    operations: operations - 1,
    raise: "checkpoint",
    ...more,
  }) as MonitorRule;

const five: Body = async (ctx, { book }) => {
  const values: number[] = [];
  for (let n = 1; n <= 5; n++) {
    const answer = await ctx.call(book, { n });
    values.push(answer.status === "done" ? (answer.result?.n ?? 0) : 0);
    // The monitor gets its turn between two operations.
    await ctx.sleep(500);
  }
  return values;
};

async function stopped(body: Body, rule: MonitorRule) {
  const place = office();
  const desk = place.open();
  const monitor = await watch(desk, [rule]);
  const done: string[] = [];
  const flow = flowOf(desk, done, body);
  const { id } = await flow.start({});
  const approval = await question(place, desk);
  return { place, desk, monitor, done, id, approval };
}

describe("a checkpoint that a monitor raises", () => {
  test("stops the workflow before its next operation, says why, and lets it go on as if nothing had been", async () => {
    const { place, desk, done, id, approval } = await stopped(five, after(3));
    const state = await atRest(place, desk, id);
    assert.equal(state.status, "awaiting_approval");
    assert.equal(state.pending?.monitor, "watch");
    const before = [...done];
    assert.ok(before.length < 5);
    await place.pass(5_000);
    assert.deepEqual(done, before, "nothing begins while it waits");
    const asked = await desk.approvals.get(approval);
    assert.partialDeepStrictEqual(asked, { status: "pending", tool: "watch: long", rationale: null });
    assert.match(asked.reason, /it has used \d operations, over 2 operations/);
    const snapshot = await desk.workflows.snapshot(id, "watch: long");
    assert.partialDeepStrictEqual(snapshot, {
      approval_interface: { context: { rule: "long", figures: { limit: 2 } } },
    });
    const [alert] = await allAlerts(desk);
    assert.equal(alert?.approval, approval);
    assert.equal(noticesOf(desk, "waiting").filter((one) => one.approval === approval).length, 1);
    await desk.approvals.approve(approval, { ...ANN, note: "go on" });
    const end = await place.finish(desk.workflows.result(id));
    assert.deepEqual(end.status === "completed" && end.result, [10, 20, 30, 40, 50]);
    assert.deepEqual(
      done,
      [1, 2, 3, 4, 5].map((n) => `book ${n}`),
    );
    assert.equal(
      await countOf(desk, "checkpoint.raised"),
      1,
      "approved once, it goes on without being asked again",
    );
    assert.deepEqual((await desk.workflows.get(id)).passed, [], "nothing leads back there");
    await place.finish(desk.close());
  });

  test("is told among what happened, as a job, and in the journal", async () => {
    const { place, desk, id, approval } = await stopped(five, after(3));
    await desk.approvals.approve(approval, ANN);
    await place.finish(desk.workflows.result(id));
    const row = (await desk.workflows.timeline(id)).find(({ kind }) => kind === "checkpoint");
    assert.partialDeepStrictEqual(row, {
      name: "watch: long",
      ref: approval,
      status: "approved",
      by: ["person:ann"],
    });
    const job = (await desk.workflows.jobs(id)).find(({ kind }) => kind === "approval");
    assert.partialDeepStrictEqual(job, { name: "watch: long", status: "completed" });
    const records = await desk.journal.read(id);
    assert.ok(records.some(({ stream }) => stream === `approval/${approval}`));
    const { findings } = await desk.journal.verify();
    assert.deepEqual(findings, []);
    await place.finish(desk.close());
  });

  test("rejected, sends it back to the last checkpoint that was approved, and the definition is told so", async () => {
    const told: unknown[] = [];
    const body: Body = async (ctx, { book }) => {
      await ctx.call(book, { n: 1 });
      await ctx.checkpoint("Plan");
      if (ctx.sentBack !== null) told.push(ctx.attempt, ctx.sentBack.rejectedCheckpoint, ctx.sentBack.reason);
      await ctx.call(book, { n: 2 });
      await ctx.sleep(1_000);
      await ctx.call(book, { n: 3 });
      return ctx.attempt;
    };
    const place = office();
    const desk = place.open();
    await watch(desk, [after(4)]);
    const done: string[] = [];
    const { id } = await flowOf(desk, done, body).start({});
    await desk.approvals.approve(await question(place, desk), ANN);
    await standing(place, desk);
    await reject(desk, await question(place, desk), "too much at once");
    const end = await place.finish(desk.workflows.result(id));
    assert.equal(end.status === "completed" && end.result, 2);
    assert.deepEqual(done, ["book 1", "book 2", "undo 2 of 20", "book 2", "book 3"]);
    assert.deepEqual(told.slice(0, 3), [2, "watch: long", "too much at once"]);
    await place.finish(desk.close());
  });

  test("rejected for good, undoes what was done and fails", async () => {
    const { place, desk, done, id, approval } = await stopped(five, after(3));
    await reject(desk, approval, "no", { final: true });
    const end = await place.finish(desk.workflows.result(id));
    assert.partialDeepStrictEqual(end, { status: "failed", code: "rejected" });
    assert.equal(done.filter((one) => one.startsWith("undo")).length, done.length / 2);
    await place.finish(desk.close());
  });

  test("shows what a rejection could not take back", async () => {
    const body: Body = async (ctx, { mail, book }) => {
      await ctx.call(mail, { n: 1 });
      await ctx.call(book, { n: 2 });
      await ctx.sleep(1_000);
      return ctx.step("end", () => 1);
    };
    const { place, desk, id } = await stopped(body, after(3));
    const { pending } = await desk.workflows.get(id);
    assert.deepEqual(
      pending?.irreversible.map(({ tool }) => tool),
      ["mail"],
    );
    await place.finish(desk.close());
  });

  test("cannot be edited: nobody would get what was changed", async () => {
    const { place, desk, approval } = await stopped(five, after(3));
    await assert.rejects(desk.approvals.approve(approval, { ...ANN, edit: { n: 1 } }), /nothing to edit/);
    assert.equal((await desk.approvals.get(approval)).status, "pending");
    await place.finish(desk.close());
  });

  test("waits while its process dies, and while another one has no definition of it", async () => {
    const { place, desk, done, id, approval } = await stopped(five, after(3));
    const next = await reopen(place, desk, (other) => flowOf(other, done, five));
    await place.pass(10_000);
    const state = await atRest(place, next, id);
    assert.equal(state.status, "awaiting_approval");
    assert.equal(state.runner, null, "nobody holds it");
    await next.approvals.approve(approval, ANN);
    const end = await place.finish(next.workflows.result(id));
    assert.deepEqual(end.status === "completed" && end.result, [10, 20, 30, 40, 50]);
    assert.deepEqual(
      done,
      [1, 2, 3, 4, 5].map((n) => `book ${n}`),
    );
    await place.finish(next.close());
  });

  test("lets an effect that has begun end, and its result is there afterwards", async () => {
    const place = office();
    const desk = place.open();
    const held = Promise.withResolvers<void>();
    const slow = desk.gate({
      name: "slow",
      policy: "approve",
      effect: "idempotent",
      run: () => held.promise.then(() => 7),
    });
    const quick = desk.gate({ name: "quick", policy: "approve", effect: "idempotent", run: () => 1 });
    const rule: MonitorRule = {
      kind: "when",
      name: "slow call",
      raise: "checkpoint",
      condition: ({ type, tool }) => (type === "effect.started" && tool === "slow") || undefined,
    };
    const monitor = await watch(desk, [rule]);
    const flow = desk.workflow("w", {}, async (ctx, _: object) => {
      const one = await ctx.call(slow, {});
      const two = await ctx.call(quick, {});
      return [one.status, two.status];
    });
    const { id } = await flow.start({});
    await place.until(async () => (await countOf(desk, "effect.started")) > 0);
    await place.finish(monitor.caughtUp());
    assert.equal((await desk.workflows.get(id)).status, "awaiting_approval");
    held.resolve();
    await place.until(async () => (await desk.entries(id)).some(({ type }) => type === "call.settled"));
    await atRest(place, desk, id);
    assert.equal(await countOf(desk, "effect.started"), 1, "the next one has not begun");
    await desk.approvals.approve(await question(place, desk), ANN);
    const end = await place.finish(desk.workflows.result(id));
    assert.deepEqual(end.status === "completed" && end.result, ["done", "done"]);
    await place.finish(desk.close());
  });

  test("stops branches that run side by side, all of them", async () => {
    const body: Body = async (ctx, { book }) =>
      ctx.parallel(
        [1, 2].map((branch) => async (own) => {
          for (let n = 0; n < 3; n++) {
            await own.call(book, { n: branch * 10 + n });
            await own.sleep(500);
          }
          return branch;
        }),
      );
    const { place, desk, done, id, approval } = await stopped(body, after(5));
    const before = done.length;
    await place.pass(5_000);
    assert.equal(done.length, before);
    await desk.approvals.approve(approval, ANN);
    const end = await place.finish(desk.workflows.result(id));
    assert.deepEqual(end.status === "completed" && end.result, [1, 2]);
    assert.equal(new Set(done).size, 6);
    assert.equal(done.length, 6);
    await place.finish(desk.close());
  });

  test("stops a workflow that writes all the time", async () => {
    const body: Body = async (ctx) => {
      let sum = 0;
      for (let n = 0; n < 300; n++) sum += await ctx.step("add", () => n);
      return sum;
    };
    const { place, desk, id, approval } = await stopped(body, after(10));
    const { operations } = await atRest(place, desk, id);
    assert.ok(operations < 200, `it came as far as operation ${operations}`);
    await desk.approvals.approve(approval, ANN);
    const end = await place.finish(desk.workflows.result(id));
    assert.equal(end.status === "completed" && end.result, (299 * 300) / 2);
    await place.finish(desk.close());
  });

  test("of a definition that has returned meanwhile: it is over when people have decided", async () => {
    const place = office();
    const desk = place.open();
    const held = Promise.withResolvers<number>();
    const rule: MonitorRule = { kind: "silence", name: "quiet", forMs: 10_000, raise: "checkpoint" };
    await watch(desk, [rule]);
    const flow = desk.workflow("w", {}, (ctx, _: object) => ctx.step("long", () => held.promise));
    const { id } = await flow.start({});
    const approval = await question(place, desk);
    held.resolve(7);
    await place.pass(3_000);
    assert.equal((await desk.workflows.get(id)).status, "awaiting_approval");
    await desk.approvals.approve(approval, ANN);
    const end = await place.finish(desk.workflows.result(id));
    assert.equal(end.status === "completed" && end.result, 7);
    await place.finish(desk.close());
  });

  test("is not raised where the workflow waits for people already, or is over: there is the alert alone", async () => {
    const place = office();
    const desk = place.open();
    const rule: MonitorRule = {
      kind: "when",
      name: "asked",
      raise: "checkpoint",
      condition: ({ type }) => type === "checkpoint.reached" || undefined,
    };
    const monitor = await watch(desk, [rule]);
    const flow = desk.workflow("w", {}, (ctx, _: object) => ctx.checkpoint("Plan"));
    const { id } = await flow.start({});
    await question(place, desk);
    await place.finish(monitor.caughtUp());
    const [alert] = await allAlerts(desk);
    assert.partialDeepStrictEqual(alert, { approval: null, workflow: id });
    assert.equal(await countOf(desk, "checkpoint.raised"), 0);
    assert.equal((await waiting(place, desk)).length, 1);
    await place.finish(desk.close());
  });

  test("is raised by one of several processes, once", async () => {
    const place = office();
    const desks = [place.open(), place.open(), place.open()];
    const [one] = desks as [Desk, ...Desk[]];
    for (const desk of desks) await watch(desk, [after(3)]);
    // Another monitor, which has the same idea.
    await watch(one, [after(3)], { name: "second" });
    const { id } = await flowOf(one, [], five).start({});
    await standing(place, one, 2);
    await atRest(place, one, id);
    assert.equal(await countOf(one, "checkpoint.raised"), 1);
    assert.equal((await waiting(place, one)).length, 1);
    assert.equal(await countOf(one, "alert.raised"), 2, "one of each monitor");
    for (const desk of desks) await place.finish(desk.close());
  });
});

describe("a monitor in trouble at any commit", () => {
  test("raises one alert and one checkpoint, and the workflow ends as it would", async (context) => {
    for (const death of deaths(4))
      await context.test(deathWords(death), async () => {
        const place = office();
        const worker = place.open();
        const done: string[] = [];
        const first = place.open({ agent: "watcher" });
        await watch(first, [after(3)]);
        const trouble = dieAt(first, death);
        const { id } = await flowOf(worker, done, five).start({});
        await place.pass(4_000);
        if (trouble.isDead()) await watch(place.open({ agent: "watcher" }), [after(3)]);
        const approval = await question(place, worker);
        await worker.approvals.approve(approval, ANN);
        const end = await place.finish(worker.workflows.result(id));
        assert.deepEqual(end.status === "completed" && end.result, [10, 20, 30, 40, 50]);
        assert.equal(await countOf(worker, "checkpoint.raised"), 1);
        assert.equal(await countOf(worker, "alert.raised"), 1);
        assert.deepEqual(
          done,
          [1, 2, 3, 4, 5].map((n) => `book ${n}`),
        );
      });
  });
});

describe("what a definition sees", () => {
  test("is the same with and without a checkpoint in between: values, order and ids of operations", async () => {
    const body: Body = async (ctx, { book }) => {
      const seen: unknown[] = [ctx.random()];
      for (let n = 1; n <= 3; n++) {
        const answer = await ctx.call(book, { n });
        seen.push(answer.status === "done" && answer.result?.n, ctx.attempt, ctx.sentBack);
        await ctx.sleep(400);
      }
      return seen;
    };
    const plain = await opened(body);
    const first = await plain.end();
    const watched = await stopped(body, after(2));
    await watched.desk.approvals.approve(watched.approval, ANN);
    const second = await watched.place.finish(watched.desk.workflows.result(watched.id));
    assert.ok(first.status === "completed" && second.status === "completed");
    assert.deepEqual((second.result as unknown[]).slice(1), (first.result as unknown[]).slice(1));
    const opsOf = async (desk: Desk, id: string) =>
      (await desk.entries(id)).flatMap(({ type, body: { op } }) =>
        type.startsWith("checkpoint.") || typeof op !== "string" ? [] : `${type} ${op.replace(id, "wf")}`,
      );
    assert.deepEqual(await opsOf(watched.desk, watched.id), await opsOf(plain.desk, plain.id));
    assert.ok(types(await watched.desk.entries(watched.id)).includes("checkpoint.raised"));
    await plain.place.finish(plain.desk.close());
    await watched.place.finish(watched.desk.close());
  });
});
