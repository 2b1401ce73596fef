/**
 * A table for each view. `hp_views` says with which version of its projection it was built, and how far a rebuild that
 * is under way has come (`built` is the last stream done, null when complete).
 */
import type { DatabaseSync } from "node:sqlite";
import { HoldpointError } from "../../kernel/errors.ts";
import type { Projections } from "../project.ts";
import { type FoundViews, neglected, newerView, oldestOf, unbuilt } from "../view-versions.ts";
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
  checkViews(db, projections);
  if (unbuilt(foundIn(db), projections.all).length === 0) return;
  db.exec("BEGIN IMMEDIATE");
  try {
    const found = foundIn(db);
    const insert = db.prepare(
      "INSERT OR REPLACE INTO hp_views (view, version, oldest, built, stale) VALUES (?, ?, ?, 0, 0)",
    );
    for (const projection of unbuilt(found, projections.all)) {
      if (!found.has(projection.view)) db.exec(tableSql(viewTable(projection.view)));
      insert.run(projection.view, projection.version, oldestOf(projection));
    }
    bumpLayout(db);
    db.exec("COMMIT");
  } catch (error) {
    if (db.isTransaction) db.exec("ROLLBACK");
    throw error;
  }
}

/** Refuses to go on where only newer programs may; says where this one leaves older rows, or none. */
export function checkViews(db: DatabaseSync, projections: Projections): void {
  const found = foundIn(db);
  const newer = newerView(found, projections.all);
  if (newer !== undefined)
    throw new HoldpointError("store_newer", `The view "${newer}" was built by a newer version of Holdpoint.`);
  for (const view of neglected(found, projections.all))
    db.prepare("UPDATE hp_views SET stale = 1 WHERE view = ?").run(view);
}

function foundIn(db: DatabaseSync): FoundViews {
  const rows = db.prepare("SELECT view, version, oldest, stale FROM hp_views").all();
  return new Map(
    rows.map((row) => {
      const oldest = row["oldest"] === null ? null : Number(row["oldest"]);
      return [String(row["view"]), { version: Number(row["version"]), oldest, isStale: row["stale"] === 1 }];
    }),
  );
}
