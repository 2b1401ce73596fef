/** Rows dropped from scratch copies of the kept stores, one at a time: to carry on such a copy has to fail. */
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { TestContext } from "node:test";
import { FIXTURES, type Fixture, openFile, openSchema } from "./fixture.ts";
import { withClient } from "./postgres-dump.ts";
import { carryOn } from "./upgrade.ts";

type Context = Pick<TestContext, "after">;
export type Dialect = "file" | "schema";
export type Fault = { readonly dialect: Dialect; readonly table: string; readonly row: number };

/** Tables whose rows are made again from others, or say what a program that is dead has claimed. */
const MADE_AGAIN: Readonly<Record<string, string>> = {
  hp_snapshots: "folded again from the entries",
  hp_views: "the view is built again",
  hp_claims: "lapsed with their program",
  hp_meta: "a counter, or written with each step of the layout; its test drops the incarnation",
  hp_moves: "wakes programs that waited then",
  hp_epochs: "leases, lapsed with their program",
};

type Database = {
  /** Tables with the number of their rows. */
  readonly tables: ReadonlyMap<string, number>;
  drop(table: string, row: number): Promise<unknown>;
  close(): Promise<unknown>;
};

function openDatabase(folder: string): Database {
  const db = new DatabaseSync(join(folder, "journal.db"));
  const names = db.prepare(
    "SELECT name FROM sqlite_schema WHERE type = 'table' AND name LIKE 'hp!_%' ESCAPE '!'",
  );
  const count = (name: string) => Number(db.prepare(`SELECT count(*) n FROM ${name}`).get()?.["n"]);
  return {
    tables: new Map(names.all().map(({ name }) => [String(name), count(String(name))])),
    async drop(table, row) {
      const columns = db.prepare("SELECT name FROM pragma_table_info(?) WHERE pk > 0").all(table);
      const key = columns.map(({ name }) => name).join();
      db.exec(
        `DELETE FROM ${table} WHERE (${key}) = (SELECT ${key} FROM ${table} ORDER BY ${key} LIMIT 1 OFFSET ${row})`,
      );
    },
    close: async () => db.close(),
  };
}

async function openTables(url: string): Promise<Database> {
  const counted = await withClient(url, async (client) => {
    const { rows } = await client.query(
      `SELECT tablename AS name, (xpath('/row/n/text()', query_to_xml(
        'SELECT count(*) AS n FROM holdpoint.' || quote_ident(tablename), false, true, '')))[1]::text AS n
        FROM pg_tables WHERE schemaname = 'holdpoint'`,
    );
    return rows as readonly { readonly name: string; readonly n: string }[];
  });
  return {
    tables: new Map(counted.map(({ name, n }) => [name, Number(n)])),
    drop: (name, row) =>
      withClient(url, (client) => {
        const table = `holdpoint."${name}"`;
        return client.query(
          `DELETE FROM ${table} WHERE ctid = (SELECT ctid FROM ${table} ORDER BY ctid LIMIT 1 OFFSET ${row})`,
        );
      }),
    close: async () => undefined,
  };
}

async function within<Result>(work: (context: Context) => Promise<Result>): Promise<Result> {
  const ends: (() => unknown)[] = [];
  try {
    return await work({ after: (end) => void ends.unshift(end as () => unknown) });
  } finally {
    for (const end of ends) await end();
  }
}

const withCopy = <Result>(
  dialect: Dialect,
  name: string,
  work: (fixture: Fixture, database: Database) => Promise<Result>,
): Promise<Result> =>
  within(async (context) => {
    const open = dialect === "file" ? openFile : openSchema;
    const fixture = await open(context, name);
    const { where } = fixture;
    return work(fixture, "folder" in where ? openDatabase(where.folder) : await openTables(where.database));
  });

/** How carrying on failed without the row; undefined if it did not. */
export const planted = (name: string, { dialect, table, row }: Fault): Promise<string | undefined> =>
  withCopy(dialect, name, async ({ place, where, left }, database) => {
    await database.drop(table, row);
    await database.close();
    return carryOn(place, where, left).then(
      () => undefined,
      (error: unknown) => String(error).split("\n")[0],
    );
  });

/** The first and the last row of every table. */
const faultsOf = (dialect: Dialect, name: string): Promise<readonly Fault[]> =>
  withCopy(dialect, name, async (_, database) => {
    await database.close();
    return [...database.tables].flatMap(([table, count]) =>
      [...new Set([0, count - 1])].filter((row) => row >= 0).map((row) => ({ dialect, table, row })),
    );
  });

/** Answers whether each row that is not made again was missed. */
export async function sweepFaults(say: (line: string) => void): Promise<boolean> {
  let isFine = true;
  for (const name of FIXTURES)
    for (const dialect of ["file", "schema"] as const)
      for (const fault of await faultsOf(dialect, name)) {
        const how = (await planted(name, fault)) ?? MADE_AGAIN[fault.table];
        isFine &&= how !== undefined;
        say(`${name} ${dialect} ${fault.table} ${fault.row}: ${how ?? "NOT MISSED"}`);
      }
  return isFine;
}
