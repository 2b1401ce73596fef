import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { limitBudget, reserve, settle } from "../../core/budget.ts";
import { actionStream, budgetStream } from "../../kernel/stream.ts";
import type { Store } from "../../stores/store.ts";
import {
  type Bench,
  bench,
  type CreateDatabase,
  commit,
  count,
  counted,
  spread,
  TENANT,
  tallyOf,
} from "./bench.ts";
import { checkChain } from "./chain.ts";

const budget = budgetStream("all");
const usd = (micros: bigint) => ({ currency: "USD", micros });

async function four({ store, another }: Bench): Promise<Store[]> {
  return [store, await another(), await another(), await another()];
}

function take(store: Store, effect: string): Promise<boolean> {
  return store.transact(TENANT, { write: [budget] }, (sight) => {
    const { admitted, events } = reserve(sight.state(budget), effect, usd(7n));
    return commit(admitted, { stream: budget, events });
  });
}

export function concurrencyClaims(create: CreateDatabase): void {
  describe("many at once", () => {
    test("a counter that four processes count at once never loses a step", async (t) => {
      const stores = await four(await bench(t, create));
      const seen = await spread(stores, 120, (store) => count(store, "one"));
      assert.deepEqual(
        seen.sort((a, b) => a - b),
        Array.from({ length: 120 }, (_, index) => index + 1),
      );
      checkChain(await stores[3]?.read(TENANT, actionStream("one")));
    });

    test("of many processes that take a name at once, exactly one gets it", async (t) => {
      const stores = await four(await bench(t, create));
      const won = await spread(stores, 40, (store, index) => {
        const stream = actionStream(`act-${index}`);
        return store.transact(TENANT, { write: [stream], names: ["request/1"] }, (sight) => {
          if (sight.name("request/1") !== undefined) return commit(false);
          const append = [{ stream, events: [counted()] }];
          return { kind: "commit", append, names: [{ name: "request/1", stream }], result: true };
        });
      });
      assert.equal(won.filter(Boolean).length, 1);
      assert.equal((await stores[1]?.log(TENANT, 0, 100))?.length, 1);
    });

    test("200 reservations from four processes never exceed the budget", async (t) => {
      const stores = await four(await bench(t, create));
      await stores[0]?.transact(TENANT, { write: [budget] }, () =>
        commit(null, { stream: budget, events: limitBudget(usd(500n), "test") }),
      );
      const admitted = await spread(stores, 200, (store, index) => take(store, `eff-${index}`));
      assert.equal(admitted.filter(Boolean).length, 71);
      const state = await stores[2]?.transact(TENANT, { read: [budget] }, (sight) =>
        commit(sight.state(budget)),
      );
      assert.equal(state?.reserved, 497n);
    });

    test("two streams that move together are never seen apart", async (t) => {
      const stores = await four(await bench(t, create));
      const [left, right] = [actionStream("left"), actionStream("right")];
      const apart = await spread(stores, 80, (store) =>
        store.transact(TENANT, { write: [left, right] }, (sight) => {
          const difference = tallyOf(sight, left).count - tallyOf(sight, right).count;
          return commit(
            difference,
            { stream: left, events: [counted()] },
            { stream: right, events: [counted()] },
          );
        }),
      );
      assert.deepEqual([...new Set(apart)], [0]);
    });

    test("what one process wrote is what another decides on next", async (t) => {
      const [first, second] = await four(await bench(t, create));
      assert.ok(first && second);
      for (let step = 1; step <= 30; step += 2) {
        assert.equal(await count(first, "one"), step);
        assert.equal(await count(second, "one"), step + 1);
      }
    });

    test("a reservation that one process makes another one settles, once", async (t) => {
      const [first, second, third] = await four(await bench(t, create));
      assert.ok(first && second && third);
      await first.transact(TENANT, { write: [budget] }, () =>
        commit(null, { stream: budget, events: limitBudget(usd(10n), "test") }),
      );
      assert.equal(await take(first, "eff"), true);
      const end = (store: Store) =>
        store.transact(TENANT, { write: [budget] }, (sight) => {
          const events = settle(sight.state(budget), "eff", 6n);
          return commit(events.length, { stream: budget, events });
        });
      const ended = await Promise.all([end(second), end(third), end(second)]);
      assert.equal(
        ended.reduce((sum, one) => sum + one),
        1,
      );
    });
  });
}
