import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { heldBack, postgresBench } from "../../../tests/fixtures/postgres-bench.ts";
import { actionStream } from "../../kernel/stream.ts";
import { commitResult, count, countedEvent, TENANT, times } from "../../testing/store-contract/fixture.ts";
import { checkChain } from "../../testing/store-contract/journal.ts";

const one = actionStream("one");
const bench = postgresBench(["max_connections=60"]);

describe("a PostgreSQL store in trouble", { concurrency: false }, () => {
  test("a line that is cut before the commit arrives: it is found out, and done once", async (t) => {
    const { open, proxy } = bench(t);
    const line = await proxy();
    const store = await open({ database: line.url });
    await count(store, "one");
    line.cutAtCommit("before");
    assert.equal(await count(store, "one"), 2);
    assert.equal(line.cuts(), 1);
    assert.equal((await store.read(TENANT, one)).length, 2);
  });

  test("a line that is cut after the commit was done: it is found out, and not done again", async (t) => {
    const { open, proxy } = bench(t);
    const line = await proxy();
    const store = await open({ database: line.url });
    await count(store, "one");
    line.cutAtCommit("after");
    assert.equal(await count(store, "one"), 2);
    assert.equal(line.cuts(), 1);
    assert.equal((await store.read(TENANT, one)).length, 2);
  });

  test("lines that are cut again and again lose nothing and repeat nothing", async (t) => {
    const { open, proxy } = bench(t);
    const line = await proxy();
    const store = await open({ database: line.url });
    for (let round = 0; round < 10; round++) {
      line.cutAtCommit(round % 2 === 0 ? "after" : "before");
      const seen = await Promise.all(times(8, () => count(store, "one")));
      assert.deepEqual(
        seen,
        times(8, (index) => round * 8 + index + 1),
      );
    }
    assert.equal(line.cuts(), 10);
    const entries = await store.read(TENANT, one);
    assert.equal(entries.length, 80);
    checkChain(entries);
  });

  test("a commit of names alone that cannot be found out is an error of its own", async (t) => {
    const { open, proxy } = bench(t);
    const line = await proxy();
    const store = await open({ database: line.url, busyMs: 2_000 });
    const take = () =>
      store.transact(TENANT, { names: ["n"] }, (sight) =>
        sight.name("n") === undefined
          ? { kind: "commit", append: [], names: [{ name: "n", stream: one }], result: "taken" }
          : commitResult("found"),
      );
    line.cutAtCommit("after");
    await assert.rejects(take(), { code: "commit_unknown", retryable: true });
    assert.equal(await take(), "found");
  });

  test("a server that crashes and starts again under load: what was acknowledged is there, once", async (t) => {
    const { open, server } = bench(t);
    const store = await open();
    let acknowledged = 0;
    let isOver = false;
    const load = times(8, async () => {
      while (!isOver) acknowledged = Math.max(acknowledged, await count(store, "one"));
    });
    for (let round = 0; round < 3; round++) {
      await sleep(60);
      const before = acknowledged;
      await server.crash();
      await server.start();
      while (acknowledged === before) await sleep(5);
    }
    isOver = true;
    await Promise.all(load);
    const entries = await store.read(TENANT, one);
    assert.equal(entries.length, acknowledged);
    checkChain(entries);
  });

  test("a server that stays away is an error that may be tried again, and nothing was written", async (t) => {
    const { open, server } = bench(t);
    const store = await open({ busyMs: 200 });
    await count(store, "one");
    await server.crash();
    await assert.rejects(count(store, "one"), { code: "store_unavailable", retryable: true });
    await assert.rejects(store.read(TENANT, one), { code: "store_unavailable" });
    await assert.rejects(open({ busyMs: 50 }), { code: "store_unavailable" });
    await server.start();
    assert.equal(await count(store, "one"), 2);
  });

  test("connections that the server ends do not end the process", async (t) => {
    const { open, sql } = bench(t);
    const store = await open();
    const waiting = store.follow(0, new AbortController().signal);
    await sleep(30);
    const end = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'holdpoint'";
    await (await sql()).query(end);
    assert.equal(await count(store, "one"), 1);
    assert.equal((await waiting).streams.length, 1);
  });

  test("a decision that the database cannot keep fails alone, and the others of its batch are kept", async (t) => {
    const { open, sql, schema } = bench(t);
    const store = await open();
    await count(store, "one");
    const client = await sql();
    await client.query(`ALTER TABLE ${schema}.hp_entries ADD CHECK (position('poison' in body) = 0)`);
    const answers = await Promise.allSettled([
      count(store, "a"),
      count(store, "b", { poison: true }),
      count(store, "c"),
    ]);
    assert.deepEqual(
      answers.map(({ status }) => status),
      ["fulfilled", "rejected", "fulfilled"],
    );
    await assert.rejects(count(store, "b", { poison: true }), { code: "broken_rule" });
    assert.equal(await count(store, "b"), 1);
  });

  test("a lock that is held for too long is an error that may be tried again", async (t) => {
    const { open } = bench(t);
    const store = await open({ busyMs: 150, hooks: { lockMs: 40 } });
    await count(store, "one");
    const { hooks, reached, go } = heldBack();
    const held = count(await open({ hooks }), "one");
    await reached;
    await assert.rejects(count(store, "one"), { code: "store_busy", retryable: true });
    go();
    assert.equal(await held, 2);
    assert.equal(await count(store, "one"), 3);
  });

  test("a process that is stopped inside a transaction loses it, and keeps nobody waiting", async (t) => {
    const { open, sql } = bench(t);
    const store = await open();
    await count(store, "one");
    const { hooks, reached, go } = heldBack();
    const late = count(await open({ hooks }), "one");
    await reached;
    const end = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE state = 'idle in transaction'";
    await (await sql()).query(end);
    assert.equal(await count(store, "one"), 2);
    go();
    assert.equal(await late, 3);
  });

  test("a decision of more entries than a transaction has places for is refused", async (t) => {
    const { open } = bench(t);
    const store = await open();
    const append = (many: number) =>
      store.transact(TENANT, { write: [one] }, () =>
        commitResult(null, { stream: one, events: times(many, () => countedEvent()) }),
      );
    await assert.rejects(append(16_385), { code: "payload_too_large" });
    await Promise.all([append(9_000), append(9_000)]);
    assert.equal((await store.read(TENANT, one, { fromSeq: 17_999 })).length, 2);
  });

  test("large values of many calls at once are written in portions", async (t) => {
    const { open } = bench(t);
    const store = await open();
    const text = "x".repeat(3_000_000);
    await Promise.all(times(12, (index) => count(store, `act-${index}`, { text, index })));
    assert.equal((await store.log(TENANT, 0, 100)).length, 12);
    const [entry] = await store.read(TENANT, actionStream("act-7"));
    assert.deepEqual(JSON.parse(entry?.body ?? ""), { text, index: 7 });
  });

  test("a disk that is full is an error that may be tried again, and work goes on when there is space", async (t) => {
    const { open, sql, schema } = bench(t);
    const store = await open();
    await count(store, "one");
    const client = await sql();
    await client.query(`CREATE FUNCTION ${schema}.fill() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN RAISE 'could not extend file: No space left on device' USING ERRCODE = '53100'; END $$;
      CREATE TRIGGER fill BEFORE INSERT ON ${schema}.hp_entries EXECUTE FUNCTION ${schema}.fill()`);
    await assert.rejects(count(store, "one"), { code: "store_full", retryable: true });
    const both = await Promise.allSettled([count(store, "one"), count(store, "two")]);
    assert.deepEqual(
      both.map(({ status }) => status),
      ["rejected", "rejected"],
    );
    await client.query(`DROP TRIGGER fill ON ${schema}.hp_entries`);
    assert.equal(await count(store, "one"), 2);
    assert.equal((await store.read(TENANT, one)).length, 2);
  });

  test("a server that becomes read-only while it runs says so, and work goes on afterwards", async (t) => {
    const { open, sql } = bench(t);
    const store = await open();
    await count(store, "one");
    const client = await sql();
    await client.query("SET default_transaction_read_only = off");
    const set = async (value: string) => {
      await client.query(`ALTER SYSTEM SET default_transaction_read_only = ${value}`);
      await client.query("SELECT pg_reload_conf()");
    };
    let done = 1;
    try {
      await set("on");
      // The server's processes hear of it each in its own time.
      const refusal = (async () => {
        for (;;) done = await count(store, "one");
      })();
      await assert.rejects(refusal, { code: "store_read_only" });
      await assert.rejects(count(store, "one"), { code: "store_read_only" });
    } finally {
      await set("off");
    }
    for (let seen: number | undefined; seen === undefined; ) {
      seen = await count(store, "one").catch(() => undefined);
      if (seen !== undefined) assert.equal(seen, done + 1);
    }
  });

  test("a server that may not be written is refused, and so is one that does not sync", async (t) => {
    const { open, sql, schema, server } = bench(t);
    await open();
    const client = await sql();
    await client.query("CREATE DATABASE reader");
    await client.query("ALTER DATABASE reader SET default_transaction_read_only = on");
    const database = server.url.replace(/postgres$/, "reader");
    await assert.rejects(open({ database, schema }), { code: "store_read_only" });
    await client.query("CREATE DATABASE latin ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0");
    await assert.rejects(open({ database: server.url.replace(/postgres$/, "latin") }), {
      code: "store_unsuitable",
    });
    await client.query("ALTER DATABASE postgres SET synchronous_commit = off");
    const store = await open();
    assert.equal(await count(store, "one"), 1);
    await client.query("ALTER DATABASE postgres RESET synchronous_commit");
  });

  test("a wrong address says what is wrong, and not the password", async (t) => {
    const { open, server } = bench(t);
    await assert.rejects(open({ database: "postgres://me:hush@[nowhere" }), (error: Error) => {
      assert.match(error.message, /invalid_input/);
      assert.doesNotMatch(JSON.stringify(error) + error.message + error.stack, /hush/);
      return true;
    });
    const database = server.url.replace(/postgres@(.*)postgres$/, "postgres:hush@$1nothere");
    await assert.rejects(open({ database, busyMs: 10 }), (error: Error) => {
      assert.match(error.message, /store_unavailable/);
      assert.doesNotMatch(JSON.stringify(error) + error.message + error.stack, /hush/);
      return true;
    });
  });

  test("a store that is not there is not made by who only wants an existing one", async (t) => {
    const { open } = bench(t);
    await assert.rejects(open({ mode: "existing" }), { code: "store_unavailable" });
    await open();
    await open({ mode: "existing" });
  });
});
