import assert from "node:assert/strict";
import { test } from "node:test";
import { idleClock } from "../kernel/clock.ts";
import { intentStream, type StreamRef } from "../kernel/stream.ts";
import type { JournalEntry, Store, StoreChanges } from "../stores/store.ts";
import { logPages, type Subscriber, subscribe } from "./subscribe.ts";

const TENANT = "acme";
const ONE = intentStream("int_one");

type Scripted = Pick<Store, "position" | "follow" | "log">;

/** A log of numbered entries that fails as often as it is told to. Requests for the log are counted. */
function scriptedStore() {
  let position = 0;
  let failures = 0;
  let reads = 0;
  const waiting = new Set<() => void>();
  const away = () => {
    if (failures === 0) return;
    failures -= 1;
    throw new Error("the store is away");
  };
  const store: Scripted = {
    position: async () => position,
    async log(_tenant, after, limit) {
      away();
      reads += 1;
      const count = Math.max(0, Math.min(limit, position - after));
      return Array.from({ length: count }, (_, index) => ({ position: after + index + 1 }) as JournalEntry);
    },
    async follow(after, signal): Promise<StoreChanges> {
      away();
      if (position === after && !signal.aborted)
        await new Promise<void>((resolve) => {
          waiting.add(resolve);
          signal.addEventListener("abort", () => resolve(), { once: true });
        });
      if (signal.aborted) return { position: after, streams: [] };
      return { position, streams: [{ tenant: TENANT, stream: ONE }] };
    },
  };
  return {
    log: {
      store: store as Store,
      tenant: TENANT,
      clock: { ...idleClock, sleep: (ms: number, signal?: AbortSignal) => idleClock.sleep(ms / 200, signal) },
    },
    reads: () => reads,
    fail: (times: number) => {
      failures = times;
    },
    move(times: number) {
      position += times;
      for (const wake of [...waiting]) wake();
    },
  };
}

/** A subscriber that notes what it takes, and fails once at one entry. */
function noting(failsAt = 0) {
  const seen: number[] = [];
  const errors: boolean[] = [];
  let isFailed = false;
  const subscriber: Subscriber = {
    entry({ position }) {
      if (position === failsAt && !isFailed) {
        isFailed = true;
        throw new Error("not now");
      }
      seen.push(position);
      return true;
    },
    failed: (_error, isNew) => errors.push(isNew),
  };
  return { seen, errors, subscriber };
}

test("a live cursor starts at the end, and takes each entry once in order, also after failures", async () => {
  const { log, move, fail } = scriptedStore();
  move(3);
  const { seen, errors, subscriber } = noting(6);
  const over = new AbortController();
  const subscription = subscribe(log, subscriber, over.signal);
  await subscription.begun;
  move(4);
  await subscription.caughtUp();
  fail(2);
  move(1);
  await subscription.caughtUp();
  over.abort();
  await subscription.done;
  assert.deepEqual(seen, [4, 5, 6, 7, 8]);
  assert.equal(errors.filter((isNew) => isNew).length, 2, "each failure is new once");
});

test("a kept cursor is read again after a failure, and stored as often as it says and at the end", async () => {
  const { log, move } = scriptedStore();
  const { seen, subscriber } = noting(5);
  let stored = 0;
  const keeps: number[] = [];
  const kept = {
    read: async () => stored,
    every: () => 3,
    async keep(position: number) {
      keeps.push(position);
      stored = position;
    },
  };
  const over = new AbortController();
  move(3);
  const subscription = subscribe(log, { ...subscriber, kept }, over.signal);
  await subscription.caughtUp();
  assert.deepEqual(keeps, [3]);
  move(4);
  await subscription.caughtUp();
  move(1);
  await subscription.caughtUp();
  over.abort();
  await subscription.done;
  assert.deepEqual(seen, [1, 2, 3, 4, 4, 5, 6, 7, 8], "entry 4 came again");
  assert.deepEqual(keeps, [3, 7, 8]);
});

test("changes come again after the subscriber failed, and the log is not read for them", async () => {
  const { log, move, reads } = scriptedStore();
  const taken: (readonly StreamRef[])[] = [];
  let times = 0;
  const { promise, resolve } = Promise.withResolvers<void>();
  const subscriber: Subscriber = {
    changed(streams) {
      if (++times === 1) throw new Error("not now");
      taken.push(streams);
      resolve();
    },
    failed: () => undefined,
  };
  const over = new AbortController();
  const subscription = subscribe(log, subscriber, over.signal);
  await subscription.begun;
  move(1);
  await promise;
  over.abort();
  await subscription.done;
  assert.deepEqual(taken, [[ONE]]);
  assert.equal(reads(), 0);
});

test("a ring and a due time call the subscriber without a commit, and nothing else does", async () => {
  const { log } = scriptedStore();
  let calls = 0;
  let due: number | null = null;
  const subscriber: Subscriber = {
    caughtUp: async () => {
      calls += 1;
      const next = due;
      due = null;
      return next;
    },
    failed: assert.fail,
  };
  const over = new AbortController();
  const subscription = subscribe(log, subscriber, over.signal);
  await subscription.caughtUp();
  const before = calls;
  await idleClock.sleep(30);
  assert.equal(calls, before);
  due = log.clock.now() + 1_000;
  subscription.ring();
  await idleClock.sleep(60);
  assert.equal(calls, before + 2);
  over.abort();
  await subscription.done;
});

test("streams that a subscriber passes over move its cursor, so that their entries are never read", async () => {
  const { log, move } = scriptedStore();
  const { seen, subscriber } = noting();
  let passes = true;
  const over = new AbortController();
  const subscription = subscribe(log, { ...subscriber, passesOver: () => passes }, over.signal);
  await subscription.caughtUp();
  move(2);
  await idleClock.sleep(20);
  passes = false;
  move(1);
  await subscription.caughtUp();
  await subscription.caughtUp();
  over.abort();
  await subscription.done;
  assert.deepEqual(seen, [3]);
});

test("pages of the log end with the first short one", async () => {
  const { log, move, reads } = scriptedStore();
  move(5);
  const pages: number[] = [];
  for await (const page of logPages(log, 1, 3)) pages.push(page.length);
  assert.deepEqual(pages, [3, 1]);
  assert.equal(reads(), 2);
});
