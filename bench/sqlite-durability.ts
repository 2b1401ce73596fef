/** WAL and `synchronous=FULL`, set and read back: an acknowledged commit survives a power cut. */
import type { DatabaseSync } from "node:sqlite";

const first = (db: DatabaseSync, sql: string): unknown => Object.values(db.prepare(sql).get() ?? {})[0];

export function makeFull(db: DatabaseSync): string {
  const found = first(db, "PRAGMA synchronous");
  db.exec("PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL");
  const mode = first(db, "PRAGMA journal_mode");
  const synchronous = first(db, "PRAGMA synchronous");
  if (mode !== "wal" || synchronous !== 2)
    throw new Error(`SQLite answers journal_mode=${mode}, synchronous=${synchronous}; wal and 2 were set`);
  return `WAL, synchronous=FULL (it had ${found})`;
}
