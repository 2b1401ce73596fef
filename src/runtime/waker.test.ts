import assert from "node:assert/strict";
import { test } from "node:test";
import { idleClock } from "../kernel/clock.ts";
import { intentStream, type StreamRef } from "../kernel/stream.ts";
import type { Store, StoreChanges } from "../stores/store.ts";
import { memoryStore } from "../testing/testing.ts";
import { createWaker } from "./waker.ts";

const TENANT = "acme";
const ONE = intentStream("int_one");
const TWO = intentStream("int_two");

type Scripted = Pick<Store, "position" | "follow">;

/** Moves when it is told to, and fails when it is told to; how many follow it now is counted. */
function scriptedStore() {
  let position = 0;
  let failures = 0;
  const moves: { readonly at: number; readonly stream: StreamRef }[] = [];
  const waiting = new Set<() => void>();
  const since = (after: number): StoreChanges => ({
    position,
    streams: moves.filter(({ at }) => at > after).map(({ stream }) => ({ tenant: TENANT, stream })),
  });
  const store: Scripted = {
    position: async () => position,
    async follow(after, signal) {
      if (failures > 0) {
        failures -= 1;
        throw new Error("the store is away");
      }
      if (position === after && !signal.aborted)
        await new Promise<void>((resolve) => {
          waiting.add(resolve);
          signal.addEventListener("abort", () => resolve(), { once: true });
        }).finally(() => waiting.clear());
      return signal.aborted ? { position: after, streams: [] } : since(after);
    },
  };
  return {
    store: store as Store,
    fail: (times: number) => {
      failures = times;
    },
    followers: () => waiting.size,
    move(stream: StreamRef) {
      position += 1;
      moves.push({ at: position, stream });
      for (const wake of [...waiting]) wake();
    },
  };
}

const soon = {
  ...idleClock,
  sleep: (ms: number, signal?: AbortSignal) => idleClock.sleep(Math.min(ms, 5), signal),
};
const never = { now: () => 0, sleep: () => new Promise<void>(() => undefined) };
const settled = () => new Promise<void>((resolve) => setImmediate(resolve));

test("whoever begins to wait in the moment in which the last one leaves is woken by what happens then", async () => {
  const { store, move } = scriptedStore();
  const waker = createWaker(store, TENANT, never);
  const first = await waker.watch([ONE]);
  first.close();
  const second = await waker.watch([TWO]);
  await settled();
  for (let times = 0; times < 3; times++) {
    let isWoken = false;
    second.moved(null).then(
      () => {
        isWoken = true;
      },
      () => undefined,
    );
    await settled();
    move(TWO);
    await settled();
    assert.ok(isWoken, `time ${times}`);
  }
  second.close();
});

test("a store that fails for a while lets those who wait look, and wakes them again afterwards", async () => {
  const { store, move, fail } = scriptedStore();
  const waker = createWaker(store, TENANT, soon);
  fail(2);
  const watch = await waker.watch([ONE]);
  await watch.moved(null);
  await settled();
  const moved = watch.moved(60_000);
  move(ONE);
  await moved;
  watch.close();
});

test("nobody is followed for when all have left, and a watch that could not be made is none", async () => {
  const { store, followers } = scriptedStore();
  const waker = createWaker(store, TENANT, never);
  const watches = await Promise.all([waker.watch([ONE]), waker.watch([TWO])]);
  await settled();
  assert.equal(followers(), 1);
  for (const watch of watches) watch.close();
  await settled();
  assert.equal(followers(), 0);
  const failing = { ...store, position: () => Promise.reject(new Error("the store is away")) };
  const other = createWaker({ ...failing, follow: () => assert.fail("nobody waits") }, TENANT, never);
  await assert.rejects(other.watch([ONE]), /away/);
});

test("when the instance closes, whoever waits is let go", async () => {
  const store = memoryStore();
  const waker = createWaker(store, TENANT, never);
  const watch = await waker.watch([TWO]);
  const moved = watch.moved(null);
  await settled();
  waker.close();
  await moved;
  watch.close();
  await store.close();
});
