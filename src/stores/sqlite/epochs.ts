/**
 * An epoch is held by a lock that the operating system drops when the process dies. Node has no such lock, but SQLite
 * has: an empty database file, locked by `BEGIN EXCLUSIVE` on a connection that never writes.
 *
 * L1. Lock files are accessed through SQLite only. POSIX drops all locks of a file when the process closes any
 *     descriptor of it; SQLite knows that and keeps descriptors open while another of its connections holds a lock.
 * L2. A lock whose state is unknown is an error, never "not held".
 * L3. A lock that is found free is deleted while no process can take it; its holder makes sure that the file exists.
 */
import fs from "node:fs";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { sha256 } from "../../kernel/canonical-json.ts";
import { HoldpointError } from "../../kernel/errors.ts";
import { isBusy, isCannotOpen } from "./errors.ts";

export type EpochLock = {
  release(): void;
  /** Holds the lock until the process ends or releases it, without another reference to it. */
  keep(): void;
};

/** The garbage collector closes a connection without references, which drops its lock. */
const heldLocks = new Set<DatabaseSync>();

const lockFile = (folder: string, id: string): string =>
  path.join(folder, "epochs", `${/^[\w-]{1,100}$/.test(id) ? id : sha256(id)}.lock`);

/** Throws SQLite's busy error if another process holds the lock, or is just checking it. */
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
    // A process that checked before the lock was taken found it free, and deleted the file: L3.
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return lockEpoch(folder, id);
    throw error;
  }
}

/** Deleted while still locked if the system allows it, so that no process sees a free lock. */
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
