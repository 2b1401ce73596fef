/** A PostgreSQL of its own for one measurement, and what stands in it. */
import { Client } from "pg";
import { startPostgres } from "../../fixtures/postgres-server.ts";

export type Stock = {
  readonly entries: number;
  readonly streams: number;
  readonly names: number;
  readonly viewRows: number;
  /** Transactions that wrote something. */
  readonly commits: number;
  /** With indexes; without what is free for the next rows. */
  readonly bytes: number;
};

export type Database = {
  readonly url: string;
  stock(): Promise<Stock>;
  stop(): Promise<void>;
};

const CONNECTIONS = 200;
const SCHEMA = "holdpoint";

async function countOf(client: Client, table: string): Promise<number> {
  const { rows } = await client.query(`SELECT count(*) AS many FROM ${SCHEMA}.${table}`);
  return Number(rows[0]?.many ?? 0);
}

/** A row holds the entries that one commit added to one stream. */
async function entriesOf(client: Client): Promise<number> {
  const text = `SELECT sum(length(chain) / 64) AS many FROM ${SCHEMA}.hp_entries`;
  const { rows } = await client.query(text);
  return Number(rows[0]?.many ?? 0);
}

async function viewsOf(client: Client): Promise<readonly string[]> {
  const text = `SELECT tablename FROM pg_tables WHERE schemaname = $1 AND tablename LIKE 'hp\\_view\\_%'`;
  const { rows } = await client.query(text, [SCHEMA]);
  return rows.map((row) => String(row.tablename));
}

async function bytesOf(client: Client): Promise<number> {
  await client.query("CHECKPOINT");
  const text = `SELECT sum(pg_total_relation_size(format('%I.%I', schemaname, tablename))) AS bytes
    FROM pg_tables WHERE schemaname = $1`;
  const { rows } = await client.query(text, [SCHEMA]);
  return Number(rows[0]?.bytes ?? 0);
}

async function stockOf(client: Client): Promise<Stock> {
  let viewRows = 0;
  for (const view of await viewsOf(client)) viewRows += await countOf(client, view);
  return {
    entries: await entriesOf(client),
    streams: await countOf(client, "hp_streams"),
    names: await countOf(client, "hp_names"),
    commits: await countOf(client, "hp_moves"),
    viewRows,
    bytes: await bytesOf(client),
  };
}

export async function startDatabase(): Promise<Database> {
  const server = await startPostgres([`max_connections=${CONNECTIONS}`, "shared_buffers=512MB"]);
  const asked = async <Answer>(ask: (client: Client) => Promise<Answer>): Promise<Answer> => {
    const client = new Client({ connectionString: server.url });
    await client.connect();
    try {
      return await ask(client);
    } finally {
      await client.end();
    }
  };
  return { url: server.url, stock: () => asked(stockOf), stop: server.stop };
}
