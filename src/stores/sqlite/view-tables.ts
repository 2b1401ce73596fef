/**
 * A table for each view. `hp_views` says with which version of its projection it was built, and how far a rebuild that
 * is under way has come (`built` is the last stream done, null when complete).
 */
import type { DatabaseSync } from "node:sqlite";
import { HoldpointError } from "../../core/errors.ts";
import type { Projections } from "../project.ts";
import { bumpLayout } from "./migrations.ts";

export const viewTable = (view: string): string => `hp_view_${view}`;

const tableSql = (table: string): string => `
CREATE TABLE IF NOT EXISTS ${table} (
  sid INTEGER PRIMARY KEY, tid INTEGER NOT NULL, bucket TEXT NOT NULL, at INTEGER NOT NULL, due INTEGER, data TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS ${table}_bucket ON ${table} (tid, bucket, at);
CREATE INDEX IF NOT EXISTS ${table}_at ON ${table} (tid, at);
CREATE INDEX IF NOT EXISTS ${table}_due ON ${table} (tid, due) WHERE due IS NOT NULL;
`;

/** Makes what is missing and marks what has to be built. Throws busy when another process writes: try again then. */
export function createViewTables(db: DatabaseSync, projections: Projections): void {
  refuseNewerViews(db, projections);
  if (!isOutdated(db, projections)) return;
  db.exec("BEGIN IMMEDIATE");
  try {
    for (const { view, version } of projections.all) {
      if (versions(db).get(view) === version) continue;
      db.exec(tableSql(viewTable(view)));
      db.prepare("INSERT OR REPLACE INTO hp_views (view, version, built) VALUES (?, ?, 0)").run(
        view,
        version,
      );
    }
    for (const view of unattended(db, projections))
      db.prepare("UPDATE hp_views SET version = -1 WHERE view = ?").run(view);
    bumpLayout(db);
    db.exec("COMMIT");
  } catch (error) {
    if (db.isTransaction) db.exec("ROLLBACK");
    throw error;
  }
}

export function refuseNewerViews(db: DatabaseSync, projections: Projections): void {
  const found = versions(db);
  for (const { view, version } of projections.all) {
    if ((found.get(view) ?? 0) <= version) continue;
    throw new HoldpointError("store_newer", `The view "${view}" was built by a newer version of Holdpoint.`);
  }
}

function isOutdated(db: DatabaseSync, projections: Projections): boolean {
  const found = versions(db);
  return (
    projections.all.some(({ view, version }) => found.get(view) !== version) ||
    unattended(db, projections).length > 0
  );
}

/** Views that this process does not write: they go stale, and whoever knows them has to build them again. */
function unattended(db: DatabaseSync, projections: Projections): readonly string[] {
  const ours = new Set(projections.all.map(({ view }) => view));
  return [...versions(db)]
    .filter(([view, version]) => version !== -1 && !ours.has(view))
    .map(([view]) => view);
}

function versions(db: DatabaseSync): ReadonlyMap<string, number> {
  const rows = db.prepare("SELECT view, version FROM hp_views").all();
  return new Map(rows.map((row) => [String(row["view"]), Number(row["version"])]));
}
