import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { heldBack, postgresBench } from "../../../tests/fixtures/postgres-bench.ts";
import { actionStream } from "../../kernel/stream.ts";
import { count, TENANT, times } from "../../testing/store-contract/fixture.ts";
import { type ChangesSince, createPostgresFollowers } from "./follow.ts";

const bench = postgresBench();
const ids = (moved: { readonly streams: readonly { readonly stream: { readonly id: string } }[] }) =>
  moved.streams.map(({ stream }) => stream.id).sort();

const FOREIGN = "BEGIN; SELECT pg_current_xact_id()";

const MINUTE_MS = 60_000;

/** A database that stalls for a minute at the first look, by a time that only looks and pauses move. */
function stalled() {
  let now = 0;
  const pauses: number[] = [];
  const paused: (() => void)[] = [];
  const pausing = Promise.withResolvers<void>();
  const committed: { position: number; tenant: string; streams: string[] }[] = [];
  const moves: ChangesSince = async (from) => {
    if (now === 0) now += MINUTE_MS;
    return { moves: [...committed], horizon: 100, seen: from };
  };
  const pace = {
    now: () => now,
    async sleep(ms: number) {
      pauses.push(ms);
      now += ms;
      pausing.resolve();
      await new Promise<void>((resolve) => paused.push(resolve));
    },
  };
  const listener = { start: () => {}, rest: () => {} };
  const followers = createPostgresFollowers({
    moves,
    listener,
    pollMs: MINUTE_MS,
    translate: (e) => e,
    pace,
  });
  const commit = () => {
    committed.push({ position: 5, tenant: TENANT, streams: ["action/act_1"] });
    followers.wake();
  };
  return { followers, pauses, commit, pausing: pausing.promise, goOn: () => paused.shift()?.() };
}

test("a look that waited out a stall is followed by a short pause, and what was told of in it is seen right after", async (t) => {
  const { followers, pauses, commit, pausing, goOn } = stalled();
  t.after(() => followers.close());
  const following = followers.follow(1, new AbortController().signal);
  await pausing;
  commit();
  goOn();
  assert.deepEqual(ids(await following), ["act_1"]);
  assert.equal(pauses[0], 250);
});

describe("following a PostgreSQL store", { concurrency: false }, () => {
  test("a long transaction of somebody else holds no follower up, and each move is told once", async (t) => {
    const { open, sql } = bench(t);
    const store = await open();
    const other = await open();
    await count(store, "before");
    const start = await store.position();
    const foreign = await sql();
    await foreign.query(FOREIGN);
    const { signal } = new AbortController();
    const seen: string[] = [];
    let position = start;
    for (const id of times(6, (index) => `act-${index}`)) {
      await count(id === "act-3" ? store : other, id);
      const moved = await store.follow(position, signal);
      assert.equal(moved.position, start);
      position = moved.position;
      seen.push(...ids(moved));
    }
    assert.deepEqual(
      seen,
      times(6, (index) => `act-${index}`),
    );
    assert.equal(await store.position(), start);
    assert.equal((await store.log(TENANT, start, 100)).length, 0);
    await foreign.query("COMMIT");
    await count(other, "last");
    const moved = await store.follow(position, signal);
    assert.deepEqual(ids(moved), ["last"]);
    assert.equal(moved.position, await store.position());
    assert.equal((await store.log(TENANT, start, 100)).length, 7);
  });

  test("another follower, from the same position, is told all of it too", async (t) => {
    const { open, sql } = bench(t);
    const store = await open();
    await count(store, "before");
    const start = await store.position();
    const foreign = await sql();
    await foreign.query(FOREIGN);
    await count(store, "one");
    await count(store, "two");
    for (let round = 0; round < 2; round++)
      assert.deepEqual(ids(await store.follow(start, new AbortController().signal)), ["one", "two"]);
  });

  test("a transaction that began early and commits late is not passed over", async (t) => {
    const { open } = bench(t);
    const store = await open();
    await count(store, "before");
    const { hooks, reached, go } = heldBack();
    const slow = await open({ hooks });
    const { signal } = new AbortController();
    let position = await store.position();
    const late = count(slow, "late");
    await reached;
    await count(store, "early");
    const first = await store.follow(position, signal);
    assert.deepEqual(ids(first), ["early"]);
    position = first.position;
    go();
    await late;
    const second = await store.follow(position, signal);
    assert.deepEqual(ids(second), ["late"]);
    const streams = (await store.log(TENANT, 0, 10)).map(({ header }) => JSON.parse(header).stream);
    assert.deepEqual(streams, ["action/before", "action/late", "action/early"]);
  });

  test("a notification that is lost costs time only", async (t) => {
    const { open } = bench(t);
    const deaf = await open({ hooks: { deaf: true, pollMs: 150 } });
    const other = await open();
    const waiting = deaf.follow(await deaf.position(), new AbortController().signal);
    await sleep(30);
    await count(other, "one");
    assert.deepEqual(ids(await waiting), ["one"]);
  });

  test("a notification wakes without the poll, also after the listening connection was lost", async (t) => {
    const { open, sql } = bench(t);
    const store = await open({ hooks: { pollMs: 60_000 } });
    const other = await open();
    const { signal } = new AbortController();
    let moved = store.follow(0, signal);
    await sleep(100);
    await count(other, "one");
    assert.deepEqual(ids(await moved), ["one"]);
    moved = store.follow((await moved).position, signal);
    const client = await sql();
    await client.query(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND query LIKE '%advisory_lock_shared((%'",
    );
    await count(other, "two");
    assert.deepEqual(ids(await moved), ["two"]);
  });

  test("nobody is notified while nobody waits", async (t) => {
    const { open, sql } = bench(t);
    const store = await open();
    const client = await sql();
    const heard: string[] = [];
    client.on("notification", ({ channel }) => heard.push(channel));
    await client.query(`LISTEN "holdpoint_${store.incarnation.slice(0, 16)}"`);
    await count(store, "one");
    await sleep(60);
    assert.deepEqual(heard, []);
    const controller = new AbortController();
    const waiting = store.follow(2 ** 50, controller.signal);
    while (heard.length === 0) {
      await count(store, "one");
      await sleep(20);
    }
    controller.abort();
    await waiting;
  });

  test("following from the start of a long history comes in portions, and misses nothing", async (t) => {
    const { open } = bench(t);
    const store = await open();
    for (let round = 0; round < 650; round += 13)
      await Promise.all(times(13, (i) => count(store, `a-${round + i}`)));
    for (let step = 0; step < 520; step++) await count(store, `b-${step % 5}`);
    const { signal } = new AbortController();
    const seen = new Set<string>();
    const end = await store.position();
    for (let position = 0; position < end; ) {
      const moved = await store.follow(position, signal);
      assert.ok(moved.position > position);
      position = moved.position;
      for (const id of ids(moved)) seen.add(id);
    }
    assert.equal(seen.size, 655);
    assert.equal((await store.read(TENANT, actionStream("b-0"))).length, 104);
  });
});
