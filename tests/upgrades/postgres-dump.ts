/**
 * A schema as a fixture keeps it: the statements that made its tables, in the words of the version that ran them, and the
 * rows of each table as JSON.
 */
import pg from "pg";

export type Dump = {
  /** Roles of the whole server that the statements name. */
  readonly roles: readonly string[];
  readonly layout: readonly string[];
  readonly tables: Readonly<Record<string, string>>;
  readonly sequences: Readonly<Record<string, string>>;
};

const SCHEMA = "holdpoint";

export async function withClient<Result>(
  url: string,
  work: (client: pg.Client) => Promise<Result>,
): Promise<Result> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

/** From now on the database remembers every statement that changes a layout. One text may have several statements. */
export const recordLayout = (url: string): Promise<unknown> =>
  withClient(url, (client) =>
    client.query(`CREATE SCHEMA recorded;
      CREATE TABLE recorded.layout (n serial, sql text);
      CREATE FUNCTION recorded.keep() RETURNS event_trigger LANGUAGE plpgsql SECURITY DEFINER AS $$ BEGIN
        INSERT INTO recorded.layout (sql) SELECT current_query() WHERE current_query() IS DISTINCT FROM
          (SELECT sql FROM recorded.layout ORDER BY n DESC LIMIT 1);
      END $$;
      CREATE EVENT TRIGGER recorded ON ddl_command_end EXECUTE FUNCTION recorded.keep()`),
  );

export const dumpPostgres = (url: string): Promise<Dump> =>
  withClient(url, async (client) => {
    const pairs = async (sql: string, values: readonly string[] = []) =>
      (await client.query({ text: sql, values: [...values], rowMode: "array" })).rows as string[][];
    const column = async (sql: string) => (await pairs(sql)).map(([value = ""]) => value);
    const names = await column(`SELECT tablename FROM pg_tables WHERE schemaname = '${SCHEMA}' ORDER BY 1`);
    const tables: Record<string, string> = {};
    for (const name of names)
      [tables[name] = ""] = await column(
        `SELECT coalesce(json_agg(t), '[]')::text FROM ${SCHEMA}."${name}" t`,
      );
    const sequences =
      await pairs(`SELECT quote_ident(schemaname) || '.' || quote_ident(sequencename), last_value::text
      FROM pg_sequences WHERE schemaname = '${SCHEMA}' AND last_value IS NOT NULL`);
    return {
      roles: await column(`SELECT rolname FROM pg_roles WHERE NOT rolsuper AND rolname !~ '^pg_' ORDER BY 1`),
      layout: await column("SELECT sql FROM recorded.layout ORDER BY n"),
      tables,
      sequences: Object.fromEntries(sequences),
    };
  });

export const restorePostgres = (url: string, { roles, layout, tables, sequences }: Dump): Promise<void> =>
  withClient(url, async (client) => {
    for (const role of roles) await client.query(`CREATE ROLE "${role}" NOLOGIN`);
    for (const sql of layout) await client.query(sql);
    for (const [name, rows] of Object.entries(tables)) {
      const table = `${SCHEMA}."${name}"`;
      await client.query(`DELETE FROM ${table}`);
      const filled = `SELECT * FROM json_populate_recordset(NULL::${table}, $1)`;
      await client.query(`INSERT INTO ${table} OVERRIDING SYSTEM VALUE ${filled}`, [rows]);
    }
    for (const [name, last] of Object.entries(sequences))
      await client.query("SELECT setval($1, $2)", [name, last]);
  });

/** Shifts the server's time. It needs `allow_system_table_mods`, and holds for statements planned from now on. */
export const shiftPostgres = (url: string, byMs: number): Promise<unknown> =>
  withClient(url, (client) =>
    client.query(`ALTER FUNCTION pg_catalog.clock_timestamp() RENAME TO machine_timestamp;
      CREATE FUNCTION pg_catalog.clock_timestamp() RETURNS timestamptz LANGUAGE sql VOLATILE
        AS $$ SELECT pg_catalog.machine_timestamp() + interval '${Math.round(byMs)} milliseconds' $$`),
  );
