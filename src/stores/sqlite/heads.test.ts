import assert from "node:assert/strict";
import { test } from "node:test";
import { sqliteBench } from "../../../tests/fixtures/sqlite-bench.ts";
import type { BudgetState } from "../../core/budget.ts";
import { limitBudget } from "../../core/budget.ts";
import type { Fold } from "../../core/event.ts";
import { budgetStream } from "../../core/stream.ts";
import { commit, count, FOLDS, randomOf, TENANT, times } from "../../testing/store-contract/bench.ts";
import { SNAPSHOT_EVERY } from "./snapshots.ts";

const budget = budgetStream("b");
const big = { currency: "USD", micros: 2n ** 70n };

/** The budget's fold, counting how often it is asked. */
function counting(version: number): { fold: Fold<BudgetState>; asked(): number } {
  let asked = 0;
  const evolve: Fold<BudgetState>["evolve"] = (state, event) => {
    asked += 1;
    return FOLDS.budget.evolve(state, event);
  };
  return { fold: { ...FOLDS.budget, version, evolve }, asked: () => asked };
}

test("calls that are made together share a commit", async (t) => {
  const { open } = sqliteBench(t);
  const sizes: number[] = [];
  const hooks = {
    commit(run: () => void, members: number) {
      sizes.push(members);
      run();
    },
  };
  const store = await open({ hooks });
  sizes.length = 0;
  await Promise.all(times(50, (index) => count(store, `act-${index}`)));
  assert.equal(
    sizes.reduce((sum, size) => sum + size),
    50,
  );
  assert.ok(sizes.length <= 5, `${sizes}`);
});

test("a long stream is loaded from its last snapshot, not from its first entry", async (t) => {
  const { open } = sqliteBench(t);
  const many = 2 * SNAPSHOT_EVERY + 50;
  const store = await open();
  for (let step = 0; step < many; step++) {
    await store.transact(TENANT, { write: [budget] }, () =>
      commit(null, { stream: budget, events: limitBudget(big, `${step}`) }),
    );
  }
  await store.close();
  const { fold, asked } = counting(1);
  const again = await open({ folds: { ...FOLDS, budget: fold } });
  const state = await again.transact(TENANT, { read: [budget] }, (sight) => commit(sight.state(budget)));
  assert.deepEqual(state.limit, big);
  assert.equal(asked(), 50);
});

test("snapshots made by another version of the fold are not used", async (t) => {
  const { open } = sqliteBench(t);
  const store = await open();
  const events = times(SNAPSHOT_EVERY + 10, () => limitBudget(big, "x")).flat();
  await store.transact(TENANT, { write: [budget] }, () => commit(null, { stream: budget, events }));
  await store.close();
  const { fold, asked } = counting(2);
  const again = await open({ folds: { ...FOLDS, budget: fold } });
  await again.transact(TENANT, { read: [budget] }, (sight) => commit(sight.state(budget)));
  assert.equal(asked(), events.length);
});

test("a state in memory is not folded again while nobody else writes", async (t) => {
  const { open } = sqliteBench(t);
  const { fold, asked } = counting(1);
  const store = await open({ folds: { ...FOLDS, budget: fold } });
  const limit = () =>
    store.transact(TENANT, { write: [budget] }, () =>
      commit(null, { stream: budget, events: limitBudget(big, "x") }),
    );
  for (let step = 0; step < 20; step++) await limit();
  assert.equal(asked(), 20);
});

test("when another process wrote, only what is new is folded", async (t) => {
  const { open } = sqliteBench(t);
  const { fold, asked } = counting(1);
  const store = await open({ folds: { ...FOLDS, budget: fold } });
  const other = await open();
  const limit = (by: typeof store) =>
    by.transact(TENANT, { write: [budget] }, () =>
      commit(null, { stream: budget, events: limitBudget(big, "x") }),
    );
  for (let step = 0; step < 10; step++) await limit(store);
  for (let step = 0; step < 7; step++) await limit(other);
  await limit(store);
  assert.equal(asked(), 18);
});

test("a cache far too small, and processes that write by turns, never lead to a stale state", async (t) => {
  const { open } = sqliteBench(t);
  const stores = [
    await open({ mostHeads: { count: 2, size: 1e9 } }),
    await open({ mostHeads: { count: 9, size: 60 } }),
    await open(),
  ];
  const truth = new Map<string, number>();
  const random = randomOf(11);
  for (let step = 0; step < 300; step++) {
    const [which = 0, where = 0] = random(2);
    const store = stores[which % 3];
    assert.ok(store);
    const id = `act-${where % 7}`;
    truth.set(id, (truth.get(id) ?? 0) + 1);
    assert.equal(await count(store, id), truth.get(id));
  }
});
