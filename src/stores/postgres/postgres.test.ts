import { after, before } from "node:test";
import pg from "pg";
import { type PostgresServer, startPostgres } from "../../../tests/fixtures/postgres-server.ts";
import { storeContract } from "../../testing/testing.ts";
import { openPostgresStore } from "./open.ts";

let server: PostgresServer;
let cleaner: pg.Client;
before(async () => {
  server = await startPostgres();
  cleaner = new pg.Client(server.url);
  await cleaner.connect();
});
after(async () => {
  await cleaner.end();
  await server.stop();
});

const schema = "contract";

/** Every table but those that describe the layout: making them anew for each test would take most of its time. */
async function empty(): Promise<void> {
  const tables = `SELECT string_agg(format('DELETE FROM %I.%I', schemaname, tablename), ';') AS sql FROM pg_tables
    WHERE schemaname = $1 AND tablename NOT IN ('hp_meta', 'hp_views')`;
  const { rows } = await cleaner.query(tables, [schema]);
  await cleaner.query(String(rows[0]?.sql ?? ""));
}

storeContract("PostgreSQL", async (options) => ({
  open: () => openPostgresStore({ database: server.url, schema, connections: 6, ...options }),
  remove: empty,
}));
