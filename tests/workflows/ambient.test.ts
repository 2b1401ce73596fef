/** Gated tools that a definition calls by themselves, without `ctx.call`: each is a call of the workflow all the same. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { setTimeout as later } from "node:timers/promises";
import type { WorkflowContext, WorkflowOptions } from "../../src/workflows/definition.ts";
import { settled } from "../fixtures/runtime.ts";
import { ANN, atRest, type Desk, office, question, reopen } from "./office.ts";

type Send = (args: { to: string }, options?: object) => Promise<unknown>;
type Body = (send: Send, ctx: WorkflowContext, desk: Desk) => unknown;

/** A definition that sends mail by the body, and then waits for people. */
function sending(done: string[], body: Body, options: WorkflowOptions<object> = {}) {
  return (desk: Desk) => {
    const send = desk.gate({
      name: "mail",
      policy: "approve",
      run: ({ to }: { to: string }) => `${done.push(to)} to ${to}`,
      undo: ({ to }) => void done.push(`undo ${to}`),
    });
    return desk.workflow("w", options, async (ctx, _: object) => {
      const answer = await body(send, ctx, desk);
      await ctx.ask("go", "Go on?");
      return answer;
    });
  };
}

/** Runs it until it waits, replaces the process, and answers the question. */
async function replayed(body: Body) {
  const place = office();
  const done: string[] = [];
  const setUp = sending(done, body);
  const first = place.open();
  const { id } = await setUp(first).start({});
  await atRest(place, first, id);
  const before = [...done];
  const second = await reopen(place, first, setUp);
  await second.approvals.approve(await question(place, second), ANN);
  const end = await place.finish(second.workflows.result(id));
  const ops = (await second.entries(id)).flatMap(({ type, body: { op } }) =>
    type === "call.made" ? String(op).slice(id.length + 1) : [],
  );
  await second.close();
  assert.deepEqual(done, before, "the replay sent nothing");
  return { done, end, ops };
}

describe("a gated tool called in a definition", () => {
  test("is answered as the tool answers elsewhere, first and in a replay, and runs once", async () => {
    const { done, end, ops } = await replayed((send) => send({ to: "ann" }));
    assert.deepEqual(done, ["ann"]);
    assert.deepEqual(ops, ["1//mail#1"]);
    assert.partialDeepStrictEqual(end, {
      status: "completed",
      result: { status: "done", result: "1 to ann", receipt: { status: "applied", tool: "mail" } },
    });
  });

  test("is a call of the workflow through helper functions, timers, callbacks and Promise.all", async () => {
    const { done, ops } = await replayed(async (send) => {
      const helper = async (to: string) => {
        await settled(2);
        return send({ to });
      };
      await helper("helper");
      await later(1).then(() => send({ to: "timer" }));
      await new Promise((resolve) => setImmediate(() => send({ to: "callback" }).then(resolve)));
      await Promise.all([send({ to: "all 1" }), helper("all 2"), send({ to: "all 3" })]);
    });
    assert.deepEqual(done.toSorted(), ["all 1", "all 2", "all 3", "callback", "helper", "timer"]);
    assert.equal(ops.length, 6);
    assert.ok(ops.every((op) => /^1\/\/mail#\d$/.test(op)));
  });

  test("is named after the branch in which it is called, and not after the faster one", async () => {
    const { done, ops } = await replayed((send, ctx, desk) => {
      const branch = (to: string, rounds: number) => async (own: WorkflowContext) => {
        await settled(rounds);
        const here = desk.current();
        assert.ok(here?.kind === "workflow" && here.ctx === own);
        await send({ to });
        await own.parallel([() => send({ to: `${to} inner` })]);
      };
      return ctx.parallel([branch("slow", 9), branch("fast", 0)]);
    });
    assert.deepEqual(done.toSorted(), ["fast", "fast inner", "slow", "slow inner"]);
    assert.deepEqual(ops.toSorted(), [
      "1/parallel-1.1.parallel-1.1/mail#1",
      "1/parallel-1.1/mail#1",
      "1/parallel-1.2.parallel-1.1/mail#1",
      "1/parallel-1.2/mail#1",
    ]);
  });

  test("shares its count with ctx.call, so that one may replace the other in a definition that is under way", async () => {
    const place = office();
    const done: string[] = [];
    const first = place.open();
    const { id } = await sending(done, (send) => send({ to: "ann" }))(first).start({});
    await atRest(place, first, id);
    const explicit: Body = (send, ctx) => ctx.call(send as never, { to: "ann" });
    const second = await reopen(place, first, sending(done, explicit));
    await second.approvals.approve(await question(place, second), ANN);
    assert.partialDeepStrictEqual(await place.finish(second.workflows.result(id)), { status: "completed" });
    assert.deepEqual(done, ["ann"]);
    await second.close();
  });

  test("is asked about and undone as the workflow says", async () => {
    const place = office();
    const desk = place.open();
    const done: string[] = [];
    const policy = () => "escalate" as const;
    const { id } = await sending(done, (send) => send({ to: "ann" }), { policy })(desk).start({});
    await desk.approvals.approve(await question(place, desk), ANN);
    await place.until(async () => done.length === 1);
    await atRest(place, desk, id);
    await desk.workflows.rollback(id, { ...ANN, to: "start", after: "fail", reason: "not like this" });
    const undo = await place.until(async () => {
      const { items } = await desk.approvals.list();
      return items.find((item) => item["tool"] === "mail.undo")?.id;
    });
    await desk.approvals.approve(undo, ANN);
    assert.partialDeepStrictEqual(await place.finish(desk.workflows.result(id)), { code: "rolled_back" });
    assert.deepEqual(done, ["ann", "undo ann"]);
    await desk.close();
  });

  for (const option of [{ requestId: "mine" }, { waitMs: 0 }])
    test(`refuses ${Object.keys(option)[0]}, which the workflow decides, and keeps what the agent says`, async () => {
      const { done, end } = await replayed(async (send) => {
        const [field] = Object.keys(option);
        assert.throws(
          () => send({ to: "ann" }, option),
          (error: { what?: string; next?: string }) =>
            error.what?.includes(`"mail" was called with ${field} in the definition of the workflow "w"`) ===
              true && error.next?.includes("hp.execute") === true,
        );
        return send({ to: "bob" }, { rationale: "as agreed" });
      });
      assert.deepEqual(done, ["bob"]);
      assert.partialDeepStrictEqual(end, { result: { status: "done" } });
    });

  test("by code that outlives the definition or its run never returns, and writes nothing", async () => {
    const place = office();
    const desk = place.open();
    const done: string[] = [];
    const strays: (() => void)[] = [];
    let isBack = false;
    const stray = async (send: Send) => {
      await new Promise<void>((resolve) => void strays.push(resolve));
      await send({ to: "stray" }).finally(() => {
        isBack = true;
      });
    };
    const { id } = await sending(done, (send) => void stray(send))(desk).start({});
    await atRest(place, desk, id);
    for (const go of strays.splice(0)) go();
    await desk.approvals.approve(await question(place, desk), ANN);
    await place.finish(desk.workflows.result(id));
    const written = (await desk.entries(id)).length;
    for (const go of strays.splice(0)) go();
    await place.pass(1_000);
    assert.deepEqual([done, isBack], [[], false]);
    assert.equal((await desk.entries(id)).length, written);
    for (const phase of ["open", "waiting", "running", "applied", "in_doubt", "refused"] as const)
      assert.deepEqual((await desk.actions.list({ phase })).items, [], phase);
    await desk.close();
  });

  test("by a listener that is told about a notice meanwhile is an ordinary call", async () => {
    const place = office();
    const desk = place.open();
    const done: string[] = [];
    const log = desk.gate({
      name: "log",
      policy: "approve",
      effect: "idempotent",
      run: () => done.push("log"),
    });
    const told: unknown[] = [];
    const flow = sending([], (send) => send({ to: "ann" }))(desk);
    const notify = () => void log({}).then((answer) => told.push(answer.status));
    const { id } = await flow.start({}, { notify });
    await desk.approvals.approve(await question(place, desk), ANN);
    await place.finish(desk.workflows.result(id));
    await place.until(async () => told.length > 0);
    assert.ok(!(await desk.entries(id)).some(({ body }) => String(body["op"]).includes("log#")));
    await desk.close();
  });
});
