/** Two versions of a definition on one store: each workflow goes on where its definition is, whoever comes across it first. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { WorkflowContext, WorkflowOptions } from "../../src/workflows/definition.ts";
import { reject } from "../workflows/kit.ts";
import { ANN, type Desk, office, question, types, waiting } from "../workflows/office.ts";

type Body = (ctx: WorkflowContext, log: string[]) => Promise<unknown>;

const told = (desk: Desk) => desk.notices.filter(({ kind }) => kind === "definition_changed");

const step = (ctx: WorkflowContext, log: string[], name: string) => ctx.step(name, () => void log.push(name));

const V1: Body = async (ctx, log) => {
  await step(ctx, log, "build");
  await ctx.ask("go", "Deploy?");
  await step(ctx, log, "deploy");
  await ctx.ask("keep", "Keep it?");
  await step(ctx, log, "keep");
  return "by v1";
};
const V2: Body = async (ctx, log) => {
  await step(ctx, log, "scan");
  await step(ctx, log, "build");
  await ctx.ask("go", "Deploy?");
  await step(ctx, log, "deploy");
  return "by v2";
};

async function node(
  place: ReturnType<typeof office>,
  body: Body,
  log: string[],
  options: WorkflowOptions<object> = {},
) {
  const desk = place.open();
  const flow = desk.workflow("deploy", options, (ctx, _: object) => body(ctx, log));
  await desk.work();
  return { desk, flow, log };
}

/** Begun by v1, which is gone when somebody answers; v2 is there first. */
async function foundByV2() {
  const place = office();
  const log: string[] = [];
  const first = await node(place, V1, log);
  const { id } = await first.flow.start({});
  const asked = await question(place, first.desk);
  await place.pass(1_000);
  first.desk.crash();
  const v2 = await node(place, V2, []);
  await v2.desk.approvals.approve(asked, ANN);
  await place.until(async () => (await v2.desk.workflows.get(id)).waits[0]?.kind === "definition");
  return { place, log, id, v2 };
}

describe("a workflow of an older definition", () => {
  test("that a node with a newer one came across first goes on at a node that has the older, which was there all the time", async () => {
    const place = office();
    const log: string[] = [];
    const v1 = await node(place, V1, log);
    const v2 = await node(place, V2, []);
    const ids: string[] = [];
    for (let n = 0; n < 20; n++) ids.push((await v1.flow.start({})).id);
    for (const approval of await waiting(place, v1.desk, 20)) await v2.desk.approvals.approve(approval, ANN);
    for (const approval of await waiting(place, v1.desk, 20)) await v2.desk.approvals.approve(approval, ANN);
    for (const id of ids)
      assert.partialDeepStrictEqual(await place.finish(v2.desk.workflows.result(id)), {
        status: "completed",
        result: "by v1",
      });
    assert.deepEqual(
      log.toSorted(),
      ["build", "deploy", "keep"].flatMap((name) => Array(20).fill(name)),
    );
    assert.deepEqual(v2.log, []);
    // Of each at most once, although it was woken several times.
    assert.equal(
      new Set(told(v2.desk).map((one) => "workflow" in one && one.workflow)).size,
      told(v2.desk).length,
    );
    await Promise.all([v1.desk.close(), v2.desk.close()]);
  });

  test("is left alone where only the newer is, says what it waits for, and once", async () => {
    const { place, id, v2, log } = await foundByV2();
    const before = types(await v2.desk.entries(id)).length;
    await place.pass(60_000);
    assert.equal(types(await v2.desk.entries(id)).length, before);
    assert.equal(told(v2.desk).length, 1);
    const { items } = await v2.desk.workflows.list();
    assert.match(
      String(items[0]?.["stuck"]),
      /the journal has step "build#1", the definition asks for step "scan#1"/,
    );
    assert.deepEqual([log, v2.log], [["build"], []]);
    await v2.desk.close();
  });

  test("goes on at once when a node with the older one comes back, and the newer leaves it alone from then on", async () => {
    const { place, id, v2, log } = await foundByV2();
    await place.pass(30_000);
    const back = await node(place, V1, log);
    await v2.desk.approvals.approve(await question(place, v2.desk), ANN);
    assert.partialDeepStrictEqual(await place.finish(v2.desk.workflows.result(id)), { result: "by v1" });
    assert.deepEqual(log, ["build", "deploy", "keep"]);
    const stuck = types(await v2.desk.entries(id)).filter((type) => type === "workflow.resumed");
    // By v2, by the one that came back, and by that again after the second answer.
    assert.equal(stuck.length, 3);
    assert.equal(told(v2.desk).length, 1);
    await Promise.all([back.desk.close(), v2.desk.close()]);
  });

  test("is found out again where it was woken and the last node with the older one is gone meanwhile", async () => {
    const { place, id, v2, log } = await foundByV2();
    const back = await node(place, V1, log);
    const asked = await question(place, v2.desk);
    await place.pass(1_000);
    back.desk.crash();
    await v2.desk.approvals.approve(asked, ANN);
    await place.pass(5_000);
    assert.equal((await v2.desk.workflows.get(id)).isReady, true);
    await place.until(async () => {
      const { isReady, waits } = await v2.desk.workflows.get(id);
      return !isReady && waits[0]?.kind === "definition";
    });
    assert.deepEqual(v2.log, []);
    await v2.desk.close();
  });

  test("goes on at the newer where the change is declared with ctx.version", async () => {
    const place = office();
    const log: string[] = [];
    const v1 = await node(place, V1, log);
    const { id } = await v1.flow.start({});
    const asked = await question(place, v1.desk);
    await place.pass(1_000);
    v1.desk.crash();
    const v2 = await node(
      place,
      async (ctx, own) => {
        if (ctx.version("scan first") >= 1) await step(ctx, own, "scan");
        await step(ctx, own, "build");
        await ctx.ask("go", "Deploy?");
        await step(ctx, own, "deploy");
        return "by v2";
      },
      log,
    );
    await v2.desk.approvals.approve(asked, ANN);
    assert.partialDeepStrictEqual(await place.finish(v2.desk.workflows.result(id)), { result: "by v2" });
    assert.deepEqual(log, ["build", "deploy"]);
    assert.deepEqual(told(v2.desk), []);
    await v2.desk.close();
  });

  test("is rolled back by a node that knows how, although another had to leave it", async () => {
    const place = office();
    const undone: string[] = [];
    const withUndo: Body = async (ctx) => {
      await ctx.step("book", { undo: () => void undone.push("book"), effect: "idempotent" }, () => 1);
      await ctx.checkpoint("Look");
      return ctx.attempt;
    };
    const other: Body = async (ctx) => void (await ctx.step("reserve", () => 1));
    const v1 = await node(place, withUndo, []);
    const { id } = await v1.flow.start({});
    const asked = await question(place, v1.desk);
    await place.pass(1_000);
    v1.desk.crash();
    const v2 = await node(place, other, []);
    const late = await node(place, other, []);
    await reject(v2.desk, asked);
    await place.until(async () => (await v2.desk.workflows.get(id)).waits[0]?.kind === "definition");
    await place.pass(20_000);
    assert.deepEqual(undone, []);
    const back = await node(place, withUndo, []);
    await place.until(async () => (await back.desk.workflows.get(id)).attempt === 2);
    assert.deepEqual(undone, ["book"]);
    await Promise.all([v2.desk.close(), late.desk.close(), back.desk.close()]);
  });
});

describe("a call whose tool is another one at this node", () => {
  const declare = (desk: Desk, ran: string[], version: string) => {
    const pay = desk.gate({
      ...{ name: "pay", policy: "escalate", effect: "idempotent", version },
      run: () => {
        ran.push(version);
        return version;
      },
    } as never);
    return desk.workflow("deploy", {}, async (ctx) => {
      const answer = await ctx.call(pay, {} as never);
      return answer.status === "done" ? answer.result : "code" in answer && answer.code;
    });
  };

  test("is not refused there: it is made where the tool is that people have agreed to", async () => {
    const place = office();
    const ran: string[] = [];
    const v1 = place.open();
    const { id } = await declare(v1, ran, "1").start({});
    const asked = await question(place, v1);
    await place.pass(1_000);
    v1.crash();
    const v2 = place.open();
    declare(v2, ran, "2");
    await v2.work();
    await v2.approvals.approve(asked, ANN);
    await place.until(async () => (await v2.workflows.get(id)).waits[0]?.kind === "definition");
    assert.match((await v2.workflows.get(id)).waits[0]?.on ?? "", /the tool of "\/?pay#1" is another/);
    await place.pass(30_000);
    const back = place.open();
    declare(back, ran, "1");
    await back.work();
    assert.partialDeepStrictEqual(await place.finish(back.workflows.result(id)), {
      status: "completed",
      result: "1",
    });
    assert.deepEqual(ran, ["1"]);
    await Promise.all([v2.close(), back.close()]);
  });

  test("can be given up by people: the workflow goes on with that answer at the newer node", async () => {
    const place = office();
    const v1 = place.open();
    const { id } = await declare(v1, [], "1").start({});
    const asked = await question(place, v1);
    await place.pass(1_000);
    v1.crash();
    const v2 = place.open();
    declare(v2, [], "2");
    await v2.work();
    await v2.approvals.approve(asked, ANN);
    await place.until(async () => (await v2.workflows.get(id)).waits[0]?.kind === "definition");
    await v2.approvals.revoke(asked, { ...ANN, reason: "the tool is another one" });
    assert.partialDeepStrictEqual(await place.finish(v2.workflows.result(id)), { result: "revoked" });
    await v2.close();
  });
});

describe("a workflow that has not begun", () => {
  const named =
    (version: string): Body =>
    async () =>
      version;

  test("is begun by the version that it was made for, and by another only if there is none", async () => {
    const place = office();
    const v1 = await node(place, named("1"), [], { version: "1" });
    const ids: string[] = [];
    for (let n = 0; n < 5; n++) ids.push((await v1.flow.start({})).id);
    for (const id of ids)
      assert.partialDeepStrictEqual(await place.finish(v1.desk.workflows.result(id)), { result: "1" });
    // Made and never taken: its process died in that moment.
    const dying = place.open({
      reach: (point) => (point === "before_take" ? new Promise<void>(() => undefined) : undefined),
    });
    const flow = dying.workflow("deploy", { version: "1" }, () => "1");
    v1.desk.crash();
    const { id } = await flow.start({});
    dying.crash();
    const v2 = await node(place, named("2"), [], { version: "2" });
    await place.pass(5_000);
    assert.equal((await v2.desk.workflows.get(id)).end, null);
    const back = await node(place, named("1"), [], { version: "1" });
    assert.partialDeepStrictEqual(await place.finish(back.desk.workflows.result(id)), { result: "1" });
    await Promise.all([v2.desk.close(), back.desk.close()]);
  });

  test("is begun by another version after a while where its own is gone", async () => {
    const place = office();
    const dying = place.open({
      reach: (point) => (point === "before_take" ? new Promise<void>(() => undefined) : undefined),
    });
    const { id } = await dying.workflow("deploy", { version: "1" }, () => "1").start({});
    dying.crash();
    const v2 = await node(place, named("2"), [], { version: "2" });
    assert.partialDeepStrictEqual(await place.finish(v2.desk.workflows.result(id)), { result: "2" });
    await v2.desk.close();
  });
});
