import assert from "node:assert/strict";
import { once } from "node:events";
import { describe, test } from "node:test";
import { postgresBench } from "../../../tests/fixtures/postgres-bench.ts";
import { actionStream } from "../../kernel/stream.ts";
import { count, TENANT } from "../../testing/store-contract/fixture.ts";

const one = actionStream("one");
const bench = postgresBench();
const hooks = { silentMs: 400 };

describe("a PostgreSQL server that stops answering", { concurrency: false }, () => {
  test("calls do not hang: they fail as unavailable, and go on when the server is back", async (t) => {
    const { open, proxy } = bench(t);
    const line = await proxy();
    const store = await open({ database: line.url, busyMs: 300, hooks });
    await count(store, "one");
    line.silence("all");
    await assert.rejects(count(store, "one"), { code: "store_unavailable", retryable: true });
    await assert.rejects(store.read(TENANT, one), { code: "store_unavailable" });
    await assert.rejects(open({ database: line.url, busyMs: 100, hooks }), {
      code: "store_unavailable",
      what: /^The database at 127\.0\.0\.1:\d+ cannot be reached: it does not answer\.$/,
    });
    assert.ok(line.silenced() >= 2);
    line.silence(false);
    assert.equal(await count(store, "one"), 2);
  });

  test("silence after a commit was sent: it is found out, and done once", async (t) => {
    const { open, proxy } = bench(t);
    const line = await proxy();
    const store = await open({ database: line.url, hooks });
    await count(store, "one");
    line.silence("commit");
    assert.equal(await count(store, "one"), 2);
    assert.equal(line.silenced(), 1);
    assert.equal((await store.read(TENANT, one)).length, 2);
  });

  test("a store that is followed over a line gone silent can be closed", async (t) => {
    const { open, proxy } = bench(t);
    const line = await proxy();
    const store = await open({ database: line.url, busyMs: 100, hooks });
    const stop = new AbortController();
    const waiting = store.follow(2 ** 50, stop.signal);
    await count(store, "one");
    line.silence("all");
    stop.abort();
    await waiting;
    await store.close();
  });
});

describe("closing a PostgreSQL store", { concurrency: false }, () => {
  test("close() settles after somebody followed, and the process ends with 0", async (t) => {
    const { spawn } = bench(t);
    const child = spawn(`const store = await open(); await count(store, "one");
      const stop = new AbortController(); const waiting = store.follow(2 ** 50, stop.signal); await sleep(200);
      stop.abort(); await waiting; await store.close(); say("closed");`);
    const [line, ended] = await Promise.all([child.heard(), once(child.process, "exit")]);
    assert.equal(line, "closed");
    assert.deepEqual(ended, [0, null]);
  });

  test("close() settles on connections that were only waiting to be used", async (t) => {
    const { spawn } = bench(t);
    const child = spawn(`const store = await open();
      await Promise.all([count(store, "one"), store.read(TENANT, { kind: "action", id: "one" })]);
      await sleep(100); await store.close(); say("closed");`);
    const [line, ended] = await Promise.all([child.heard(), once(child.process, "exit")]);
    assert.equal(line, "closed");
    assert.deepEqual(ended, [0, null]);
  });
});
