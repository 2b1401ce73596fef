/** Which workflows a process runs, how many, and how it hears of what becomes of them. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { opened } from "./kit.ts";
import { ANN, office, waiting } from "./office.ts";

const STUCK = new Promise(() => undefined);

describe("a process", () => {
  test("runs more workflows than it has room for, one after another", async () => {
    const place = office();
    const desk = place.open();
    let release: (() => void) | undefined;
    const open = new Promise<void>((resolve) => {
      release = resolve;
    });
    const flow = desk.workflow("w", {}, async (ctx) => ctx.step("s", () => open.then(() => 1)));
    const handles: { readonly id: string }[] = [];
    for (let n = 0; n < 300; n++) handles.push(await flow.start({}));
    release?.();
    await place.pass(10_000);
    for (const { id } of handles) assert.equal((await desk.workflows.get(id)).status, "completed");
    await desk.close();
  });

  test("is not kept from its own work by hundreds of workflows that it does not know", async () => {
    const place = office();
    const before = place.open();
    const retired = before.workflow("retired", {}, async (ctx) => ctx.sleep(10_000));
    for (let n = 0; n < 210; n++) await retired.start({});
    await place.pass(2_000);
    await before.close();
    const desk = place.open();
    const mine = desk.workflow("mine", {}, async (ctx) => ctx.sleep(20_000));
    const { id } = await mine.start({});
    await place.pass(25_000);
    assert.equal((await desk.workflows.get(id)).status, "completed");
    await desk.close();
  });

  test("hears that a workflow was sent back while its definition waits for something of its own", async () => {
    const { place, desk, done, id } = await opened(async (ctx, tools) => {
      await ctx.call(tools.book, { n: 1 });
      await STUCK;
    });
    await place.pass(2_000);
    await desk.workflows.rollback(id, { ...ANN, reason: "it hangs", after: "fail" });
    await place.pass(5_000);
    assert.equal((await desk.workflows.get(id)).status, "failed");
    assert.deepEqual(done, ["book 1", "undo 1 of 10"]);
    await desk.close();
  });

  test("hears that a workflow was cancelled, and so does whoever waits for its result", async () => {
    const { place, desk, id, end } = await opened(async () => STUCK);
    await place.pass(2_000);
    await desk.workflows.cancel(id, { ...ANN, reason: "it hangs" });
    assert.equal((await end()).status, "failed");
    await desk.close();
  });

  test("lets go of a changed definition although somebody writes at that moment", async () => {
    const place = office();
    const setUp = (desk: ReturnType<typeof place.open>, isNew: boolean) => {
      const tool = desk.gate({ name: "t", policy: "escalate", effect: "idempotent", run: () => 1 } as never);
      return desk.workflow("w", {}, async (ctx) => {
        if (isNew) await ctx.step("new", () => 1);
        await ctx.step("a", () => 1);
        await ctx.parallel([(side) => side.call(tool, {} as never), (side) => side.sleep(5_000)]);
      });
    };
    const first = place.open();
    const { id } = await setUp(first, false).start({});
    const [approval = ""] = await waiting(place, first);
    await place.pass(500);
    first.crash();
    const desk = place.open();
    setUp(desk, true);
    await desk.work();
    await place.pass(5_400);
    await desk.approvals.approve(approval, ANN);
    await place.pass(30_000);
    const { runner, waits } = await desk.workflows.get(id);
    assert.equal(runner, null);
    assert.deepEqual(
      waits.map(({ kind }) => kind),
      ["definition"],
    );
    await desk.close();
  });
});

describe("a definition that ends while its checkpoint waits", () => {
  test("is let go of, and is over when people have decided", async () => {
    const place = office();
    const desk = place.open();
    let begun = 0;
    const flow = desk.workflow("w", {}, async (ctx) => {
      begun++;
      return Promise.race([ctx.checkpoint("Look").then(() => "looked"), ctx.step("quick", () => "quick")]);
    });
    const { id } = await flow.start({});
    await place.pass(5_000);
    const runs = begun;
    await place.pass(60_000);
    assert.equal(begun, runs);
    const [approval = ""] = await waiting(place, desk);
    await desk.approvals.approve(approval, ANN);
    await place.pass(5_000);
    assert.equal((await desk.workflows.get(id)).status, "completed");
    await desk.close();
  });
});
