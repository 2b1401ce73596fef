/** Contract tests of several processes on one database: concurrent decisions, epochs, following, closing a handle. */

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { limitBudget, reserveAmount, settleReservation } from "../../budgets/stream.ts";
import { actionStream, budgetStream } from "../../kernel/stream.ts";
import type { Store } from "../../stores/store.ts";
import {
  type CreateDatabase,
  commitResult,
  count,
  countedEvent,
  countStateOf,
  type Fixture,
  openFixture,
  spread,
  TENANT,
  times,
} from "./fixture.ts";
import { checkChain } from "./journal.ts";

const budget = budgetStream("all");
const usd = (micros: bigint) => ({ currency: "USD", micros });

async function four({ store, another }: Fixture): Promise<Store[]> {
  return [store, await another(), await another(), await another()];
}

function take(store: Store, effect: string): Promise<boolean> {
  return store.transact(TENANT, { write: [budget] }, (sight) => {
    const { admitted, events } = reserveAmount(sight.state(budget), effect, usd(7n));
    return commitResult(admitted, { stream: budget, events });
  });
}

export function concurrencyClaims(create: CreateDatabase): void {
  describe("many at once", () => {
    test("a counter that four processes count at once never loses a step", async (t) => {
      const stores = await four(await openFixture(t, create));
      const seen = await spread(stores, 120, (store) => count(store, "one"));
      assert.deepEqual(
        seen.sort((a, b) => a - b),
        Array.from({ length: 120 }, (_, index) => index + 1),
      );
      checkChain(await stores[3]?.read(TENANT, actionStream("one")));
    });

    test("of many processes that take a name at once, exactly one gets it", async (t) => {
      const stores = await four(await openFixture(t, create));
      const won = await spread(stores, 40, (store, index) => {
        const stream = actionStream(`act-${index}`);
        return store.transact(TENANT, { write: [stream], names: ["request/1"] }, (sight) => {
          if (sight.name("request/1") !== undefined) return commitResult(false);
          const append = [{ stream, events: [countedEvent()] }];
          return { kind: "commit", append, names: [{ name: "request/1", stream }], result: true };
        });
      });
      assert.equal(won.filter(Boolean).length, 1);
      assert.equal((await stores[1]?.log(TENANT, 0, 100))?.length, 1);
    });

    test("200 reservations from four processes never exceed the budget", async (t) => {
      const stores = await four(await openFixture(t, create));
      await stores[0]?.transact(TENANT, { write: [budget] }, () =>
        commitResult(null, { stream: budget, events: limitBudget(usd(500n), "test") }),
      );
      const admitted = await spread(stores, 200, (store, index) => take(store, `eff-${index}`));
      assert.equal(admitted.filter(Boolean).length, 71);
      const state = await stores[2]?.transact(TENANT, { read: [budget] }, (sight) =>
        commitResult(sight.state(budget)),
      );
      assert.equal(state?.reserved, 497n);
    });

    test("two streams that move together are never seen apart", async (t) => {
      const stores = await four(await openFixture(t, create));
      const [left, right] = [actionStream("left"), actionStream("right")];
      const apart = await spread(stores, 80, (store) =>
        store.transact(TENANT, { write: [left, right] }, (sight) => {
          const difference = countStateOf(sight, left).count - countStateOf(sight, right).count;
          return commitResult(
            difference,
            { stream: left, events: [countedEvent()] },
            { stream: right, events: [countedEvent()] },
          );
        }),
      );
      assert.deepEqual([...new Set(apart)], [0]);
    });

    test("what one process wrote is what another decides on next", async (t) => {
      const [first, second] = await four(await openFixture(t, create));
      assert.ok(first && second);
      for (let step = 1; step <= 30; step += 2) {
        assert.equal(await count(first, "one"), step);
        assert.equal(await count(second, "one"), step + 1);
      }
    });

    test("a reservation that one process makes another one settles, once", async (t) => {
      const [first, second, third] = await four(await openFixture(t, create));
      assert.ok(first && second && third);
      await first.transact(TENANT, { write: [budget] }, () =>
        commitResult(null, { stream: budget, events: limitBudget(usd(10n), "test") }),
      );
      assert.equal(await take(first, "eff"), true);
      const end = (store: Store) =>
        store.transact(TENANT, { write: [budget] }, (sight) => {
          const events = settleReservation(sight.state(budget), "eff", 6n);
          return commitResult(events.length, { stream: budget, events });
        });
      const ended = await Promise.all([end(second), end(third), end(second)]);
      assert.equal(
        ended.reduce((sum, one) => sum + one),
        1,
      );
    });
  });
}

export function epochClaims(create: CreateDatabase): void {
  describe("epochs", () => {
    test("an epoch is held from when it is taken until it is released, as every process sees", async (t) => {
      const { store, another } = await openFixture(t, create);
      const other = await another();
      assert.equal(await other.epochHeld("epo_1"), false);
      const hold = await store.holdEpoch("epo_1");
      for (let look = 0; look < 3; look++) {
        assert.equal(await other.epochHeld("epo_1"), true);
        assert.equal(await store.epochHeld("epo_1"), true);
      }
      assert.equal(await other.epochHeld("epo_2"), false);
      await hold.release();
      assert.equal(await other.epochHeld("epo_1"), false);
      await hold.release();
    });

    test("an epoch has one holder", async (t) => {
      const { store, another } = await openFixture(t, create);
      const other = await another();
      await store.holdEpoch("epo_1");
      await assert.rejects(other.holdEpoch("epo_1"), { code: "broken_rule" });
      await assert.rejects(store.holdEpoch("epo_1"), { code: "broken_rule" });
      assert.equal(await other.epochHeld("epo_1"), true);
    });

    test("a process may hold several epochs, with odd ids", async (t) => {
      const { store, another } = await openFixture(t, create);
      const ids = ["epo_1", "../x", "a/b", "é".repeat(300), "con:1"];
      const holds = await Promise.all(ids.map((id) => store.holdEpoch(id)));
      const other = await another();
      await holds[1]?.release();
      assert.deepEqual(await Promise.all(ids.map((id) => other.epochHeld(id))), [
        true,
        false,
        true,
        true,
        true,
      ]);
    });

    test("what a process holds is released when it closes", async (t) => {
      const { store, another } = await openFixture(t, create);
      const other = await another();
      await other.holdEpoch("epo_1");
      await other.close();
      assert.equal(await store.epochHeld("epo_1"), false);
    });

    test("what a process has left is held after it has closed", async (t) => {
      const { store, another } = await openFixture(t, create);
      const other = await another();
      const hold = await other.holdEpoch("epo_1");
      await other.holdEpoch("epo_2");
      hold.leave();
      await other.close();
      assert.equal(await store.epochHeld("epo_1"), true);
      assert.equal(await store.epochHeld("epo_2"), false);
      await hold.release();
    });
  });
}

const signal = () => new AbortController().signal;
const moved = (...ids: readonly string[]) => ids.map((id) => ({ tenant: TENANT, stream: actionStream(id) }));

export function followClaims(create: CreateDatabase): void {
  describe("following", () => {
    test("whoever waits is woken by a commit of its own process", async (t) => {
      const { store } = await openFixture(t, create);
      const waiting = store.follow(0, signal());
      await count(store, "one");
      assert.deepEqual(await waiting, { position: await store.position(), streams: moved("one") });
    });

    test("whoever waits is woken by a commit of another process", async (t) => {
      const { store, another } = await openFixture(t, create);
      const other = await another();
      const waiting = store.follow(await store.position(), signal());
      await count(other, "one");
      assert.deepEqual(await waiting, { position: await store.position(), streams: moved("one") });
    });

    test("what was committed between asking for the position and following is not missed", async (t) => {
      const { store, another } = await openFixture(t, create);
      const other = await another();
      await count(store, "one");
      const position = await store.position();
      await count(other, "two");
      await count(other, "two");
      const news = await store.follow(position, signal());
      assert.deepEqual(news, { position: await store.position(), streams: moved("two") });
    });

    test("a follower sees every stream that moves, in a race with four writers", async (t) => {
      const { store, another } = await openFixture(t, create);
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
      const { store, another } = await openFixture(t, create);
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
      const { store } = await openFixture(t, create);
      const controller = new AbortController();
      const waiting = store.follow(0, controller.signal);
      await store.transact(TENANT, {}, () => ({ kind: "commit", append: [], result: null }));
      assert.equal(await Promise.race([waiting, sleep(30, "still waiting")]), "still waiting");
      controller.abort();
      await waiting;
    });

    test("an abort ends the waiting with nothing moved, before and during it", async (t) => {
      const { store } = await openFixture(t, create);
      assert.deepEqual(await store.follow(0, AbortSignal.abort()), { position: 0, streams: [] });
      const controller = new AbortController();
      const waiting = store.follow(0, controller.signal);
      controller.abort();
      assert.deepEqual(await waiting, { position: 0, streams: [] });
    });
  });
}

const closed = { code: "closed" };

export function lifeClaims(create: CreateDatabase): void {
  describe("closing", () => {
    test("what was asked before closing is answered, and written", async (t) => {
      const { store, another } = await openFixture(t, create);
      const asked = times(20, () => count(store, "one"));
      await store.close();
      assert.deepEqual(
        await Promise.all(asked),
        times(20, (index) => index + 1),
      );
      assert.equal((await (await another()).read(TENANT, actionStream("one"))).length, 20);
    });

    test("after closing every call is refused", async (t) => {
      const { store } = await openFixture(t, create);
      await store.close();
      await store.close();
      await assert.rejects(count(store, "one"), closed);
      await assert.rejects(store.read(TENANT, actionStream("one")), closed);
      await assert.rejects(store.log(TENANT, 0, 1), closed);
      await assert.rejects(store.query(TENANT, { view: "tallies", limit: 1 }), closed);
      await assert.rejects(store.position(), closed);
      await assert.rejects(store.follow(0, new AbortController().signal), closed);
      await assert.rejects(store.holdEpoch("epo_1"), closed);
      await assert.rejects(store.epochHeld("epo_1"), closed);
      await assert.rejects(store.seals(TENANT), closed);
      await assert.rejects(store.getSecret(TENANT, "token"), closed);
      await assert.rejects(store.rebuildViews(), closed);
    });

    test("closing refuses those who still follow", async (t) => {
      const { store } = await openFixture(t, create);
      const waiting = store.follow(0, new AbortController().signal);
      const refused = assert.rejects(waiting, closed);
      await store.close();
      await refused;
    });

    test("closing one process leaves the others alone", async (t) => {
      const { store, another } = await openFixture(t, create);
      const other = await another();
      await count(other, "one");
      await other.close();
      assert.equal(await count(store, "one"), 2);
    });

    test("all processes know the history by the same name", async (t) => {
      const { store, another } = await openFixture(t, create);
      assert.match(store.incarnation, /^[0-9a-f]{32}$/);
      assert.equal((await another()).incarnation, store.incarnation);
    });
  });
}
