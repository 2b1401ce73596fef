import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import { sqliteBench } from "../../../tests/fixtures/sqlite-bench.ts";
import { CONTRACT_PROJECTIONS, count, TENANT } from "../../testing/store-contract/fixture.ts";
import type { Projection, Store } from "../store.ts";

const rows = (store: Store) => store.query(TENANT, { view: "tallies", limit: 1000 });

async function fill(store: Store, many: number): Promise<void> {
  await Promise.all(Array.from({ length: many }, (_, index) => count(store, `act-${index}`)));
}

test("a rebuild that was cut off is finished by the next open", async (t) => {
  const { open, file } = sqliteBench(t);
  const store = await open();
  await fill(store, 250);
  const before = await rows(store);
  await store.close();
  const db = new DatabaseSync(file);
  db.exec(
    "UPDATE hp_view_tallies SET bucket = 'stale'; UPDATE hp_views SET built = 0 WHERE view = 'tallies'",
  );
  db.close();
  const again = await open();
  assert.deepEqual(await rows(again), before);
});

test("a new version of a projection, or a new view, is built when the store is opened", async (t) => {
  const { open } = sqliteBench(t);
  const store = await open({ projections: [] });
  await fill(store, 120);
  await store.close();
  const first = await open();
  assert.equal((await rows(first)).length, 120);
  await first.close();
  const louder: Projection[] = CONTRACT_PROJECTIONS.map((one) => ({
    ...one,
    version: 2,
    row: (id, state) => {
      const row = one.row(id, state);
      return row && { ...row, bucket: row.bucket.toUpperCase() };
    },
  }));
  const second = await open({ projections: louder });
  assert.equal(await second.count(TENANT, "tallies", "OPEN"), 120);
});

test("views built by a newer version are not written by an older one", async (t) => {
  const { open } = sqliteBench(t);
  const store = await open();
  await count(store, "one");
  const newer = await open({ projections: CONTRACT_PROJECTIONS.map((one) => ({ ...one, version: 2 })) });
  await assert.rejects(count(store, "one"), { code: "store_newer" });
  await assert.rejects(open(), { code: "store_newer" });
  assert.equal(await count(newer, "one"), 2);
});

test("a view that a program without it left behind is built again", async (t) => {
  const { open } = sqliteBench(t);
  const store = await open();
  await count(store, "one");
  await store.close();
  const without = await open({ projections: [] });
  await count(without, "one", { bucket: "done" });
  await without.close();
  assert.equal(await (await open()).count(TENANT, "tallies", "done"), 1);
});

test("what is written during a rebuild is in the views after it", async (t) => {
  const { open } = sqliteBench(t);
  const store = await open();
  const other = await open();
  await fill(store, 250);
  const rebuilding = store.rebuildViews();
  const writing = Array.from({ length: 50 }, (_, index) =>
    count(other, `act-${index * 7}`, { bucket: "done" }),
  );
  await Promise.all([rebuilding, ...writing]);
  assert.equal(await store.count(TENANT, "tallies", "done"), 50);
  assert.equal((await rows(store)).length, 250 + 50 - 36);
});

test("lists and what is due are found by their indexes", async (t) => {
  const { open, file } = sqliteBench(t);
  await count(await open(), "one");
  const db = new DatabaseSync(file);
  const plan = (where: string, order: string) =>
    db
      .prepare(`EXPLAIN QUERY PLAN SELECT * FROM hp_view_tallies v WHERE ${where} ORDER BY ${order}`)
      .all()
      .map((row) => row["detail"])
      .join();
  assert.match(
    plan("v.tid = 1 AND v.bucket = 'x' AND (v.at, v.sid) > (1, 2)", "v.at, v.sid"),
    /tallies_bucket \(tid=\? AND bucket=\? AND at>\?\)$/,
  );
  assert.match(plan("v.tid = 1 AND +v.bucket = 'x' AND v.due <= 5", "+v.at, v.sid"), /tallies_due/);
  assert.match(plan("v.tid = 1", "v.at, v.sid"), /tallies_at \(tid=\?\)$/);
  db.close();
});

test("an older program goes on beside a view whose rows may stand beside its own; the next newer one builds it again", async (t) => {
  const { open } = sqliteBench(t);
  const old = await open();
  await fill(old, 20);
  const projections: Projection[] = CONTRACT_PROJECTIONS.map((one) => ({
    ...one,
    version: one.version + 1,
    oldest: one.version,
    row: (id, state) => {
      const row = one.row(id, state);
      return row && { ...row, bucket: row.bucket.toUpperCase() };
    },
  }));
  const newer = await open({ projections });
  assert.equal(await newer.count(TENANT, "tallies", "OPEN"), 20);
  await count(old, "act-0");
  await count(await open(), "act-1");
  assert.equal(await newer.count(TENANT, "tallies", "OPEN"), 18);
  const next = await open({ projections });
  assert.equal(await next.count(TENANT, "tallies", "OPEN"), 20);
  await count(old, "act-2");
  await next.rebuildViews();
  assert.equal(await next.count(TENANT, "tallies", "OPEN"), 20);
  await count(old, "act-3");
  await old.close();
  assert.equal(await (await open({ projections })).count(TENANT, "tallies", "OPEN"), 20);
});
