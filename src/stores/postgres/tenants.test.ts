import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type pg from "pg";
import { postgresBench } from "../../../tests/fixtures/postgres-bench.ts";
import { sha256 } from "../../kernel/canonical-json.ts";
import { actionStream } from "../../kernel/stream.ts";
import { commitResult, countedEvent, times } from "../../testing/store-contract/fixture.ts";
import type { Store } from "../store.ts";

const one = actionStream("one");
const bench = postgresBench();

/** Writes a row into every table of a tenant. */
async function fill(store: Store, tenant: string): Promise<void> {
  const bytes = Buffer.from(`bytes of ${tenant}`);
  await store.transact(tenant, { write: [one], names: ["n"] }, () => ({
    kind: "commit",
    append: [{ stream: one, events: times(201, () => countedEvent({ due: 1 })) }],
    names: [{ name: "n", stream: one }],
    artifacts: [{ hash: sha256(bytes), bytes }],
    result: null,
  }));
  const budget = { kind: "budget", id: "b" } as const;
  await store.transact(tenant, { write: [budget] }, () =>
    commitResult(null, {
      stream: budget,
      events: [{ type: "budget.limited", tv: 1, body: { currency: "USD", micros: "5", by: "t" } }],
    }),
  );
  await store.putSecret(tenant, "s", bytes);
  await store.seal(tenant, (draft) => ({ n: draft.n, jws: "jws", leaves: draft.leaves }));
}

/** All tables of the schema that have a tenant's rows, from the server's own catalogue. */
async function tenantTables(client: pg.Client, schema: string) {
  const { rows } = await client.query(
    `SELECT c.relname AS name, c.relrowsecurity AND c.relforcerowsecurity AS forced
     FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
     WHERE n.nspname = $1 AND c.relkind = 'r' AND EXISTS
       (SELECT 1 FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attname = 'tid')`,
    [schema],
  );
  return rows as readonly { readonly name: string; readonly forced: boolean }[];
}

async function worker(client: pg.Client, settings: Readonly<Record<string, string>>): Promise<void> {
  await client.query("BEGIN");
  await client.query("SET LOCAL ROLE holdpoint_worker");
  for (const [name, value] of Object.entries(settings))
    await client.query("SELECT set_config($1, $2, true)", [`holdpoint.${name}`, value]);
}

const rowsIn = async (client: pg.Client, table: string): Promise<number> =>
  Number((await client.query(`SELECT count(*) AS n FROM ${table}`)).rows[0].n);

describe("tenants in PostgreSQL", { concurrency: false }, () => {
  test("SQL that names no tenant sees no row of any tenant's table", async (t) => {
    const { open, sql, schema } = bench(t);
    const store = await open();
    await fill(store, "acme");
    const client = await sql();
    const tables = await tenantTables(client, schema);
    assert.ok(tables.length >= 11, `${tables.length} tables`);
    for (const { name, forced } of tables) {
      assert.ok(forced, `${name} has row-level security, forced`);
      assert.ok((await rowsIn(client, `${schema}.${name}`)) > 0, `${name} has rows`);
    }
    await worker(client, {});
    for (const { name } of tables) assert.equal(await rowsIn(client, `${schema}.${name}`), 0, name);
    await client.query("ROLLBACK");
  });

  test("SQL in the name of a tenant sees and writes no row of another", async (t) => {
    const { open, sql, schema } = bench(t);
    const store = await open();
    await fill(store, "acme");
    await fill(store, "globex");
    const client = await sql();
    const { rows } = await client.query(`SELECT tid, tenant FROM ${schema}.hp_tenants ORDER BY tenant`);
    const [acme, globex] = rows.map((row) => Number(row.tid));
    for (const { name } of await tenantTables(client, schema)) {
      await worker(client, { tenant: String(acme) });
      const table = `${schema}.${name}`;
      const { rows: seen } = await client.query(`SELECT DISTINCT tid FROM ${table}`);
      assert.deepEqual(
        seen.map((row) => row.tid),
        [acme],
        name,
      );
      const move = `INSERT INTO ${table} SELECT (jsonb_populate_record(r, jsonb_build_object('tid', $1::int4))).* FROM ${table} r`;
      await assert.rejects(
        client.query(move, [globex]),
        /row-level security|generated|GENERATED|non-DEFAULT/,
        name,
      );
      await client.query("ROLLBACK");
    }
  });

  test("reaching over all tenants shows ids, and nothing else", async (t) => {
    const { open, sql, schema } = bench(t);
    const store = await open();
    await fill(store, "acme");
    const client = await sql();
    await worker(client, { reach: "ids" });
    const seen: string[] = [];
    for (const { name } of await tenantTables(client, schema))
      if ((await rowsIn(client, `${schema}.${name}`)) > 0) seen.push(name);
    assert.deepEqual(seen.sort(), ["hp_moves", "hp_streams", "hp_tenants"]);
    await client.query("ROLLBACK");
  });

  test("the working role can change and delete no entry, and make no table", async (t) => {
    const { open, sql, schema } = bench(t);
    const store = await open();
    await fill(store, "acme");
    const client = await sql();
    const forbidden = [
      `UPDATE ${schema}.hp_entries SET body = ''`,
      `DELETE FROM ${schema}.hp_entries`,
      `TRUNCATE ${schema}.hp_entries`,
      `DELETE FROM ${schema}.hp_seals`,
      `ALTER TABLE ${schema}.hp_entries DISABLE ROW LEVEL SECURITY`,
      `CREATE TABLE ${schema}.mine (a int)`,
    ];
    for (const statement of forbidden) {
      await worker(client, { tenant: "1" });
      await assert.rejects(client.query(statement), /permission denied|must be owner/, statement);
      await client.query("ROLLBACK");
    }
  });

  test("a role that row-level security does not bind is refused", async (t) => {
    const { open } = bench(t);
    await assert.rejects(open({ role: "postgres" }), { code: "store_unsuitable" });
  });
});
