/**
 * An epoch is held by a lock that the operating system drops when the process dies. Node has no such lock of its own;
 * SQLite has: an empty database file, locked by `BEGIN EXCLUSIVE` on a connection that never writes.
 *
 * L1. Lock files are touched through SQLite only. POSIX drops all locks of a file when the process closes any
 *     descriptor of it; SQLite knows that and keeps descriptors open while another of its connections holds a lock.
 * L2. What cannot be found out counts as an error, never as "not held".
 * L3. A lock that is found free is cleared away while nobody can take it; who holds one makes sure its file is there.
 */
import fs from "node:fs";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { sha256 } from "../../kernel/canonical-json.ts";
import { HoldpointError } from "../../kernel/errors.ts";
import { isBusy, isCannotOpen } from "./errors.ts";

export type EpochLock = {
  release(): void;
  /** Held from now on until the process ends, unless it is released: nobody else may refer to it any more. */
  keep(): void;
};

/** A connection that nobody refers to is closed by the garbage collector, and its lock falls. */
const heldLocks = new Set<DatabaseSync>();

const lockFile = (folder: string, id: string): string =>
  path.join(folder, "epochs", `${/^[\w-]{1,100}$/.test(id) ? id : sha256(id)}.lock`);

/** Throws SQLite's busy when somebody holds it, or looks at this very moment whether somebody does. */
export function lockEpoch(folder: string, id: string): EpochLock {
  const file = lockFile(folder, id);
  fs.mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
  const db = new DatabaseSync(file, { timeout: 0 });
  try {
    db.exec("PRAGMA journal_mode=MEMORY; BEGIN EXCLUSIVE");
    fs.chmodSync(file, 0o600);
    return { release: () => release(db, file), keep: () => void heldLocks.add(db) };
  } catch (error) {
    db.close();
    // Whoever looked before the lock was taken found it free, and cleared the file away: L3.
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return lockEpoch(folder, id);
    throw error;
  }
}

/** Deleted while still locked where the system allows it, so that no free lock is ever seen. */
function release(db: DatabaseSync, file: string): void {
  heldLocks.delete(db);
  if (!db.isOpen) return;
  if (process.platform !== "win32") fs.rmSync(file, { force: true });
  db.close();
  if (process.platform === "win32") fs.rmSync(file, { force: true });
}

export function isEpochLocked(folder: string, id: string): boolean {
  const file = lockFile(folder, id);
  if (!fs.existsSync(file)) return false;
  let db: DatabaseSync | undefined;
  try {
    db = new DatabaseSync(file, { readOnly: true, timeout: 0 });
    db.exec("BEGIN; SELECT count(*) FROM sqlite_schema");
    fs.rmSync(file, { force: true });
    return false;
  } catch (error) {
    if (isBusy(error)) return true;
    if (isCannotOpen(error) && !fs.existsSync(file)) return false;
    throw error;
  } finally {
    db?.close();
  }
}

export function epochAlreadyHeld(id: string, cause: unknown): HoldpointError {
  return new HoldpointError("broken_rule", `The epoch ${id} is held already.`, { cause });
}
