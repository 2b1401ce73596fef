/**
 * One connection with the settings that durability rests on, read back after they were set: what SQLite was compiled
 * with must not decide whether an acknowledged commit survives a power cut.
 */
import { DatabaseSync } from "node:sqlite";
import { HoldpointError } from "../../kernel/errors.ts";

const OLDEST_LIBRARY = [3, 51, 3] as const;
/** "HPNT", in the file's header. */
export const APPLICATION_ID = 0x48504e54;

/** Each setting with the value it has to read back as. How to sync comes first: the mode is written to the file. */
const SETTINGS = [
  ["synchronous", "FULL", 2],
  ["fullfsync", "ON", 1],
  ["checkpoint_fullfsync", "ON", 1],
  ["journal_mode", "WAL", "wal"],
  ["trusted_schema", "OFF", 0],
  ["mmap_size", "0", 0],
  ["busy_timeout", "0", 0],
  ["temp_store", "MEMORY", 2],
  ["cache_size", "-16000", -16000],
  ["wal_autocheckpoint", "2000", 2000],
  ["journal_size_limit", "67108864", 67108864],
] as const;

export type Open = (file: string) => DatabaseSync;

const openFile: Open = (file) =>
  new DatabaseSync(file, { timeout: 0, defensive: true, allowExtension: false });

export function connect(file: string, open: Open = openFile): DatabaseSync {
  const db = open(file);
  try {
    refuseOldLibrary(String(pragma(db, "SELECT sqlite_version()")));
    refuseForeign(db, file);
    applySettings(db);
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

export function refuseOldLibrary(version: string): void {
  const parts = version.split(".").map(Number);
  for (const [index, least] of OLDEST_LIBRARY.entries()) {
    const part = parts[index] ?? 0;
    if (part > least) return;
    if (part < least) throw unsuitable(`SQLite ${version} is older than ${OLDEST_LIBRARY.join(".")}`);
  }
}

/** Before anything is written: a file of somebody else stays as it is. */
function refuseForeign(db: DatabaseSync, file: string): void {
  const id = pragma(db, "PRAGMA application_id");
  if (id === APPLICATION_ID) return;
  const tables = pragma(db, "SELECT count(*) FROM sqlite_schema");
  if (id === 0 && tables === 0) return;
  throw new HoldpointError("store_foreign", `The file ${file} is a database of another program.`);
}

function applySettings(db: DatabaseSync): void {
  for (const [name, value] of SETTINGS) db.exec(`PRAGMA ${name}=${value}`);
  for (const [name, , expected] of SETTINGS) {
    const got = pragma(db, `PRAGMA ${name}`) ?? expected;
    if (got !== expected) throw unsuitable(`SQLite answers ${name}=${String(got)} where ${expected} was set`);
  }
}

/** The first column of a statement's first row. */
export function pragma(db: DatabaseSync, sql: string): unknown {
  return Object.values(db.prepare(sql).get() ?? {})[0];
}

function unsuitable(what: string): HoldpointError {
  return new HoldpointError("store_unsuitable", `${what}.`);
}
