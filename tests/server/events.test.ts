import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { instanceDefinitions } from "../../src/open.ts";
import type { Runtime } from "../../src/runtime/runtime.ts";
import { type Ear, listenTo } from "../fixtures/listen.ts";
import { type Bench, type BenchOptions, serverBench } from "../fixtures/server.ts";
import { setBudget, setSwitch } from "../fixtures/verbs.ts";

async function benchWithRuntime(
  t: TestContext,
  options: BenchOptions = {},
): Promise<Bench & { runtime: Runtime }> {
  let inside: ReturnType<typeof instanceDefinitions.get>;
  const bench = await serverBench(t, {
    define(hp) {
      inside = instanceDefinitions.get(hp);
    },
    ...options,
  });
  const { runtime } = (await inside?.open()) ?? assert.fail();
  // What the process itself writes down at its start is not what is counted here.
  await runtime.epoch();
  return { ...bench, runtime };
}

const budget = (runtime: Runtime, n: number) =>
  setBudget(runtime, `b${n}`, { currency: "USD", micros: BigInt(n) }, "person:ann");

const positions = (events: readonly { readonly id: number }[]): readonly number[] =>
  events.map(({ id }) => id);

test("listeners hear what happens in commit order, each what it asked for", async (t) => {
  const { url, runtime } = await benchWithRuntime(t);
  const all = await listenTo(`${url}/api/events`);
  const budgets = await listenTo(`${url}/api/events?stream=budget,approval`);
  await budget(runtime, 1);
  await setSwitch(runtime, true, { by: "person:ann", reason: "look" });
  await budget(runtime, 2);
  await Promise.all([all.heard(3), budgets.heard(2)]);
  assert.deepEqual(
    all.events.map(({ type }) => type),
    ["budget.limited", "switch.stopped", "budget.limited"],
  );
  assert.deepEqual(
    budgets.events.map(({ data }) => data["stream"]),
    ["budget/b1", "budget/b2"],
  );
  assert.deepEqual(
    positions(all.events),
    [...positions(all.events)].sort((a, b) => a - b),
  );
  assert.equal(all.events[1]?.data["position"], all.events[1]?.id);
  for (const ear of [all, budgets]) ear.stop();
});

test("whoever begins now hears nothing from before, though the process has not read it yet", async (t) => {
  const { url, runtime } = await benchWithRuntime(t);
  for (let n = 0; n < 20; n++) {
    await budget(runtime, 2 * n);
    const ear = await listenTo(`${url}/api/events`);
    await budget(runtime, 2 * n + 1);
    await ear.heard(1);
    assert.equal(ear.events[0]?.data["stream"], `budget/b${2 * n + 1}`);
    ear.stop();
  }
});

test("only what is about a workflow: its own entries, its actions and its approvals", async (t) => {
  let start: (() => Promise<{ id: string }>) | undefined;
  const { url, ask } = await serverBench(t, {
    define(hp) {
      const pay = hp.gate({ name: "pay", policy: "approve", run: () => "paid" });
      const flow = hp.workflow("flow", async (ctx) => {
        await ctx.call(pay, { amount: 1 });
        await ctx.checkpoint("look", { outputs: { done: true } });
      });
      start = () => flow.start(undefined);
    },
  });
  const one = (await start?.()) ?? assert.fail();
  const ear = await listenTo(`${url}/api/events?workflow=${one.id}&after=0`);
  await start?.();
  const isAsked = () => ear.events.some(({ type }) => type === "approval.requested");
  for (let count = 1; !isAsked(); count++) await ear.heard(count);
  const kinds = new Set(ear.events.map(({ data }) => String(data["stream"]).split("/")[0]));
  assert.deepEqual([...kinds].sort(), ["action", "approval", "workflow"]);
  for (const { data } of ear.events) assert.equal(data["workflow_id"], one.id);
  const approvals = await ask("/api/approvals");
  assert.ok((approvals.body["approvals"] as unknown[]).length >= 1);
  ear.stop();
});

test("a listener that comes back gets each event once and in order, from memory or from the store", async (t) => {
  const { url, runtime } = await benchWithRuntime(t);
  const first = await listenTo(`${url}/api/events`);
  await budget(runtime, 0);
  await first.heard(1);
  first.stop();
  const heard = [...positions(first.events)];
  let last = first.lastId();
  // More than is kept in memory, so that the beginning is read from the store.
  await Promise.all(Array.from({ length: 2_600 }, (_, n) => budget(runtime, n + 1)));
  const wanted = (await runtime.store.log(runtime.tenant, 0, 10_000))
    .filter(({ header }) => header.includes("budget/"))
    .map(({ position }) => position);
  assert.equal(wanted.length, 2_601);
  while (heard.length < wanted.length) {
    const again = await listenTo(`${url}/api/events?stream=budget`, {
      headers: { "last-event-id": String(last) },
    });
    await again.heard(Math.min(700, wanted.length - heard.length));
    again.stop();
    heard.push(...positions(again.events));
    last = again.events.at(-1)?.id ?? last;
  }
  assert.deepEqual(heard, wanted);
});

test("1,000 listeners each hear every event once and in order", { timeout: 300_000 }, async (t) => {
  const { url, runtime } = await benchWithRuntime(t, { listeners: 2_000 });
  const ears: Ear[] = [];
  for (let group = 0; group < 20; group++)
    ears.push(...(await Promise.all(Array.from({ length: 50 }, () => listenTo(`${url}/api/events`)))));
  await Promise.all(Array.from({ length: 50 }, (_, n) => budget(runtime, n)));
  await Promise.all(ears.map((ear) => ear.heard(50)));
  const wanted = (await runtime.store.log(runtime.tenant, 0, 1_000))
    .map(({ position }) => position)
    .slice(-50);
  for (const ear of ears) assert.deepEqual(positions(ear.events), wanted);
  for (const ear of ears) ear.stop();
});

test("a listener that does not read is cut off and can go on where it was; others are not held up", async (t) => {
  const { url, runtime } = await benchWithRuntime(t);
  const slow = await listenTo(`${url}/api/events`, { paused: true });
  slow.response.pause();
  const quick = await listenTo(`${url}/api/events`);
  const reason = "long ".repeat(2_000);
  const toggles = 2_400;
  for (let n = 0; n < toggles; n++) await setSwitch(runtime, n % 2 === 0, { by: "person:ann", reason });
  await quick.heard(toggles);
  slow.response.resume();
  await slow.ended;
  assert.equal(quick.events.length, toggles);
  quick.stop();
});

test("a credential has only so many streams, and an id that is no event's is refused", async (t) => {
  const { url } = await serverBench(t, { listeners: 2 });
  const ears = [await listenTo(`${url}/api/events`), await listenTo(`${url}/api/events`)];
  const third = await listenTo(`${url}/api/events`);
  assert.equal(third.status, 429);
  assert.ok(Number(third.response.headers["retry-after"]) >= 1);
  for (const id of ["-1", "x", "1e3", "99999999999999999999"])
    assert.equal((await listenTo(`${url}/api/events`, { headers: { "last-event-id": id } })).status, 400, id);
  const ahead = await listenTo(`${url}/api/events`, { headers: { "last-event-id": "123456789" } });
  assert.equal(ahead.status, 409);
  for (const ear of ears) ear.stop();
  for (let look = 0; look < 200; look++) {
    const again = await listenTo(`${url}/api/events`);
    again.stop();
    if (again.status === 200) return;
    await new Promise<void>((resolve) => setTimeout(resolve, 10));
  }
  assert.fail("the places were not given back");
});

test("when the server stops, streams end with how long to wait, and a beat moves the position on", async (t) => {
  const bench = await benchWithRuntime(t, { options: { audience: { beatMs: 20 } } });
  const ear = await listenTo(`${bench.url}/api/events?stream=alert`);
  await budget(bench.runtime, 1);
  const position = await bench.runtime.store.position();
  while (ear.lastId() < position) await new Promise<void>((resolve) => setTimeout(resolve, 10));
  await bench.close();
  await ear.ended;
  assert.match(ear.text(), /retry: \d+\nevent: closing\ndata: \{\}\n\n$/);
});
