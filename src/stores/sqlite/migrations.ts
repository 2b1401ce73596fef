/**
 * The layout of the file, in steps that only add (expand); each runs once, all that are missing in one transaction.
 * `oldestReader` is the oldest layout whose programs may still use the file after the step.
 */
import type { DatabaseSync } from "node:sqlite";
import { HoldpointError } from "../../kernel/errors.ts";
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

/** A snapshot without a hash, of an older program, is not used. */
const SNAPSHOT_HASH = "ALTER TABLE hp_snapshots ADD COLUMN hash BLOB";

/** A tenant's entries are found by scanning what came after a position; an index on them cost a page a commit. */
const NO_TENANT_INDEX = "DROP INDEX hp_entries_tenant";

/** Until when a row of a view belongs to whoever claimed it. */
const CLAIMS = `CREATE TABLE hp_claims (
  view TEXT NOT NULL, sid INTEGER NOT NULL, until INTEGER NOT NULL, PRIMARY KEY (view, sid)
) WITHOUT ROWID`;

/** Which versions of a view's rows may stand beside each other, and whether older ones do. */
const VIEW_VERSIONS = `ALTER TABLE hp_views ADD COLUMN oldest INTEGER;
ALTER TABLE hp_views ADD COLUMN stale INTEGER NOT NULL DEFAULT 0`;

export const MIGRATIONS: readonly Migration[] = [
  { version: 1, oldestReader: 1, sql: FIRST },
  { version: 2, oldestReader: 1, sql: SNAPSHOT_HASH },
  { version: 3, oldestReader: 1, sql: CLAIMS },
  { version: 4, oldestReader: 1, sql: NO_TENANT_INDEX },
  { version: 5, oldestReader: 1, sql: VIEW_VERSIONS },
];
export const LAYOUT = MIGRATIONS.at(-1)?.version ?? 0;

export type Newborn = { readonly incarnation: string };

/** Brings the file to this program's layout. Throws busy when somebody else is at it: try again then. */
export function migrate(db: DatabaseSync, newborn: Newborn, migrations = MIGRATIONS): void {
  const target = migrations.at(-1)?.version ?? 0;
  refuseNewer(db, target);
  if (layoutOf(db) >= target) return;
  db.exec("BEGIN IMMEDIATE");
  try {
    // Read again: another process may have migrated while this one waited for the lock.
    const before = layoutOf(db);
    for (const migration of migrations) if (migration.version > before) step(db, migration);
    if (before === 0) writeMeta(db, "incarnation", newborn.incarnation);
    db.exec("COMMIT");
  } catch (error) {
    if (db.isTransaction) db.exec("ROLLBACK");
    throw error;
  }
}

function step(db: DatabaseSync, { version, oldestReader, sql }: Migration): void {
  db.exec(sql);
  db.exec(`PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${version}`);
  writeMeta(db, "oldest_reader", String(oldestReader));
  bumpLayout(db);
}

/** Whoever has the file open looks at its versions again when this number moved. */
export function bumpLayout(db: DatabaseSync): void {
  writeMeta(db, "layout", String(Number(readMeta(db, "layout") ?? "0") + 1));
}

export function refuseNewer(db: DatabaseSync, ours: number = LAYOUT): void {
  const found = layoutOf(db);
  if (found <= ours || Number(readMeta(db, "oldest_reader")) <= ours) return;
  throw new HoldpointError("store_newer", `The store has layout ${found}; this program knows ${ours}.`);
}

const layoutOf = (db: DatabaseSync): number => Number(pragma(db, "PRAGMA user_version"));

export function readMeta(db: DatabaseSync, key: string): string | undefined {
  const row = db.prepare("SELECT value FROM hp_meta WHERE key = ?").get(key);
  return row === undefined ? undefined : String(row["value"]);
}

export function writeMeta(db: DatabaseSync, key: string, value: string): void {
  db.prepare("INSERT OR REPLACE INTO hp_meta (key, value) VALUES (?, ?)").run(key, value);
}
