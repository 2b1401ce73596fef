/** Backups of a SQLite store and the ways in which people put one back. */
import {
  closeSync,
  copyFileSync,
  cpSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

const FILE = "journal.db";

/** SQLite's own copy of a store that others may have open. */
export function backUp(folder: string, to: string): void {
  rmSync(to, { recursive: true, force: true });
  mkdirSync(to, { recursive: true });
  const db = new DatabaseSync(join(folder, FILE), { timeout: 5_000 });
  try {
    db.prepare("VACUUM INTO ?").run(join(to, FILE));
  } finally {
    db.close();
  }
}

function clearLog(folder: string): void {
  for (const end of ["-wal", "-shm"]) rmSync(join(folder, FILE + end), { force: true });
}

/** Into the file that is there: the same inode, born when it was. */
function overwrite(folder: string, backup: string): void {
  clearLog(folder);
  const file = openSync(join(folder, FILE), "r+");
  ftruncateSync(file);
  writeSync(file, readFileSync(join(backup, FILE)));
  closeSync(file);
}

function replace(folder: string, backup: string): void {
  clearLog(folder);
  rmSync(join(folder, FILE));
  copyFileSync(join(backup, FILE), join(folder, FILE));
}

function renameOver(folder: string, backup: string): void {
  clearLog(folder);
  copyFileSync(join(backup, FILE), join(folder, "journal.new"));
  renameSync(join(folder, "journal.new"), join(folder, FILE));
}

export const WAYS = ["overwrite", "replace", "rename over", "copy"] as const;
export type Way = (typeof WAYS)[number];

/** Nobody may have the store open. Answers where it is from now on. */
export function putBack(way: Way, folder: string, backup: string): string {
  if (way === "overwrite") overwrite(folder, backup);
  if (way === "replace") replace(folder, backup);
  if (way === "rename over") renameOver(folder, backup);
  if (way !== "copy") return folder;
  const elsewhere = `${folder.replace(/-copy\d*$/, "")}-copy${Date.now()}`;
  cpSync(backup, elsewhere, { recursive: true });
  return elsewhere;
}
