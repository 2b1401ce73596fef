import assert from "node:assert/strict";
import { once } from "node:events";
import { describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { postgresBench } from "../../../tests/fixtures/postgres-bench.ts";
import { limitBudget, reserveAmount } from "../../budgets/stream.ts";
import { actionStream, budgetStream } from "../../kernel/stream.ts";
import {
  commitResult,
  count,
  countedEvent,
  START,
  TENANT,
  times,
} from "../../testing/store-contract/fixture.ts";
import { checkChain } from "../../testing/store-contract/journal.ts";

const bench = postgresBench();
const budget = budgetStream("all");
const usd = (micros: bigint) => ({ currency: "USD", micros });

describe("processes on one PostgreSQL store", { concurrency: false }, () => {
  test("processes that race on one stream lose nothing, also when one is killed", async (t) => {
    const { open, spawn } = bench(t);
    const store = await open();
    const flood = `const store = await open();
      for (;;) say(String(Math.max(...(await Promise.all(Array.from({ length: 8 }, () => count(store, "one")))))));`;
    const children = [spawn(flood), spawn(flood)];
    await Promise.all(children.map((child) => child.heard()));
    let acknowledged = 0;
    for (let step = 0; step < 40; step++) acknowledged = await count(store, "one");
    for (const child of children) acknowledged = Math.max(acknowledged, Number(await child.heard()));
    await Promise.all(children.map((child) => child.kill()));
    const last = await count(store, "one");
    assert.ok(last > acknowledged);
    const entries = await store.read(TENANT, actionStream("one"));
    assert.equal(entries.length, last);
    checkChain(entries);
    const rising = entries.map(({ position }) => position);
    assert.deepEqual(
      rising.toSorted((a, b) => a - b),
      rising,
    );
  });

  test("the log's order never contradicts a stream's, whatever else a transaction waits for", async (t) => {
    const { open } = bench(t);
    const stores = await Promise.all(times(3, () => open()));
    const hot = actionStream("hot");
    const both = (index: number) => {
      const own = actionStream(`act-${index}`);
      return stores[index % 3]?.transact(TENANT, { write: [own, hot], names: [`n-${index}`] }, () =>
        commitResult(
          null,
          { stream: own, events: [countedEvent()] },
          { stream: hot, events: [countedEvent()] },
        ),
      );
    };
    await Promise.all(times(150, both));
    const log = await stores[0]?.log(TENANT, 0, 1000);
    const seqs = (log ?? [])
      .map(({ header }) => JSON.parse(header))
      .filter(({ stream }) => stream === "action/hot")
      .map(({ seq }) => seq);
    assert.deepEqual(
      seqs,
      times(150, (index) => index + 1),
    );
  });

  test("one budget shared by all calls of three processes is never exceeded", async (t) => {
    const { open } = bench(t);
    const stores = await Promise.all(times(3, () => open()));
    await stores[0]?.transact(TENANT, { write: [budget] }, () =>
      commitResult(null, { stream: budget, events: limitBudget(usd(1_000n), "test") }),
    );
    const admitted = await Promise.all(
      times(300, (index) => {
        const own = actionStream(`act-${index}`);
        return stores[index % 3]?.transact(TENANT, { write: [own] }, (sight) => {
          const needs = sight.missing({ write: [budget] });
          if (needs !== undefined) return { kind: "need", needs };
          const { admitted: isIn, events } = reserveAmount(sight.state(budget), `eff-${index}`, usd(7n));
          return commitResult(isIn, { stream: own, events: [countedEvent()] }, { stream: budget, events });
        });
      }),
    );
    assert.equal(admitted.filter(Boolean).length, 142);
  });

  test("an epoch ends when its lease was not renewed in time, and cannot be renewed then", async (t) => {
    const { open } = bench(t);
    let now = START;
    const clock = { now: () => now };
    const store = await open({ clock, leaseMs: 1_000 });
    const other = await open({ clock, leaseMs: 1_000 });
    const hold = await store.holdEpoch("epo_1");
    assert.equal(hold.leaseMs, 1_000);
    now += 900;
    await hold.renew?.();
    now += 900;
    assert.equal(await other.epochHeld("epo_1"), true);
    await assert.rejects(other.holdEpoch("epo_1"), { code: "broken_rule" });
    now += 100;
    assert.equal(await other.epochHeld("epo_1"), false);
    await assert.rejects(async () => hold.renew?.(), { code: "epoch_ended" });
    await other.holdEpoch("epo_1");
    await hold.release();
    assert.equal(await store.epochHeld("epo_1"), true);
  });

  test("a lease that lapsed leaves no row behind once somebody has come across it, and one that holds keeps its own", async (t) => {
    const { open, sql, schema } = bench(t);
    let now = START;
    const clock = { now: () => now };
    const store = await open({ clock, leaseMs: 1_000 });
    const client = await sql();
    const rows = async () => (await client.query(`SELECT id FROM ${schema}.hp_epochs`)).rowCount;
    const dead = await store.holdEpoch("epo_1");
    now += 500;
    await store.holdEpoch("epo_2");
    now += 600;
    assert.equal(await rows(), 2);
    assert.equal(await store.epochHeld("epo_1"), false);
    assert.equal(await store.epochHeld("epo_2"), true);
    assert.equal(await rows(), 1);
    await assert.rejects(async () => dead.renew?.(), { code: "epoch_ended" });
    assert.equal(await store.epochHeld("epo_1"), false);
  });

  test("time is the database's, not that of the process", async (t) => {
    const { open, sql } = bench(t);
    const store = await open();
    const now = () =>
      store.transact(TENANT, { write: [actionStream("one")] }, (sight) => commitResult(sight.now));
    const client = await sql();
    const read = async () =>
      Number(
        (await client.query("SELECT floor(extract(epoch FROM clock_timestamp()) * 1000) AS ms")).rows[0].ms,
      );
    const before = await read();
    const seen = await now();
    assert.ok(before <= seen && seen <= (await read()));
  });

  test("a process with an open store and nothing to do ends by itself; one that follows stays", async (t) => {
    const { spawn } = bench(t);
    const idle = spawn(`const store = await open(); await count(store, "one");
      const stop = new AbortController(); const waiting = store.follow(2 ** 50, stop.signal); await sleep(50);
      stop.abort(); await waiting; say("idle");`);
    await idle.heard();
    assert.deepEqual(await once(idle.process, "exit"), [0, null]);
    const waiting = spawn(
      `const store = await open(); say("waiting"); await store.follow(2 ** 50, new AbortController().signal);`,
    );
    await waiting.heard();
    await sleep(300);
    assert.equal(waiting.process.exitCode, null);
  });

  test("what another process commits wakes a follower", async (t) => {
    const { open, spawn } = bench(t);
    const store = await open({ hooks: { pollMs: 60_000 } });
    const child = spawn(`const store = await open(); say("ready");
      for (let step = 0; step < 5; step++) { await sleep(40); say(String(Date.now())); await count(store, "one"); }
      await sleep(60_000);`);
    await child.heard();
    const delays: number[] = [];
    for (let position = 0; delays.length < 5; ) {
      ({ position } = await store.follow(position, AbortSignal.timeout(10_000)));
      delays.push(Date.now() - Number(await child.heard()));
    }
    t.diagnostic(`woken after ${delays.join(", ")} ms`);
  });
});
