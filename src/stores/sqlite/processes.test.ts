import assert from "node:assert/strict";
import { once } from "node:events";
import fs from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { sqliteBench } from "../../../tests/fixtures/sqlite-bench.ts";
import { actionStream } from "../../kernel/stream.ts";
import { count, TENANT } from "../../testing/store-contract/fixture.ts";
import { checkChain } from "../../testing/store-contract/journal.ts";

const HOLD = `const store = await open(); await store.holdEpoch("epo_child"); say("held"); setInterval(() => {}, 1000);`;

test("an epoch is released by the operating system when its process is killed", async (t) => {
  const { open, spawn } = sqliteBench(t);
  const store = await open();
  const child = await spawn(HOLD);
  assert.equal(await child.heard(), "held");
  assert.equal(await store.epochHeld("epo_child"), true);
  await child.kill("SIGKILL");
  assert.equal(await store.epochHeld("epo_child"), false);
  await store.holdEpoch("epo_child");
});

test("the lock of a dead process is cleared away by whoever finds it free", async (t) => {
  const { open, spawn, folder } = sqliteBench(t);
  const store = await open();
  const child = await spawn(HOLD);
  await child.heard();
  await child.kill("SIGKILL");
  assert.deepEqual(fs.readdirSync(`${folder}/epochs`), ["epo_child.lock"]);
  assert.equal(await store.epochHeld("epo_child"), false);
  assert.deepEqual(fs.readdirSync(`${folder}/epochs`), []);
});

test("processes that create the store at the same moment make one, and all write to it", async (t) => {
  const { open, spawn } = sqliteBench(t);
  const code = `const store = await open(); for (let step = 0; step < 10; step++) await count(store, "one"); say("done");`;
  const children = await Promise.all([spawn(code), spawn(code), spawn(code), spawn(code)]);
  for (const child of children) assert.equal(await child.heard(), "done");
  const store = await open();
  const entries = await store.read(TENANT, actionStream("one"));
  assert.equal(entries.length, 40);
  checkChain(entries);
});

test("a process that is stopped but not dead still holds its epoch", async (t) => {
  const { open, spawn } = sqliteBench(t);
  const store = await open();
  const child = await spawn(HOLD);
  await child.heard();
  child.process.kill("SIGSTOP");
  assert.equal(await store.epochHeld("epo_child"), true);
  child.process.kill("SIGCONT");
});

test("looking, opening and closing elsewhere in a process does not drop the locks it holds", async (t) => {
  const { open, spawn } = sqliteBench(t);
  const store = await open();
  await store.holdEpoch("epo_1");
  const other = await open();
  for (let look = 0; look < 5; look++) assert.equal(await other.epochHeld("epo_1"), true);
  await assert.rejects(other.holdEpoch("epo_1"), { code: "broken_rule" });
  await other.close();
  const child = await spawn(
    `const store = await open(); say(String(await store.epochHeld("epo_1"))); await store.close();`,
  );
  assert.equal(await child.heard(), "true");
});

test("what another process commits wakes a follower well within half a second", async (t) => {
  const { open, spawn } = sqliteBench(t);
  const store = await open();
  const child = await spawn(`const store = await open(); say("ready");
    for (let step = 0; step < 5; step++) { await sleep(60); say(String(Date.now())); await count(store, "one"); }
    await sleep(60_000);`);
  assert.equal(await child.heard(), "ready");
  const delays: number[] = [];
  for (let position = 0; position < 5; ) {
    ({ position } = await store.follow(position, AbortSignal.timeout(5000)));
    delays.push(Date.now() - Number(await child.heard()));
  }
  assert.ok(
    delays.every((delay) => delay < 500),
    `${delays} ms`,
  );
  t.diagnostic(`woken after ${delays.join(", ")} ms`);
});

test("processes killed while they write lose nothing that was acknowledged, and damage nothing", async (t) => {
  const { open, spawn, file } = sqliteBench(t);
  const store = await open();
  let acknowledged = 0;
  for (let round = 0; round < 4; round++) {
    const child = await spawn(`const store = await open();
      for (;;) say(String(Math.max(...(await Promise.all(Array.from({ length: 8 }, () => count(store, "one")))))));`);
    await child.heard();
    const until = performance.now() + 30 + 25 * round;
    while (performance.now() < until) acknowledged = Math.max(acknowledged, await count(store, "one"));
    await child.kill("SIGKILL");
    for (let line = "0"; line !== ""; line = await Promise.race([child.heard(), sleep(20, "")])) {
      acknowledged = Math.max(acknowledged, Number(line));
    }
    const entries = await store.read(TENANT, actionStream("one"));
    assert.ok(entries.length >= acknowledged, `${entries.length} of ${acknowledged}`);
    checkChain(entries);
  }
  await store.close();
  const db = new DatabaseSync(file);
  assert.deepEqual({ ...db.prepare("PRAGMA integrity_check").get() }, { integrity_check: "ok" });
  db.close();
});

test("a process that writes without pause leaves others their turn", async (t) => {
  const { open, spawn } = sqliteBench(t);
  const store = await open();
  const child = await spawn(`const store = await open(); say("ready");
    await Promise.all(Array.from({ length: 200 }, async () => { for (;;) await count(store, "child"); }));`);
  await child.heard();
  let many = 0;
  const until = performance.now() + 800;
  for (; performance.now() < until; many++) await count(store, "parent");
  await child.kill();
  const others = (await store.read(TENANT, actionStream("child"))).length;
  t.diagnostic(`${many} single calls beside ${others} of a flood in 800 ms`);
  assert.ok(many >= 15, `${many} single calls beside ${others}`);
});

test("a process with an open store and nothing to do ends by itself; one that follows stays", async (t) => {
  const { spawn } = sqliteBench(t);
  const idle = await spawn(`const store = await open(); await count(store, "one");
    const stop = new AbortController(); const waiting = store.follow(9, stop.signal); stop.abort(); await waiting; say("idle");`);
  await idle.heard();
  assert.deepEqual(await once(idle.process, "exit"), [0, null]);
  const waiting = await spawn(
    `const store = await open(); say("waiting"); await store.follow(9, new AbortController().signal);`,
  );
  await waiting.heard();
  await sleep(600);
  assert.equal(waiting.process.exitCode, null);
});
