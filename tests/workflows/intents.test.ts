/** Intents that workflows send and wait for: once, over restarts, and taken back with what they belong to. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { CrashPoint } from "../../src/runtime/runtime.ts";
import type { WorkflowContext } from "../../src/workflows/definition.ts";
import { settled } from "../fixtures/runtime.ts";
import { opened, reject } from "./kit.ts";
import { ANN, atRest, DAY, type Desk, office, question, reopen } from "./office.ts";

const DEPLOY = {
  intentType: "human_approval",
  toAgent: "agent://approver",
  payload: { task: "Deploy", risk_level: "high" },
} as const;
const TASK = { intentType: "task", toAgent: "agent://doer", payload: { sort: "mail" } } as const;

const typesOf = async (desk: Desk, id: string) => (await desk.journal.read(id)).map(({ type }) => type);
const sentBy = async (desk: Desk) => (await desk.intents.list({ order: "oldest" })).items;

async function deploy(ctx: WorkflowContext) {
  const id = await ctx.send("deploy", DEPLOY);
  return ctx.waitFor("answer", id, { timeoutSeconds: 604_800 });
}

describe("a workflow that asks for approval by an intent", () => {
  test("lets go while it waits, and goes on in the commit of the answer", async () => {
    const { place, desk, id, end } = await opened(deploy);
    const approval = await question(place, desk);
    await atRest(place, desk, id);
    const { waits } = await desk.workflows.get(id);
    assert.equal(waits[0]?.kind, "intent");
    await desk.approvals.approve(approval, { ...ANN, note: "go" });
    assert.partialDeepStrictEqual(await end(), {
      status: "completed",
      result: { status: "completed", data: { approved: true, rationale: "go" } },
    });
    const [sent] = await sentBy(desk);
    assert.equal(sent?.["lifecycleStatus"], "COMPLETED");
    assert.partialDeepStrictEqual(await desk.intents.get(sent?.id ?? ""), { within: { workflow: id } });
    await desk.close();
  });

  test("waits for six days over a process that dies, and sends once", async () => {
    const place = office();
    const define = (desk: Desk) => desk.workflow("w", {}, (ctx, _: object) => deploy(ctx));
    const first = place.open();
    const { id } = await define(first).start({});
    const approval = await question(place, first);
    await atRest(place, first, id);
    await place.clock.set(place.clock.now() + 3 * DAY);
    const second = await reopen(place, first, define);
    await settled(40);
    await place.clock.set(place.clock.now() + 3 * DAY);
    await second.approvals.reject(approval, { ...ANN, reason: "no" });
    assert.partialDeepStrictEqual(await place.finish(second.workflows.result(id)), {
      result: { status: "completed", data: { approved: false } },
    });
    assert.equal((await sentBy(second)).length, 1);
    await second.close();
  });

  test("its time to wait is over: it is told so, and the intent goes on", async () => {
    const { place, desk, id, end } = await opened(async (ctx) => {
      const sent = await ctx.send("sort", TASK);
      const first = await ctx.waitFor("a day", sent, { timeoutSeconds: 86_400 });
      const second = await ctx.waitFor("longer", sent);
      return [first.status, second.status];
    });
    await atRest(place, desk, id);
    await place.clock.set(place.clock.now() + DAY);
    const [sent] = await place.until(async () => {
      const all = await sentBy(desk);
      return (await typesOf(desk, id)).filter((type) => type === "wait.began").length === 2 && all;
    });
    await desk.intents.answer(sent?.id ?? "", { by: "agent:doer", failed: "no mail" });
    assert.partialDeepStrictEqual(await end(), { result: ["timed_out_waiting", "failed"] });
    await desk.close();
  });

  test("what was answered before it waits is seen at once, and so is another's intent", async () => {
    const place = office();
    const desk = place.open();
    const { id: other } = await desk.intents.send(TASK);
    await desk.intents.answer(other, { by: "agent:doer", data: { sorted: 3 } });
    const flow = desk.workflow("w", {}, async (ctx, _: object) => ctx.waitFor("other", other));
    const { id } = await flow.start({});
    assert.partialDeepStrictEqual(await place.finish(desk.workflows.result(id)), {
      result: { status: "completed", data: { sorted: 3 } },
    });
    await desk.close();
  });

  test("one that is not there, or that nobody could answer, is refused the same in every replay", async () => {
    const { desk, end } = await opened(async (ctx) => {
      const code = (error: unknown) => (error as { code: string }).code;
      const first = await ctx.waitFor("none", "int_none").catch(code);
      await ctx.sleep(60_000);
      const second = await ctx.send("nobody", { ...DEPLOY, toAgent: "group:none" }).catch(code);
      return [first, second];
    });
    assert.partialDeepStrictEqual(await end(), { result: ["invalid_input", "unsatisfiable_quorum"] });
    await desk.close();
  });
});

describe("a process that dies between sending and waiting", () => {
  for (const point of ["before_fact", "after_fact", "before_rest"] as const satisfies readonly CrashPoint[])
    for (const count of [1, 2, 3])
      test(`at ${point}, time ${count}: it is sent once and answered once`, async () => {
        const place = office();
        const define = (desk: Desk) => desk.workflow("w", {}, (ctx, _: object) => deploy(ctx));
        let seen = 0;
        const reach = (at: CrashPoint): void | Promise<void> => {
          if (at === point && ++seen === count) return new Promise<void>(() => undefined);
        };
        const first = place.open({ reach });
        const { id } = await define(first).start({});
        await settled(80);
        const second = await reopen(place, first, define);
        const approval = await question(place, second);
        await second.approvals.approve(approval, ANN);
        assert.partialDeepStrictEqual(await place.finish(second.workflows.result(id)), {
          result: { data: { approved: true } },
        });
        assert.equal((await sentBy(second)).length, 1);
        await second.close();
      });
});

describe("an intent of a workflow that goes back", () => {
  test("is cancelled if it is open, and sent anew; what was answered before stays out of the next attempt", async () => {
    const { place, desk, end } = await opened(
      async (ctx) => {
        const sent = await ctx.send("sort", { ...TASK, payload: { attempt: ctx.attempt } });
        await ctx.checkpoint("Look");
        const answer = await ctx.waitFor("sorted", sent);
        return { attempt: ctx.attempt, answer };
      },
      { checkpoints: [{ name: "Look" }] },
    );
    const first = await question(place, desk);
    await reject(desk, first);
    const second = await place.until(async () => {
      const { items } = await desk.approvals.list();
      return items.find(({ id }) => id !== first)?.id;
    });
    const [old, fresh] = await sentBy(desk);
    assert.equal(old?.["lifecycleStatus"], "CANCELED");
    assert.equal(fresh?.["lifecycleStatus"], "CREATED");
    await desk.intents.answer(fresh?.id ?? "", { by: "agent:doer", data: 7 });
    await desk.approvals.approve(second, ANN);
    assert.partialDeepStrictEqual(await end(), {
      result: { attempt: 2, answer: { status: "completed", data: 7 } },
    });
    await desk.close();
  });

  test("a wait of an earlier attempt does not answer that of a later one", async () => {
    const place = office();
    const desk = place.open();
    const { id: other } = await desk.intents.send(TASK);
    const flow = desk.workflow("w", { checkpoints: [{ name: "Look" }] }, async (ctx, _: object) => {
      const [answer] = await ctx.parallel([
        (branch) => branch.waitFor("other", other),
        (branch) => branch.checkpoint("Look"),
      ]);
      return answer;
    });
    const { id } = await flow.start({});
    const first = await question(place, desk);
    await reject(desk, first);
    const second = await place.until(async () => {
      const { items } = await desk.approvals.list();
      return items.find((one) => one.id !== first)?.id;
    });
    await desk.approvals.approve(second, ANN);
    await desk.intents.answer(other, { by: "agent:doer", data: 5 });
    assert.partialDeepStrictEqual(await place.finish(desk.workflows.result(id)), {
      result: { status: "completed", data: 5 },
    });
    const ended = (await desk.journal.read(id)).filter(({ type }) => type === "wait.ended");
    assert.equal(new Set(ended.map(({ body }) => (body as { op: string }).op)).size, 2);
    await desk.close();
  });

  test("is cancelled with the workflow; one that is sent and not waited for outlives it", async () => {
    const cancelled = await opened(deploy);
    const approval = await question(cancelled.place, cancelled.desk);
    await atRest(cancelled.place, cancelled.desk, cancelled.id);
    await cancelled.desk.workflows.cancel(cancelled.id, { ...ANN, reason: "enough" });
    const [sent] = await sentBy(cancelled.desk);
    assert.equal(sent?.["lifecycleStatus"], "CANCELED");
    assert.equal((await cancelled.desk.approvals.get(approval)).status, "cancelled");
    await cancelled.desk.close();

    const completed = await opened(async (ctx) => ctx.send("sort", TASK));
    assert.partialDeepStrictEqual(await completed.end(), { status: "completed" });
    const [left] = await sentBy(completed.desk);
    assert.equal(left?.["lifecycleStatus"], "CREATED");
    await completed.desk.intents.answer(left?.id ?? "", { by: "agent:doer", data: 1 });
    await completed.desk.close();
  });
});

describe("a fork of a workflow that waits for an intent", () => {
  test("sends nothing again, waits for the same one, and both are answered", async () => {
    const { place, desk, id, end } = await opened(
      async (ctx) => {
        const sent = await ctx.send("sort", TASK);
        await ctx.checkpoint("Look");
        return ctx.waitFor("sorted", sent);
      },
      { checkpoints: [{ name: "Look" }] },
    );
    await desk.approvals.approve(await question(place, desk), ANN);
    await place.until(async () => (await typesOf(desk, id)).includes("wait.began"));
    await atRest(place, desk, id);
    const fork = await desk.workflows.fork(id, { at: "Look" });
    await place.until(async () => (await typesOf(desk, fork)).includes("wait.began"));
    const all = await sentBy(desk);
    assert.equal(all.length, 1);
    await desk.intents.answer(all[0]?.id ?? "", { by: "agent:doer", data: 9 });
    assert.partialDeepStrictEqual(await end(), { result: { status: "completed", data: 9 } });
    assert.partialDeepStrictEqual(await place.finish(desk.workflows.result(fork)), {
      result: { status: "completed", data: 9 },
    });
    await desk.close();
  });
});
