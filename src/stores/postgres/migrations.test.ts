import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { postgresBench } from "../../../tests/fixtures/postgres-bench.ts";
import { actionStream } from "../../kernel/stream.ts";
import {
  CONTRACT_FOLDS,
  CONTRACT_PROJECTIONS,
  type CountState,
  count,
  TENANT,
  times,
} from "../../testing/store-contract/fixture.ts";
import type { Projection } from "../store.ts";
import { migrateSchema, SCHEMA_LAYOUT, SCHEMA_MIGRATIONS } from "./migrations.ts";

const bench = postgresBench();

const tallies = (version: number, label: string, oldest = version): Projection =>
  ({
    view: "tallies",
    kind: "action",
    version,
    oldest,
    row: (_id: string, state: unknown) => ({
      bucket: label,
      at: 0,
      due: null,
      data: { count: (state as CountState).count },
    }),
  }) as Projection;
const budgets = CONTRACT_PROJECTIONS[1] as Projection;

describe("the layout of a PostgreSQL store", { concurrency: false }, () => {
  test("nodes that create the store at the same moment make one, and all write to it", async (t) => {
    const { open } = bench(t);
    const stores = await Promise.all(times(4, () => open({ connections: 3 })));
    assert.equal(new Set(stores.map(({ incarnation }) => incarnation)).size, 1);
    await Promise.all(stores.map((store) => count(store, "one")));
    assert.equal((await stores[0]?.read(TENANT, actionStream("one")))?.length, 4);
  });

  test("a step is added while others write; who may still read goes on, who may not is told", async (t) => {
    const { open, sql, schema } = bench(t);
    const store = await open();
    await count(store, "one");
    const client = await sql();
    const grown = { schema, role: "holdpoint_worker", mode: "read-write" as const, incarnation: "" };
    const add = (version: number, oldestReader: number) =>
      migrateSchema(client, grown, [
        ...SCHEMA_MIGRATIONS,
        {
          version,
          oldestReader,
          sql: (place) => `ALTER TABLE ${place.schema}.hp_streams ADD COLUMN IF NOT EXISTS more text`,
        },
      ]);
    const writing = Promise.all(times(20, () => count(store, "one")));
    await add(SCHEMA_LAYOUT + 1, 1);
    await writing;
    assert.equal(await count(store, "one"), 22);
    await add(SCHEMA_LAYOUT + 2, SCHEMA_LAYOUT + 2);
    await assert.rejects(count(store, "one"), { code: "store_newer" });
    await assert.rejects(open(), { code: "store_newer" });
    assert.equal((await store.read(TENANT, actionStream("one"))).length, 22);
  });

  test("a view whose projection changed is built again at the next open, by nodes that share the work", async (t) => {
    const { open } = bench(t);
    const old = await open({ projections: [tallies(1, "old"), budgets] });
    await Promise.all(times(250, (index) => count(old, `act-${index}`)));
    const projections = [tallies(2, "new"), budgets];
    const [store, other] = await Promise.all([open({ projections }), open({ projections })]);
    assert.ok(store && other);
    assert.equal(await store.count(TENANT, "tallies", "new"), 250);
    assert.equal(await other.count(TENANT, "tallies", "old"), 0);
    await assert.rejects(count(old, "act-0"), { code: "store_newer" });
  });

  test("an older node goes on beside a view whose rows may stand beside its own, and the next newer one builds it again", async (t) => {
    const { open } = bench(t);
    const old = await open({ projections: [tallies(1, "old"), budgets] });
    await Promise.all(times(20, (index) => count(old, `act-${index}`)));
    const projections = [tallies(2, "new", 1), budgets];
    const store = await open({ projections });
    assert.equal(await store.count(TENANT, "tallies", "new"), 20);
    await count(old, "act-0");
    await count(old, "act-20");
    await count(store, "act-1");
    assert.equal(await store.count(TENANT, "tallies", "new"), 19);
    // One of the older version that starts now takes nothing back.
    await count(await open({ projections: [tallies(1, "old"), budgets] }), "act-2");
    assert.equal(await store.count(TENANT, "tallies", "old"), 3);
    const next = await open({ projections });
    assert.equal(await next.count(TENANT, "tallies", "new"), 21);
    await count(old, "act-3");
    assert.equal(await next.count(TENANT, "tallies", "old"), 1);
    await next.rebuildViews();
    assert.equal(await next.count(TENANT, "tallies", "new"), 21);
    await assert.rejects(open({ projections: [tallies(0, "too old"), budgets] }), { code: "store_newer" });
  });

  test("a view that came while an older node was at work is built again by the next one that knows it", async (t) => {
    const { open } = bench(t);
    const old = await open({ projections: [budgets] });
    const store = await open({ projections: [tallies(1, "new"), budgets] });
    await count(old, "one");
    assert.equal(await store.count(TENANT, "tallies", "new"), 0);
    const next = await open({ projections: [tallies(1, "new"), budgets] });
    assert.equal(await next.count(TENANT, "tallies", "new"), 1);
  });

  test("a step that has to wait for a table gives up soon and is tried again: nobody queues behind it", async (t) => {
    const { open, sql, schema } = bench(t);
    const store = await open();
    await count(store, "one");
    const [holder, client] = [await sql(), await sql()];
    await holder.query("BEGIN");
    await holder.query(`LOCK TABLE ${schema}.hp_streams IN ACCESS SHARE MODE`);
    const grown = { schema, role: "holdpoint_worker", mode: "read-write" as const, incarnation: "" };
    const add = migrateSchema(client, grown, [
      ...SCHEMA_MIGRATIONS,
      {
        version: SCHEMA_LAYOUT + 1,
        oldestReader: 1,
        sql: (place) => `ALTER TABLE ${place.schema}.hp_streams ADD COLUMN more text`,
      },
    ]);
    await assert.rejects(add, { code: "55P03" });
    await holder.query("COMMIT");
    assert.equal(await count(store, "one"), 2);
  });

  test("streams that are written while the views are built again are right", async (t) => {
    const { open } = bench(t);
    const store = await open();
    const other = await open();
    await Promise.all(times(300, (index) => count(store, `act-${index}`)));
    const [built] = await Promise.all([
      other.rebuildViews(),
      Promise.all(times(120, (index) => count(store, `act-${index * 3}`))),
    ]);
    assert.ok(built.streams >= 300);
    const rows = await store.query(TENANT, { view: "tallies", limit: 1000 });
    assert.equal(rows.length, 320);
    for (const { stream, data } of rows)
      assert.equal(data["count"], (await store.read(TENANT, stream)).length, stream.id);
  });

  test("a view that a node does not write is built again by the next one that does", async (t) => {
    const { open } = bench(t);
    await count(await open(), "one");
    const partial = await open({ projections: [budgets] });
    await count(partial, "one");
    const store = await open();
    const [row] = await store.query(TENANT, { view: "tallies", limit: 9 });
    assert.equal(row?.data["count"], 2);
  });

  test("a database that was restored into a server that counts from less goes on behind its positions", async (t) => {
    const { open, sql, schema } = bench(t);
    const store = await open();
    await count(store, "one");
    await store.close();
    const client = await sql();
    const far = `UPDATE ${schema}.%t SET position = position + 16384::int8 * 100000000`;
    for (const table of ["hp_entries", "hp_moves"]) await client.query(far.replace("%t", table));
    const restored = await open();
    const before = await restored.position();
    assert.ok(before > 16_384 * 100_000_000 || before === 0);
    await count(restored, "one");
    const log = await restored.log(TENANT, 0, 10);
    assert.deepEqual(
      log.map(({ header }) => JSON.parse(header).seq),
      [1, 2],
    );
    assert.ok((log[0]?.position ?? 0) < (log[1]?.position ?? 0));
    assert.ok(Number.isSafeInteger(log[1]?.position));
    assert.equal(await restored.position(), log[1]?.position);
  });

  test("long streams start from a snapshot, and a snapshot that does not fit is not used", async (t) => {
    const { open, sql, schema } = bench(t);
    const store = await open();
    for (let part = 0; part < 5; part++) await Promise.all(times(90, () => count(store, "one")));
    const client = await sql();
    const { rows } = await client.query(`SELECT seq FROM ${schema}.hp_snapshots`);
    assert.equal(rows.length, 1);
    assert.ok(rows[0].seq >= 400);
    assert.equal(await count(await open(), "one"), 451);
    await client.query(`UPDATE ${schema}.hp_snapshots SET state = '\\x00'`);
    assert.equal(await count(await open(), "one"), 452);
    await client.query(`UPDATE ${schema}.hp_snapshots SET hash = '\\x00'`);
    assert.equal(await count(await open({ folds: CONTRACT_FOLDS }), "one"), 453);
  });
});
