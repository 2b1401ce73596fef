/** What writes nothing costs nothing; what executes and writes nothing is found by one timer. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { MonitorRule } from "../../src/alerts/rules/monitor-rule.ts";
import { workflowStream } from "../../src/kernel/stream.ts";
import type { Store } from "../../src/stores/store.ts";
import { ANN, atRest, type Desk, office, question } from "../workflows/office.ts";
import { allAlerts, standing, told, watch } from "./watching.ts";

const RULES: readonly MonitorRule[] = [
  { kind: "silence", name: "silent", forMs: 60_000 },
  { kind: "progress", name: "pace", withinMs: 60_000, fewerThan: 1, moreThan: 100 },
  { kind: "resources", name: "used", tokens: 1_000, operations: 1_000 },
  { kind: "errors", name: "failing", above: 0.5, windowMs: 60_000, per: "workflow" },
  { kind: "rate", name: "busy", of: "calls", per: "workflow", windowMs: 60_000, baseline: {} },
  { kind: "when", name: "odd", condition: () => undefined },
];

const METHODS = ["transact", "read", "log", "query", "claim", "count", "position", "artifact"] as const;

/** Counts what is asked of the store from now on. */
function counted(store: Store): { total(): number } {
  let total = 0;
  const open = store as unknown as Record<string, (...args: unknown[]) => unknown>;
  for (const name of METHODS) {
    const own = open[name]?.bind(store);
    open[name] = (...args) => {
      total++;
      return own?.(...args);
    };
  }
  return { total: () => total };
}

const CREATED = {
  ...{
    name: "w",
    description: "",
    version: null,
    input: {},
    agent: "agent:tester",
    requester: ["agent:tester"],
  },
  ...{ parties: { poster: null, executor: null, supervisor: null }, escrow: null, complexity: null },
  ...{
    checkpoints: [],
    attempts: 3,
    rollbackEnabled: false,
    onIrreversible: "fail",
    parent: null,
    fork: null,
  },
};

/** Workflows that sleep: written as a process would have left them. */
async function asleep(desk: Desk, from: number, count: number): Promise<void> {
  const refs = Array.from({ length: count }, (_, n) =>
    workflowStream(`wf_${String(from + n).padStart(26, "0")}`),
  );
  const waits = [{ op: "x/1//s#1", kind: "sleep", on: "s" }];
  const events = [
    { type: "workflow.created", tv: 1, body: CREATED },
    { type: "workflow.started", tv: 1, body: { epoch: "epo_1" } },
    { type: "workflow.suspended", tv: 1, body: { wakeAt: Number.MAX_SAFE_INTEGER, waits } },
  ];
  await desk.store.transact("acme", { write: refs }, () => ({
    kind: "commit",
    append: refs.map((stream) => ({ stream, events })),
    result: undefined,
  }));
}

describe("ten thousand workflows that sleep", () => {
  test("cost a monitor nothing as time passes: no call of the store, and no timer", async () => {
    const place = office();
    const desk = place.open();
    const watcher = place.open();
    const monitor = await watch(watcher, RULES);
    for (let n = 0; n < 10_000; n += 1_000) await asleep(desk, n, 1_000);
    await place.finish(monitor.caughtUp());
    const calls = counted(watcher.store);
    for (let hour = 0; hour < 48; hour++) await place.clock.set(place.clock.now() + 3_600_000);
    assert.equal(calls.total(), 0);
    await asleep(desk, 20_000, 1);
    await place.finish(monitor.caughtUp());
    assert.ok(calls.total() <= 10, `one that moves costs ${calls.total()} calls, however many sleep`);
    assert.deepEqual(await allAlerts(desk), []);
    await place.finish(watcher.close());
  });
});

describe("silence", () => {
  const rule: MonitorRule = { kind: "silence", name: "silent", forMs: 60_000 };

  test("of a step that hangs is said and cleared; of a workflow that sleeps or waits for people it is not", async () => {
    const place = office();
    const desk = place.open();
    await watch(desk, [rule]);
    const held = Promise.withResolvers<number>();
    const hangs = desk.workflow("hangs", {}, (ctx, _: object) => ctx.step("s", () => held.promise));
    const sleeps = desk.workflow("sleeps", {}, (ctx, _: object) => ctx.sleep(600_000));
    const asks = desk.workflow("asks", {}, (ctx, _: object) => ctx.checkpoint("Plan"));
    const { id } = await hangs.start({});
    await sleeps.start({});
    await asks.start({});
    await place.pass(65_000);
    assert.deepEqual(told(await allAlerts(desk)), [`+ silent workflow:${id}`]);
    held.resolve(1);
    await place.finish(desk.workflows.result(id));
    await place.until(async () => told(await allAlerts(desk))[0]?.startsWith("-"));
    await desk.approvals.approve(await question(place, desk), ANN);
    await place.finish(desk.close());
  });

  test("that began before there was a monitor is found", async () => {
    const place = office();
    const desk = place.open();
    const hangs = desk.workflow("hangs", {}, (ctx, _: object) =>
      ctx.step("s", () => new Promise<number>(() => undefined)),
    );
    const { id } = await hangs.start({});
    await place.pass(5_000);
    const watcher = place.open();
    await watch(watcher, [rule]);
    await place.pass(57_000);
    assert.deepEqual(told(await allAlerts(watcher)), [`+ silent workflow:${id}`]);
  });

  test("of a workflow whose process has died is found by a monitor elsewhere", async () => {
    const place = office();
    const desk = place.open();
    const watcher = place.open();
    await watch(watcher, [rule]);
    const body = (ctx: Parameters<Parameters<Desk["workflow"]>[2]>[0]) =>
      ctx.step("s", () => new Promise<number>(() => undefined));
    const { id } = await desk.workflow("hangs", {}, body).start({});
    await place.pass(1_000);
    desk.crash();
    await standing(place, watcher);
    assert.deepEqual(told(await allAlerts(watcher)), [`+ silent workflow:${id}`]);
    await place.finish(watcher.close());
  });

  test("is judged by the store: what has moved meanwhile is not said, though the news has not come yet", async () => {
    const place = office();
    const desk = place.open();
    const held = Promise.withResolvers<number>();
    const flow = desk.workflow("w", {}, async (ctx, _: object) => {
      await ctx.step("long", () => held.promise);
      await ctx.sleep(600_000);
    });
    const { id } = await flow.start({});
    await place.pass(1_000);
    const watcher = place.open();
    await watch(watcher, [rule]);
    // Deaf: it hears of nothing that is committed from now on.
    const store = watcher.store as { log: unknown };
    store.log = async () => [];
    held.resolve(1);
    await atRest(place, desk, id);
    await place.pass(120_000);
    assert.deepEqual(await allAlerts(desk), []);
    await place.finish(desk.close());
  });
});

describe("tokens", () => {
  test("are counted as steps return them, also in results that are too large to stand in the journal", async () => {
    const place = office();
    const desk = place.open();
    const monitor = await watch(desk, [{ kind: "resources", name: "used", tokens: 150 }]);
    const flow = desk.workflow("w", {}, async (ctx, _: object) => {
      await ctx.step("short", () => ({ text: "a", tokens: { input: 90, output: 10 } }));
      await ctx.step("long", () => ({ text: "a".repeat(100_000), tokens: { input: 50, output: 1 } }));
      await ctx.checkpoint("Rest", {});
    });
    await flow.start({});
    await question(place, desk);
    await place.finish(monitor.caughtUp());
    const [alert] = await allAlerts(desk);
    assert.deepEqual(alert?.figures, { tokens: 151, limit: 150 });
    await place.finish(desk.close());
  });
});
