/**
 * The layout of the schema, in steps that only add (expand); each runs once, all that are missing in one transaction
 * under a lock, while other nodes go on. `oldestReader` is the oldest layout whose programs may still use the schema.
 */
import { HoldpointError } from "../../kernel/errors.ts";
import type { Client } from "./driver.ts";
import { ensureRole, mayNot } from "./role.ts";
import { firstLayout, quoted } from "./tables.ts";

export type Migration = {
  readonly version: number;
  readonly oldestReader: number;
  sql(place: Place): string;
};
type Place = { readonly schema: string; readonly role: string };

/** The role that works may change rows of `hp_meta` and add none. */
const home = ({ schema }: Place): string =>
  `INSERT INTO ${schema}.hp_meta (key, value) VALUES ('home', ''), ('born', '') ON CONFLICT DO NOTHING`;

/** Which versions of a view's rows may stand beside each other, and whether older ones do. */
const viewVersions = ({ schema }: Place): string =>
  `ALTER TABLE ${schema}.hp_views ADD COLUMN oldest int4, ADD COLUMN stale bool NOT NULL DEFAULT false`;

export const MIGRATIONS: readonly Migration[] = [
  { version: 1, oldestReader: 1, sql: firstLayout },
  { version: 2, oldestReader: 1, sql: home },
  { version: 3, oldestReader: 1, sql: viewVersions },
];
export const LAYOUT = MIGRATIONS.at(-1)?.version ?? 0;

export type Migrating = {
  readonly schema: string;
  readonly role: string;
  readonly mode: "read-write" | "existing";
  readonly incarnation: string;
};

export type Meta = ReadonlyMap<string, string>;

/** Brings the schema to this program's layout. */
export async function migrate(client: Client, options: Migrating, migrations = MIGRATIONS): Promise<void> {
  const { schema, role, mode } = options;
  const target = migrations.at(-1)?.version ?? 0;
  const found = await readMeta(client, schema);
  if (found === undefined && mode === "existing") throw absent(schema);
  refuseNewer(found ?? new Map(), target);
  if (layoutOf(found) >= target) return ensureRole(client, role);
  await underLock(client, schema, async () => {
    await ensureRole(client, role);
    await ensureSchema(client, schema);
    // Read again: another process may have migrated while this one waited for the lock.
    const before = layoutOf(await readMeta(client, schema));
    const place = { schema: quoted(schema), role: quoted(role) };
    for (const migration of migrations) if (migration.version > before) await step(client, place, migration);
    if (before === 0) await writeMeta(client, schema, "incarnation", options.incarnation);
  });
}

/** Looked for first: to make one, even one that is there, takes a right on the whole database. */
async function ensureSchema(client: Client, schema: string): Promise<void> {
  const find = "SELECT to_regnamespace($1) IS NOT NULL AS exists, quote_ident(current_user) AS me";
  const { rows } = await client.query(find, [quoted(schema)]);
  if (rows[0]?.["exists"] === true) return;
  const make = `CREATE SCHEMA ${quoted(schema)}`;
  const lacking = [`${make} AUTHORIZATION ${rows[0]?.["me"]}`];
  await client.query(make).catch(mayNot(`make the schema "${schema}"`, lacking));
}

/** Whoever waits for a table keeps all others waiting behind it: it gives up soon, and is tried again. */
const LONGEST_WAIT = "SET LOCAL lock_timeout = '1s'";

/** One at a time, over all nodes; readers and writers of data do not wait for it. */
export async function underLock(client: Client, schema: string, work: () => Promise<void>): Promise<void> {
  await client.query("BEGIN");
  await client.query("SELECT pg_advisory_xact_lock(hashtextextended($1, 0))", [`holdpoint ${schema}`]);
  await client.query(LONGEST_WAIT);
  await work();
  await client.query("COMMIT");
}

async function step(client: Client, place: Place, migration: Migration): Promise<void> {
  await client.query(migration.sql(place));
  const schema = place.schema.slice(1, -1).replaceAll('""', '"');
  await writeMeta(client, schema, "version", String(migration.version));
  await writeMeta(client, schema, "oldest_reader", String(migration.oldestReader));
  await bumpLayout(client, schema);
}

/** Whoever has the schema open looks at its versions again when this number moved. */
export async function bumpLayout(client: Client, schema: string): Promise<void> {
  const before = (await readMeta(client, schema))?.get("layout") ?? "0";
  await writeMeta(client, schema, "layout", String(Number(before) + 1));
}

export function refuseNewer(meta: Meta, ours: number = LAYOUT): void {
  const found = layoutOf(meta);
  if (found <= ours || Number(meta.get("oldest_reader")) <= ours) return;
  throw new HoldpointError("store_newer", `The store has layout ${found}; this program knows ${ours}.`, {
    data: "The database was left as it is.",
  });
}

const layoutOf = (meta: Meta | undefined): number => Number(meta?.get("version") ?? "0");

/** undefined: there is no store in this schema. */
export async function readMeta(client: Client, schema: string): Promise<Meta | undefined> {
  const table = `${quoted(schema)}.hp_meta`;
  const exists = await client.query("SELECT to_regclass($1) IS NOT NULL AS exists", [table]);
  if (exists.rows[0]?.["exists"] !== true) return undefined;
  const { rows } = await client.query(`SELECT key, value FROM ${table}`);
  return new Map(rows.map((row) => [String(row["key"]), String(row["value"])]));
}

export async function writeMeta(client: Client, schema: string, key: string, value: string): Promise<void> {
  const sql = `INSERT INTO ${quoted(schema)}.hp_meta (key, value) VALUES ($1, $2)
    ON CONFLICT (key) DO UPDATE SET value = excluded.value`;
  await client.query(sql, [key, value]);
}

function absent(schema: string): HoldpointError {
  return new HoldpointError("store_unavailable", `There is no store in the schema "${schema}".`, {
    next: "A program that uses holdpoint({ database }) makes one.",
    details: { absent: true },
  });
}
