import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import { sqliteBench } from "../../../tests/fixtures/sqlite-bench.ts";
import { type BudgetStreamState, limitBudget } from "../../budgets/stream.ts";
import { actionStream, budgetStream, type Fold } from "../../kernel/stream.ts";
import type { StateOf } from "../../states.ts";
import {
  CONTRACT_FOLDS,
  commitResult,
  count,
  randomOf,
  TENANT,
  times,
} from "../../testing/store-contract/fixture.ts";
import { SQLITE_SNAPSHOT_EVERY } from "./heads.ts";

const budget = budgetStream("b");
const big = { currency: "USD", micros: 2n ** 70n };

/** The budget's fold, counting how often it is asked. */
function counting(version: number): { fold: Fold<BudgetStreamState>; asked(): number } {
  let asked = 0;
  const evolve: Fold<BudgetStreamState>["evolve"] = (state, event) => {
    asked += 1;
    return CONTRACT_FOLDS.budget.evolve(state, event);
  };
  return { fold: { ...CONTRACT_FOLDS.budget, version, evolve }, asked: () => asked };
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
  const many = 2 * SQLITE_SNAPSHOT_EVERY + 50;
  const store = await open();
  for (let step = 0; step < many; step++) {
    await store.transact(TENANT, { write: [budget] }, () =>
      commitResult(null, { stream: budget, events: limitBudget(big, `${step}`) }),
    );
  }
  await store.close();
  const { fold, asked } = counting(CONTRACT_FOLDS.budget.version);
  const again = await open({ folds: { ...CONTRACT_FOLDS, budget: fold } });
  const state = await again.transact(TENANT, { read: [budget] }, (sight) =>
    commitResult(sight.state(budget)),
  );
  assert.deepEqual(state.limit, big);
  assert.equal(asked(), 50);
});

test("a snapshot that is not of the entry it claims to stand on is not used", async (t) => {
  const { open, file } = sqliteBench(t);
  const streams = ["b", "c"].map((id) => budgetStream(id));
  const store = await open();
  for (const [index, stream] of streams.entries()) {
    const limit = { currency: "USD", micros: BigInt(index + 1) };
    const events = times(SQLITE_SNAPSHOT_EVERY, () => limitBudget(limit, "x")).flat();
    await store.transact(TENANT, { write: [stream] }, () => commitResult(null, { stream, events }));
  }
  await store.close();
  const db = new DatabaseSync(file);
  const swapped = `UPDATE hp_snapshots SET (hash, state) =
    (SELECT other.hash, other.state FROM hp_snapshots other WHERE other.sid <> hp_snapshots.sid)
    WHERE sid = (SELECT min(sid) FROM hp_snapshots)`;
  assert.equal(db.prepare(swapped).run().changes, 1);
  db.prepare("UPDATE hp_snapshots SET hash = NULL WHERE sid = (SELECT max(sid) FROM hp_snapshots)").run();
  db.close();
  const again = await open();
  const limits = await again.transact(TENANT, { read: streams }, (sight) =>
    commitResult(streams.map((stream) => sight.state(stream).limit?.micros)),
  );
  assert.deepEqual(limits, [1n, 2n]);
});

test("heads of large states take as much memory as they may, not as many as there are", async (t) => {
  const { open } = sqliteBench(t);
  let folded = 0;
  const evolve: Fold<StateOf<"action">>["evolve"] = (state, event) => {
    folded += 1;
    return CONTRACT_FOLDS.action.evolve(state, event);
  };
  const folds = { ...CONTRACT_FOLDS, action: { ...CONTRACT_FOLDS.action, evolve } };
  const store = await open({ folds, mostHeads: { count: 1_000, size: 100_000 } });
  const text = "x".repeat(10_000);
  for (let id = 0; id < 30; id++) await count(store, `act-${id}`, { text });
  const read = (id: number) =>
    store.transact(TENANT, { read: [actionStream(`act-${id}`)] }, () => commitResult(null));
  folded = 0;
  await read(29);
  assert.equal(folded, 0);
  await read(0);
  assert.equal(folded, 1);
});

test("long streams of small states do not push other heads out of memory", async (t) => {
  const { open } = sqliteBench(t);
  const { fold, asked } = counting(CONTRACT_FOLDS.budget.version);
  const folds = { ...CONTRACT_FOLDS, budget: fold };
  const store = await open({ folds, mostHeads: { count: 100, size: 100_000 } });
  const other = budgetStream("other");
  const limit = (stream: typeof budget, many: number) =>
    store.transact(TENANT, { write: [stream] }, () =>
      commitResult(null, { stream, events: times(many, () => limitBudget(big, "x")).flat() }),
    );
  await limit(other, 1);
  for (let step = 0; step < 40; step++) for (const id of ["b", "c"]) await limit(budgetStream(id), 50);
  const before = asked();
  await store.transact(TENANT, { read: [other] }, () => commitResult(null));
  assert.equal(asked(), before);
});

test("snapshots made by another version of the fold are not used", async (t) => {
  const { open } = sqliteBench(t);
  const store = await open();
  const events = times(SQLITE_SNAPSHOT_EVERY + 10, () => limitBudget(big, "x")).flat();
  await store.transact(TENANT, { write: [budget] }, () => commitResult(null, { stream: budget, events }));
  await store.close();
  const { fold, asked } = counting(CONTRACT_FOLDS.budget.version + 1);
  const again = await open({ folds: { ...CONTRACT_FOLDS, budget: fold } });
  await again.transact(TENANT, { read: [budget] }, (sight) => commitResult(sight.state(budget)));
  assert.equal(asked(), events.length);
});

test("a state in memory is not folded again while nobody else writes", async (t) => {
  const { open } = sqliteBench(t);
  const { fold, asked } = counting(CONTRACT_FOLDS.budget.version);
  const store = await open({ folds: { ...CONTRACT_FOLDS, budget: fold } });
  const limit = () =>
    store.transact(TENANT, { write: [budget] }, () =>
      commitResult(null, { stream: budget, events: limitBudget(big, "x") }),
    );
  for (let step = 0; step < 20; step++) await limit();
  assert.equal(asked(), 20);
});

test("when another process wrote, only what is new is folded", async (t) => {
  const { open } = sqliteBench(t);
  const { fold, asked } = counting(CONTRACT_FOLDS.budget.version);
  const store = await open({ folds: { ...CONTRACT_FOLDS, budget: fold } });
  const other = await open();
  const limit = (by: typeof store) =>
    by.transact(TENANT, { write: [budget] }, () =>
      commitResult(null, { stream: budget, events: limitBudget(big, "x") }),
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
