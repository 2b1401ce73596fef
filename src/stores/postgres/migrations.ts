/**
 * The layout of the schema, in steps that only add (expand). Each runs once, all missing ones in one transaction under
 * a lock, while other nodes go on. `oldestReader` is the oldest layout whose programs may still use the schema. The
 * worker role owns nothing, cannot log in, and is bound by row-level security. Each view has a table. `hp_views` holds
 * the version of the projection that built it, and the progress of a rebuild (`built` is the last stream done, null
 * when complete).
 */

import { HoldpointError } from "../../kernel/errors.ts";
import {
  newerView,
  oldestCompatible,
  type Projections,
  type StoredViews,
  viewsToBuild,
  viewsToMarkStale,
} from "../views.ts";
import type { Client } from "./connect.ts";
import { sqlState } from "./errors.ts";
import { firstLayout, quoteIdentifier, viewLayout } from "./tables.ts";

/** From PostgreSQL 16 on, a member of a role may still lack the right to SET it. */
const FIND_ROLE = `SELECT r.oid IS NOT NULL AS exists, r.rolsuper OR r.rolbypassrls AS mighty,
    pg_has_role(current_user, r.oid, CASE WHEN v.is_16 THEN 'SET' ELSE 'MEMBER' END) AS ours,
    v.is_16, quote_ident(current_user) AS me
  FROM (SELECT current_setting('server_version_num')::int >= 160000 AS is_16) v
  LEFT JOIN pg_roles r ON r.rolname = $1`;

/** Creates the role if it does not exist, and lets the connected user assume it. */
async function ensureRole(client: Client, role: string): Promise<void> {
  const { rows } = await client.query(FIND_ROLE, [role]);
  const { exists, mighty, ours, is_16, me } = rows[0] ?? {};
  if (mighty === true) throw roleTooPowerful(role);
  if (ours === true) return;
  const making = `CREATE ROLE ${quoteIdentifier(role)} NOLOGIN`;
  const granting = (to: string) =>
    `GRANT ${quoteIdentifier(role)} TO ${to}${is_16 === true ? " WITH SET TRUE" : ""}`;
  const lacking = exists === true ? [granting(me)] : [making, granting(me)];
  if (exists !== true)
    await client.query(createRoleSql(role)).catch(rethrowMissingRight(`make the role ${role}`, lacking));
  await client
    .query(granting("CURRENT_USER"))
    .catch(rethrowMissingRight(`grant itself the role ${role}`, lacking));
}

/** Roles belong to the whole server: stores of two databases may create it at the same time. */
function createRoleSql(role: string): string {
  const attributes = "NOLOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOBYPASSRLS";
  return `DO $make$ BEGIN CREATE ROLE ${quoteIdentifier(role)} ${attributes};
    EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL; END $make$`;
}

/** Reports a missing right, with the SQL that grants it. */
function rethrowMissingRight(what: string, lacking: readonly string[]): (error: unknown) => never {
  return (error) => {
    if (sqlState(error) !== "42501") throw error;
    throw new HoldpointError("store_unsuitable", `The database's user may not ${what}.`, {
      cause: error,
      data: "The database was left as it is.",
      next: `Have a superuser run: ${lacking.join("; ")};`,
    });
  };
}

function roleTooPowerful(role: string): HoldpointError {
  return new HoldpointError("store_unsuitable", `Row-level security does not bind the role ${role}.`, {
    data: "The database was left as it is.",
    next: "Choose a role that is neither a superuser nor has BYPASSRLS.",
  });
}

type Migration = {
  readonly version: number;
  readonly oldestReader: number;
  sql(place: SchemaRole): string;
};
type SchemaRole = { readonly schema: string; readonly role: string };

/** The worker role may update rows of `hp_meta`, but not add any. */
const homeMigration = ({ schema }: SchemaRole): string =>
  `INSERT INTO ${schema}.hp_meta (key, value) VALUES ('home', ''), ('born', '') ON CONFLICT DO NOTHING`;

/** Which versions of a view's rows may coexist, and whether older ones do. */
const viewVersionsMigration = ({ schema }: SchemaRole): string =>
  `ALTER TABLE ${schema}.hp_views ADD COLUMN oldest int4, ADD COLUMN stale bool NOT NULL DEFAULT false`;

/** All entries of one commit in one stream are one row. Programs of before cannot read it. */
const entryRowsMigration = ({ schema }: SchemaRole): string =>
  `ALTER TABLE ${schema}.hp_entries ADD COLUMN chain bytea`;

export const SCHEMA_MIGRATIONS: readonly Migration[] = [
  { version: 1, oldestReader: 1, sql: firstLayout },
  { version: 2, oldestReader: 1, sql: homeMigration },
  { version: 3, oldestReader: 1, sql: viewVersionsMigration },
  { version: 4, oldestReader: 4, sql: entryRowsMigration },
];
export const SCHEMA_LAYOUT = SCHEMA_MIGRATIONS.at(-1)?.version ?? 0;

type Migrating = {
  readonly schema: string;
  readonly role: string;
  readonly mode: "read-write" | "existing";
  readonly incarnation: string;
};

export type SchemaMeta = ReadonlyMap<string, string>;

/** Migrates the schema to this program's layout. */
export async function migrateSchema(
  client: Client,
  options: Migrating,
  migrations = SCHEMA_MIGRATIONS,
): Promise<void> {
  const { schema, role, mode } = options;
  const target = migrations.at(-1)?.version ?? 0;
  const found = await readSchemaMeta(client, schema);
  if (found === undefined && mode === "existing") throw noSuchStore(schema);
  refuseNewerSchema(found ?? new Map(), target);
  if (layoutOf(found) >= target) return ensureRole(client, role);
  await withMigrationLock(client, schema, async () => {
    await ensureRole(client, role);
    await ensureSchema(client, schema);
    // Read again: another process may have migrated while this one waited for the lock.
    const before = layoutOf(await readSchemaMeta(client, schema));
    const place = { schema: quoteIdentifier(schema), role: quoteIdentifier(role) };
    for (const migration of migrations) if (migration.version > before) await step(client, place, migration);
    if (before === 0) await writeSchemaMeta(client, schema, "incarnation", options.incarnation);
  });
}

/** Checked first: CREATE SCHEMA needs a right on the whole database, even if the schema exists. */
async function ensureSchema(client: Client, schema: string): Promise<void> {
  const find = "SELECT to_regnamespace($1) IS NOT NULL AS exists, quote_ident(current_user) AS me";
  const { rows } = await client.query(find, [quoteIdentifier(schema)]);
  if (rows[0]?.["exists"] === true) return;
  const make = `CREATE SCHEMA ${quoteIdentifier(schema)}`;
  const lacking = [`${make} AUTHORIZATION ${rows[0]?.["me"]}`];
  await client.query(make).catch(rethrowMissingRight(`make the schema "${schema}"`, lacking));
}

/** A migration that waits for a table blocks all access queued behind it, so it times out soon and is retried. */
const LONGEST_WAIT = "SET LOCAL lock_timeout = '1s'";

/** One at a time, over all nodes; readers and writers of data do not wait for it. */
async function withMigrationLock(client: Client, schema: string, work: () => Promise<void>): Promise<void> {
  await client.query("BEGIN");
  await client.query("SELECT pg_advisory_xact_lock(hashtextextended($1, 0))", [`holdpoint ${schema}`]);
  await client.query(LONGEST_WAIT);
  await work();
  await client.query("COMMIT");
}

async function step(client: Client, place: SchemaRole, migration: Migration): Promise<void> {
  await client.query(migration.sql(place));
  const schema = place.schema.slice(1, -1).replaceAll('""', '"');
  await writeSchemaMeta(client, schema, "version", String(migration.version));
  await writeSchemaMeta(client, schema, "oldest_reader", String(migration.oldestReader));
  await bumpSchemaLayout(client, schema);
}

/** A process that has the schema open checks its versions again when this number changes. */
async function bumpSchemaLayout(client: Client, schema: string): Promise<void> {
  const before = (await readSchemaMeta(client, schema))?.get("layout") ?? "0";
  await writeSchemaMeta(client, schema, "layout", String(Number(before) + 1));
}

export function refuseNewerSchema(meta: SchemaMeta, ours: number = SCHEMA_LAYOUT): void {
  const found = layoutOf(meta);
  if (found <= ours || Number(meta.get("oldest_reader")) <= ours) return;
  throw new HoldpointError("store_newer", `The store has layout ${found}; this program knows ${ours}.`, {
    data: "The database was left as it is.",
  });
}

const layoutOf = (meta: SchemaMeta | undefined): number => Number(meta?.get("version") ?? "0");

/** Undefined if there is no store in this schema. */
export async function readSchemaMeta(client: Client, schema: string): Promise<SchemaMeta | undefined> {
  const table = `${quoteIdentifier(schema)}.hp_meta`;
  const exists = await client.query("SELECT to_regclass($1) IS NOT NULL AS exists", [table]);
  if (exists.rows[0]?.["exists"] !== true) return undefined;
  const { rows } = await client.query(`SELECT key, value FROM ${table}`);
  return new Map(rows.map((row) => [String(row["key"]), String(row["value"])]));
}

async function writeSchemaMeta(client: Client, schema: string, key: string, value: string): Promise<void> {
  const sql = `INSERT INTO ${quoteIdentifier(schema)}.hp_meta (key, value) VALUES ($1, $2)
    ON CONFLICT (key) DO UPDATE SET value = excluded.value`;
  await client.query(sql, [key, value]);
}

function noSuchStore(schema: string): HoldpointError {
  return new HoldpointError("store_unavailable", `There is no store in the schema "${schema}".`, {
    next: "A program that uses holdpoint({ database }) makes one.",
    details: { absent: true },
  });
}

export const postgresViewTable = (view: string): string => `hp_view_${view}`;

type SchemaViewTables = { readonly schema: string; readonly role: string; readonly projections: Projections };

/** Creates missing tables and marks the views to build. */
export async function createPostgresViewTables(client: Client, place: SchemaViewTables): Promise<void> {
  await checkPostgresViews(client, place);
  const { all } = place.projections;
  if (viewsToBuild(await readStoredViews(client, place), all).length === 0) return;
  await withMigrationLock(client, place.schema, async () => {
    const found = await readStoredViews(client, place);
    const quotedPlace = { schema: quoteIdentifier(place.schema), role: quoteIdentifier(place.role) };
    for (const projection of viewsToBuild(found, all)) {
      const { view, version } = projection;
      // Rights and indexes of an existing table are not touched: its writers would have to wait.
      if (!found.has(view)) await client.query(viewLayout(quotedPlace, postgresViewTable(view)));
      const upsert = `INSERT INTO ${quotedPlace.schema}.hp_views (view, version, oldest, built) VALUES ($1, $2, $3, 0)
        ON CONFLICT (view) DO UPDATE
        SET version = excluded.version, oldest = excluded.oldest, built = 0, stale = false`;
      await client.query(upsert, [view, version, oldestCompatible(projection)]);
    }
    await bumpSchemaLayout(client, place.schema);
  });
}

/** Throws if only newer programs may write a view. Marks views for which this program writes older rows, or none. */
export async function checkPostgresViews(client: Client, place: SchemaViewTables): Promise<void> {
  const found = await readStoredViews(client, place);
  const newer = newerView(found, place.projections.all);
  if (newer !== undefined)
    throw new HoldpointError(
      "store_newer",
      `The view "${newer}" was built by a newer version of Holdpoint.`,
      {
        data: "The database was left as it is.",
      },
    );
  const stale = viewsToMarkStale(found, place.projections.all);
  const mark = `UPDATE ${quoteIdentifier(place.schema)}.hp_views SET stale = true WHERE view = ANY ($1::text[])`;
  if (stale.length > 0) await client.query(mark, [stale]);
}

async function readStoredViews(client: Client, { schema }: SchemaViewTables): Promise<StoredViews> {
  const { rows } = await client.query(
    `SELECT view, version, oldest, stale FROM ${quoteIdentifier(schema)}.hp_views`,
  );
  return new Map(
    rows.map((row) => {
      const oldest = row["oldest"] === null ? null : Number(row["oldest"]);
      return [
        String(row["view"]),
        { version: Number(row["version"]), oldest, isStale: row["stale"] === true },
      ];
    }),
  );
}
