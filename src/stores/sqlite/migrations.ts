/**
 * The layout of the file, in steps that only add (expand). Each runs once, all missing ones in one transaction.
 * `oldestReader` is the oldest layout whose programs may still use the file after the step. Each view has a table.
 * `hp_views` holds the version of the projection that built it, and the progress of a rebuild (`built` is the last
 * stream done, null when complete).
 */
import type { DatabaseSync } from "node:sqlite";
import { HoldpointError } from "../../kernel/errors.ts";
import {
  newerView,
  oldestCompatible,
  type Projections,
  type StoredViews,
  viewsToBuild,
  viewsToMarkStale,
} from "../views.ts";
import { APPLICATION_ID, pragma } from "./connect.ts";

type Migration = { readonly version: number; readonly oldestReader: number; readonly sql: string };

/** Streams have integer keys: text keys in the hot tables halved the throughput. */
const FIRST = `
CREATE TABLE hp_meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE hp_tenants (tid INTEGER PRIMARY KEY, tenant TEXT NOT NULL UNIQUE);
CREATE TABLE hp_streams (sid INTEGER PRIMARY KEY, tid INTEGER NOT NULL, name TEXT NOT NULL, UNIQUE (tid, name));
CREATE TABLE hp_entries (
  position INTEGER PRIMARY KEY,
  tid INTEGER NOT NULL,
  sid INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  header TEXT NOT NULL,
  hash BLOB NOT NULL,
  salt BLOB,
  body TEXT,
  UNIQUE (sid, seq)
);
CREATE INDEX hp_entries_tenant ON hp_entries (tid);
CREATE TABLE hp_names (
  tid INTEGER NOT NULL, name TEXT NOT NULL, stream TEXT NOT NULL, PRIMARY KEY (tid, name)
) WITHOUT ROWID;
CREATE TABLE hp_artifacts (
  number INTEGER PRIMARY KEY, tid INTEGER NOT NULL, hash BLOB NOT NULL, packed INTEGER NOT NULL, bytes BLOB NOT NULL,
  UNIQUE (tid, hash)
);
CREATE TABLE hp_snapshots (sid INTEGER PRIMARY KEY, seq INTEGER NOT NULL, version INTEGER NOT NULL, state BLOB NOT NULL);
CREATE TABLE hp_seals (
  tid INTEGER NOT NULL, n INTEGER NOT NULL, at INTEGER NOT NULL, position INTEGER NOT NULL, entries INTEGER NOT NULL,
  jws TEXT NOT NULL, leaves TEXT NOT NULL, PRIMARY KEY (tid, n)
);
CREATE INDEX hp_seals_position ON hp_seals (tid, position);
CREATE TABLE hp_secrets (
  tid INTEGER NOT NULL, id TEXT NOT NULL, sealed BLOB NOT NULL, PRIMARY KEY (tid, id)
) WITHOUT ROWID;
CREATE TABLE hp_views (view TEXT PRIMARY KEY, version INTEGER NOT NULL, built INTEGER) WITHOUT ROWID;
`;

/** A snapshot of an older program has no hash and is not used. */
const SNAPSHOT_HASH = "ALTER TABLE hp_snapshots ADD COLUMN hash BLOB";

/** A tenant's entries are found by scanning those after a position; an index on them cost a page per commit. */
const NO_TENANT_INDEX = "DROP INDEX hp_entries_tenant";

/** Expiry of the claim on a row of a view. */
const CLAIMS = `CREATE TABLE hp_claims (
  view TEXT NOT NULL, sid INTEGER NOT NULL, until INTEGER NOT NULL, PRIMARY KEY (view, sid)
) WITHOUT ROWID`;

/** Which versions of a view's rows may coexist, and whether older ones do. */
const VIEW_VERSIONS = `ALTER TABLE hp_views ADD COLUMN oldest INTEGER;
ALTER TABLE hp_views ADD COLUMN stale INTEGER NOT NULL DEFAULT 0`;

/** All entries of one commit in one stream are one row. Programs of before cannot read it. */
const ENTRY_ROWS = "ALTER TABLE hp_entries ADD COLUMN chain BLOB";

export const FILE_MIGRATIONS: readonly Migration[] = [
  { version: 1, oldestReader: 1, sql: FIRST },
  { version: 2, oldestReader: 1, sql: SNAPSHOT_HASH },
  { version: 3, oldestReader: 1, sql: CLAIMS },
  { version: 4, oldestReader: 1, sql: NO_TENANT_INDEX },
  { version: 5, oldestReader: 1, sql: VIEW_VERSIONS },
  { version: 6, oldestReader: 6, sql: ENTRY_ROWS },
];
export const FILE_LAYOUT = FILE_MIGRATIONS.at(-1)?.version ?? 0;

type NewStore = { readonly incarnation: string };

/** Migrates the file to this program's layout. Throws busy if another process writes: retry then. */
export function migrateFile(db: DatabaseSync, newborn: NewStore, migrations = FILE_MIGRATIONS): void {
  const target = migrations.at(-1)?.version ?? 0;
  refuseNewerFile(db, target);
  if (layoutOf(db) >= target) return;
  db.exec("BEGIN IMMEDIATE");
  try {
    // Read again: another process may have migrated while this one waited for the lock.
    const before = layoutOf(db);
    for (const migration of migrations) if (migration.version > before) step(db, migration);
    if (before === 0) writeFileMeta(db, "incarnation", newborn.incarnation);
    db.exec("COMMIT");
  } catch (error) {
    if (db.isTransaction) db.exec("ROLLBACK");
    throw error;
  }
}

function step(db: DatabaseSync, { version, oldestReader, sql }: Migration): void {
  db.exec(sql);
  db.exec(`PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${version}`);
  writeFileMeta(db, "oldest_reader", String(oldestReader));
  bumpFileLayout(db);
}

/** A process that has the file open checks its versions again when this number changes. */
export function bumpFileLayout(db: DatabaseSync): void {
  writeFileMeta(db, "layout", String(Number(readFileMeta(db, "layout") ?? "0") + 1));
}

export function refuseNewerFile(db: DatabaseSync, ours: number = FILE_LAYOUT): void {
  const found = layoutOf(db);
  if (found <= ours || Number(readFileMeta(db, "oldest_reader")) <= ours) return;
  throw new HoldpointError("store_newer", `The store has layout ${found}; this program knows ${ours}.`);
}

const layoutOf = (db: DatabaseSync): number => Number(pragma(db, "PRAGMA user_version"));

export function readFileMeta(db: DatabaseSync, key: string): string | undefined {
  const row = db.prepare("SELECT value FROM hp_meta WHERE key = ?").get(key);
  return row === undefined ? undefined : String(row["value"]);
}

export function writeFileMeta(db: DatabaseSync, key: string, value: string): void {
  db.prepare("INSERT OR REPLACE INTO hp_meta (key, value) VALUES (?, ?)").run(key, value);
}

export const sqliteViewTable = (view: string): string => `hp_view_${view}`;

const tableSql = (table: string): string => `
CREATE TABLE IF NOT EXISTS ${table} (
  sid INTEGER PRIMARY KEY, tid INTEGER NOT NULL, bucket TEXT NOT NULL, at INTEGER NOT NULL, due INTEGER, data TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS ${table}_bucket ON ${table} (tid, bucket, at);
CREATE INDEX IF NOT EXISTS ${table}_at ON ${table} (tid, at);
CREATE INDEX IF NOT EXISTS ${table}_due ON ${table} (tid, due) WHERE due IS NOT NULL;
`;

/** Creates missing tables and marks the views to build. Throws busy if another process writes: retry then. */
export function createSqliteViewTables(db: DatabaseSync, projections: Projections): void {
  checkSqliteViews(db, projections);
  if (viewsToBuild(readStoredViews(db), projections.all).length === 0) return;
  db.exec("BEGIN IMMEDIATE");
  try {
    const found = readStoredViews(db);
    const insert = db.prepare(
      "INSERT OR REPLACE INTO hp_views (view, version, oldest, built, stale) VALUES (?, ?, ?, 0, 0)",
    );
    for (const projection of viewsToBuild(found, projections.all)) {
      if (!found.has(projection.view)) db.exec(tableSql(sqliteViewTable(projection.view)));
      insert.run(projection.view, projection.version, oldestCompatible(projection));
    }
    bumpFileLayout(db);
    db.exec("COMMIT");
  } catch (error) {
    if (db.isTransaction) db.exec("ROLLBACK");
    throw error;
  }
}

/** Throws if only newer programs may write a view. Marks views for which this program writes older rows, or none. */
export function checkSqliteViews(db: DatabaseSync, projections: Projections): void {
  const found = readStoredViews(db);
  const newer = newerView(found, projections.all);
  if (newer !== undefined)
    throw new HoldpointError("store_newer", `The view "${newer}" was built by a newer version of Holdpoint.`);
  for (const view of viewsToMarkStale(found, projections.all))
    db.prepare("UPDATE hp_views SET stale = 1 WHERE view = ?").run(view);
}

function readStoredViews(db: DatabaseSync): StoredViews {
  const rows = db.prepare("SELECT view, version, oldest, stale FROM hp_views").all();
  return new Map(
    rows.map((row) => {
      const oldest = row["oldest"] === null ? null : Number(row["oldest"]);
      return [String(row["view"]), { version: Number(row["version"]), oldest, isStale: row["stale"] === 1 }];
    }),
  );
}
