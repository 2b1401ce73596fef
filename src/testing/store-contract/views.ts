/** Contract tests of views: rows, queries, rebuilds, and claims of due rows. */

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { limitBudget, reserveAmount } from "../../budgets/stream.ts";
import { actionStream, budgetStream, streamName } from "../../kernel/stream.ts";
import type { Store, ViewQuery } from "../../stores/store.ts";
import {
  type CreateDatabase,
  commitResult,
  count,
  openFixture,
  randomOf,
  START,
  TENANT,
  times,
} from "./fixture.ts";

const BUCKETS = ["open", "done", "nowhere"];

async function ids(store: Store, query: Omit<ViewQuery, "view">): Promise<string[]> {
  return (await store.query(TENANT, { view: "tallies", ...query })).map(({ stream }) => stream.id);
}

/** The expected rows of the view, computed here from the journal alone. */
async function expected(store: Store): Promise<Map<string, unknown>> {
  const streams = new Map<string, { count: number; at: number; said: Record<string, unknown> }>();
  for (const { header, body } of await store.log(TENANT, 0, 10_000)) {
    const { stream, at } = JSON.parse(header);
    if (!stream.startsWith("action/")) continue;
    const before = streams.get(stream) ?? { count: 0, at, said: {} };
    streams.set(stream, {
      ...before,
      count: before.count + 1,
      said: { ...before.said, ...JSON.parse(body ?? "") },
    });
  }
  const shown = [...streams].filter(([, { said }]) => said["bucket"] !== "nowhere");
  return new Map(
    shown.map(([stream, { count: many, at, said }]) => {
      const row = { bucket: said["bucket"] ?? "open", at: said["at"] ?? at, due: said["due"] ?? null };
      return [stream, { ...row, data: { count: many, said } }];
    }),
  );
}

async function shown(store: Store): Promise<Map<string, unknown>> {
  const rows = await store.query(TENANT, { view: "tallies", limit: 1000 });
  return new Map(rows.map(({ stream, ...row }) => [streamName(stream), row]));
}

async function wander(stores: readonly Store[], steps: number): Promise<void> {
  const random = randomOf(42);
  const pick = (below: number) => (random(1)[0] ?? 0) % below;
  for (let step = 0; step < steps; step++) {
    const body = {
      bucket: BUCKETS[pick(3)] ?? "open",
      at: START + pick(20),
      due: pick(2) === 0 ? null : START + pick(9),
    };
    await count(stores[pick(stores.length)] as Store, `act-${pick(25)}`, body);
  }
}

export function viewClaims(create: CreateDatabase): void {
  describe("views", () => {
    test("after any sequence of events the views equal the fold of the journal", async (t) => {
      const { store, another } = await openFixture(t, create);
      const stores = [store, await another()];
      await wander(stores, 150);
      assert.deepEqual(await shown(store), await expected(store));
      assert.ok((await shown(store)).size > 5);
    });

    test("rebuilding the views changes nothing, and reports its progress", async (t) => {
      const { store, another } = await openFixture(t, create);
      await wander([store], 120);
      const before = await shown(store);
      const steps: [number, number][] = [];
      const { streams } = await (await another()).rebuildViews((done, total) => steps.push([done, total]));
      assert.equal(streams, 25);
      assert.deepEqual(steps.at(-1), [25, 25]);
      assert.deepEqual(await shown(store), before);
    });

    test("a view can hold what JSON numbers cannot", async (t) => {
      const { store } = await openFixture(t, create);
      const stream = budgetStream("big");
      const limit = { currency: "USD", micros: 2n ** 80n };
      await store.transact(TENANT, { write: [stream] }, () =>
        commitResult(null, { stream, events: limitBudget(limit, "x") }),
      );
      await store.transact(TENANT, { write: [stream] }, (sight) =>
        commitResult(null, {
          stream,
          events: reserveAmount(sight.state(stream), "e", { ...limit, micros: 2n ** 79n }).events,
        }),
      );
      const [row] = await store.query(TENANT, { view: "budgets", limit: 5 });
      assert.deepEqual(row?.data, { id: "big", spent: "0", reserved: (2n ** 79n).toString() });
    });

    test("a row moves between buckets with its state, and leaves when it has none", async (t) => {
      const { store } = await openFixture(t, create);
      const counts = () => Promise.all(BUCKETS.map((bucket) => store.count(TENANT, "tallies", bucket)));
      await count(store, "one", { bucket: "open" });
      await count(store, "two", { bucket: "open" });
      assert.deepEqual(await counts(), [2, 0, 0]);
      await count(store, "one", { bucket: "done" });
      assert.deepEqual(await counts(), [1, 1, 0]);
      await count(store, "two", { bucket: "nowhere" });
      assert.deepEqual(await counts(), [0, 1, 0]);
      assert.deepEqual(await ids(store, { bucket: "done", limit: 9 }), ["one"]);
    });

    test("a list is ordered by time, then by age of the stream, in both directions", async (t) => {
      const { store } = await openFixture(t, create);
      for (const [id, at] of [
        ["d", 5],
        ["a", 7],
        ["c", 5],
        ["b", 1],
      ] as const)
        await count(store, id, { at });
      assert.deepEqual(await ids(store, { limit: 9 }), ["b", "d", "c", "a"]);
      assert.deepEqual(await ids(store, { limit: 9, order: "newest" }), ["a", "c", "d", "b"]);
      assert.deepEqual(await ids(store, { limit: 2 }), ["b", "d"]);
    });

    test("pages of a list, put together, are the list", async (t) => {
      const { store } = await openFixture(t, create);
      for (const index of times(23, (i) => i))
        await count(store, `act-${index}`, { at: START + (index % 4), bucket: "open" });
      for (const order of ["oldest", "newest"] as const) {
        for (const filter of [{}, { bucket: "open" }]) {
          const whole = await ids(store, { ...filter, order, limit: 100 });
          assert.deepEqual(await paged(store, { ...filter, order }), whole);
          assert.equal(whole.length, 23);
        }
      }
    });

    test("only what is due is listed as due", async (t) => {
      const { store } = await openFixture(t, create);
      await count(store, "soon", { due: 100, at: 3 });
      await count(store, "later", { due: 200, at: 2, bucket: "done" });
      await count(store, "never", { at: 1 });
      assert.deepEqual(await ids(store, { dueBy: 99, limit: 9 }), []);
      assert.deepEqual(await ids(store, { dueBy: 100, limit: 9 }), ["soon"]);
      assert.deepEqual(await ids(store, { dueBy: 500, limit: 9 }), ["later", "soon"]);
      assert.deepEqual(await ids(store, { dueBy: 500, bucket: "done", limit: 9 }), ["later"]);
      assert.deepEqual(await ids(store, { dueBy: 500, limit: 1, order: "newest" }), ["soon"]);
      assert.deepEqual(await ids(store, { dueBy: null, limit: 9 }), ["never"]);
      assert.deepEqual(await ids(store, { dueBy: null, bucket: "done", limit: 9 }), []);
      const after = { at: 2, stream: streamName(actionStream("later")) };
      assert.deepEqual(await ids(store, { dueBy: 500, after, limit: 9 }), ["soon"]);
    });

    test("a view, a cursor or a limit that cannot be is refused", async (t) => {
      const { store } = await openFixture(t, create);
      await count(store, "one");
      await assert.rejects(store.query(TENANT, { view: "none", limit: 1 }), { code: "broken_rule" });
      await assert.rejects(store.count(TENANT, "none", "open"), { code: "broken_rule" });
      await assert.rejects(ids(store, { limit: 0 }), { code: "invalid_input" });
      await assert.rejects(ids(store, { limit: 1, after: { at: 1, stream: "action/none" } }), {
        code: "invalid_input",
      });
    });
  });
}

async function paged(store: Store, query: Omit<ViewQuery, "view" | "limit">): Promise<string[]> {
  const found: string[] = [];
  let after: ViewQuery["after"];
  for (;;) {
    const rows = await store.query(TENANT, { view: "tallies", ...query, limit: 4, ...(after && { after }) });
    const last = rows.at(-1);
    if (last === undefined) return found;
    found.push(...rows.map(({ stream }) => stream.id));
    after = { at: last.at, stream: streamName(last.stream) };
  }
}

const LEASE_MS = 1_000;

async function claimed(store: Store, limit = 9, tenant = TENANT): Promise<string[]> {
  const rows = await store.claim(tenant, { view: "tallies", dueBy: 100, limit, leaseMs: LEASE_MS });
  return rows.map(({ stream }) => stream.id);
}

export function claimClaims(create: CreateDatabase): void {
  describe("claiming what is due", () => {
    test("two processes never get the same row within its lease, and both get it after", async (t) => {
      const { store, another, clock } = await openFixture(t, create);
      const other = await another();
      for (const index of times(12, (i) => i)) await count(store, `act-${index}`, { due: 50, at: index });
      const [one, two] = await Promise.all([claimed(store, 12), claimed(other, 12)]);
      assert.deepEqual([...one, ...two].sort(), times(12, (index) => `act-${index}`).sort());
      assert.deepEqual([await claimed(store), await claimed(other)], [[], []]);
      clock.set(START + LEASE_MS);
      assert.equal((await claimed(other, 12)).length, 12);
      assert.deepEqual(await claimed(store), []);
    });

    test("only what is due, in the bucket that was asked for, is handed out, the oldest first", async (t) => {
      const { store } = await openFixture(t, create);
      await count(store, "late", { due: 101 });
      await count(store, "never");
      await count(store, "second", { due: 99, at: 2 });
      await count(store, "first", { due: 100, at: 1 });
      await count(store, "done", { due: 1, at: 0, bucket: "done" });
      const asked = { view: "tallies", dueBy: 100, leaseMs: LEASE_MS };
      const [row, ...more] = await store.claim(TENANT, { ...asked, bucket: "open", limit: 1 });
      assert.deepEqual([row?.stream.id, row?.due, row?.bucket, more], ["first", 100, "open", []]);
      const rest = await store.claim(TENANT, { ...asked, bucket: "open", limit: 9 });
      assert.deepEqual(
        rest.map(({ stream }) => stream.id),
        ["second"],
      );
      assert.deepEqual(await claimed(store), ["done"]);
    });

    test("a claimed row is listed, moves and is counted like any other", async (t) => {
      const { store } = await openFixture(t, create);
      await count(store, "one", { due: 50 });
      assert.deepEqual(await claimed(store), ["one"]);
      assert.equal((await store.query(TENANT, { view: "tallies", dueBy: 100, limit: 9 })).length, 1);
      await count(store, "one", { bucket: "done" });
      assert.equal(await store.count(TENANT, "tallies", "done"), 1);
      assert.deepEqual(await claimed(store), []);
    });

    test("a tenant claims nothing of another", async (t) => {
      const { store } = await openFixture(t, create);
      await count(store, "one", { due: 50 }, "globex");
      await count(store, "two", { due: 50 });
      assert.deepEqual(await claimed(store), ["two"]);
      assert.deepEqual(await claimed(store, 9, "nobody"), []);
      assert.deepEqual(await claimed(store, 9, "globex"), ["one"]);
    });

    test("a view or a limit that cannot be is refused", async (t) => {
      const { store } = await openFixture(t, create);
      await count(store, "one", { due: 50 });
      const asked = { dueBy: 100, leaseMs: LEASE_MS };
      await assert.rejects(store.claim(TENANT, { ...asked, view: "none", limit: 1 }), {
        code: "broken_rule",
      });
      await assert.rejects(claimed(store, 0), { code: "invalid_input" });
    });
  });
}
