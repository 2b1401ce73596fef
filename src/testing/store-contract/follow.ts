import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { actionStream } from "../../kernel/stream.ts";
import { bench, type CreateDatabase, count, TENANT } from "./bench.ts";

const signal = () => new AbortController().signal;
const moved = (...ids: readonly string[]) => ids.map((id) => ({ tenant: TENANT, stream: actionStream(id) }));

export function followClaims(create: CreateDatabase): void {
  describe("following", () => {
    test("whoever waits is woken by a commit of its own process", async (t) => {
      const { store } = await bench(t, create);
      const waiting = store.follow(0, signal());
      await count(store, "one");
      assert.deepEqual(await waiting, { position: await store.position(), streams: moved("one") });
    });

    test("whoever waits is woken by a commit of another process", async (t) => {
      const { store, another } = await bench(t, create);
      const other = await another();
      const waiting = store.follow(await store.position(), signal());
      await count(other, "one");
      assert.deepEqual(await waiting, { position: await store.position(), streams: moved("one") });
    });

    test("what was committed between asking for the position and following is not missed", async (t) => {
      const { store, another } = await bench(t, create);
      const other = await another();
      await count(store, "one");
      const position = await store.position();
      await count(other, "two");
      await count(other, "two");
      const news = await store.follow(position, signal());
      assert.deepEqual(news, { position: await store.position(), streams: moved("two") });
    });

    test("a follower sees every stream that moves, in a race with four writers", async (t) => {
      const { store, another } = await bench(t, create);
      const writers = [await another(), await another()];
      const seen = new Set<string>();
      const following = (async () => {
        for (let position = 0; seen.size < 60; ) {
          const news = await store.follow(position, signal());
          assert.ok(news.position > position);
          position = news.position;
          for (const { stream } of news.streams) seen.add(stream.id);
        }
      })();
      for (let step = 0; step < 60; step++) await count(writers[step % 2] ?? store, `act-${step}`);
      await following;
      assert.equal(seen.size, 60);
    });

    test("several who wait are all woken", async (t) => {
      const { store, another } = await bench(t, create);
      const waiting = [
        store.follow(0, signal()),
        store.follow(0, signal()),
        (await another()).follow(0, signal()),
      ];
      await count(store, "one");
      const news = await Promise.all(waiting);
      assert.deepEqual(
        news.map(({ position }) => position),
        Array(3).fill(await store.position()),
      );
    });

    test("nobody is woken by a decision that wrote nothing", async (t) => {
      const { store } = await bench(t, create);
      const controller = new AbortController();
      const waiting = store.follow(0, controller.signal);
      await store.transact(TENANT, {}, () => ({ kind: "commit", append: [], result: null }));
      assert.equal(await Promise.race([waiting, sleep(30, "still waiting")]), "still waiting");
      controller.abort();
      await waiting;
    });

    test("an abort ends the waiting with nothing moved, before and during it", async (t) => {
      const { store } = await bench(t, create);
      assert.deepEqual(await store.follow(0, AbortSignal.abort()), { position: 0, streams: [] });
      const controller = new AbortController();
      const waiting = store.follow(0, controller.signal);
      controller.abort();
      assert.deepEqual(await waiting, { position: 0, streams: [] });
    });
  });
}
