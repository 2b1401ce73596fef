/** The one PostgreSQL server of a run, and a database for each driver. */
import { Client } from "pg";
import { type PostgresServer, startPostgres } from "../tests/fixtures/postgres-server.ts";

/** Every driver's pool at once. */
const CONNECTIONS = 500;
const DURABLE = ["fsync", "full_page_writes", "synchronous_commit"];

export type Databases = {
  readonly durability: string;
  create(name: string): Promise<{ readonly url: string; readonly pid: number }>;
  stop(): Promise<void>;
};

async function assertDurable(client: Client): Promise<string> {
  for (const setting of DURABLE) {
    const { rows } = await client.query(`SHOW ${setting}`);
    const value: unknown = rows[0]?.[setting];
    if (value !== "on") throw new Error(`PostgreSQL answers ${setting}=${String(value)}; it has to be on`);
  }
  return DURABLE.map((setting) => `${setting}=on`).join(", ");
}

export async function startDatabases(): Promise<Databases> {
  const server: PostgresServer = await startPostgres([`max_connections=${CONNECTIONS}`]);
  const client = new Client({ connectionString: server.url });
  try {
    await client.connect();
    const durability = await assertDurable(client);
    // One at a time: a connection takes one statement, and PostgreSQL copies one template.
    let last: Promise<unknown> = Promise.resolve();
    return {
      durability,
      create: async (name) => {
        const made = last.then(() => client.query(`CREATE DATABASE ${client.escapeIdentifier(name)}`));
        last = made.catch(() => undefined);
        await made;
        const url = new URL(server.url);
        url.pathname = `/${name}`;
        return { url: url.href, pid: server.pid };
      },
      stop: async () => {
        await client.end().catch(() => undefined);
        await server.stop();
      },
    };
  } catch (error) {
    await server.stop();
    throw error;
  }
}
