/**
 * One folder of a disk, in memory. It remembers everything that was asked of it in one log, together with what the
 * program under test was told: "acknowledged before the power went" is then a matter of counting.
 *
 * D1. A name and what it leads to are two things: a file that is removed lives on until its removal reached the disk.
 * D2. As SQLite does on Unix, a log or a rollback journal that was just made syncs the folder too at its first sync; the
 *     database file's own name was synced by whoever made it.
 */
import { type Bytes, createBytes } from "./bytes.ts";

/** What the program was told, or where it stood. Written by the workload, read by whoever cuts. */
export type Mark =
  | { readonly mark: "commit_begins"; readonly members: number }
  | { readonly mark: "commit_returned" }
  | { readonly mark: "opening" | "opened" | "closing" | "closed" }
  | { readonly mark: "told"; readonly told: number };

export type DiskOp =
  | { readonly kind: "write"; readonly file: number; readonly offset: number; readonly bytes: Uint8Array }
  | { readonly kind: "truncate"; readonly file: number; readonly size: number }
  | { readonly kind: "sync"; readonly file: number; readonly full: boolean }
  /** `file` is null when the name was removed. */
  | { readonly kind: "name"; readonly name: string; readonly file: number | null }
  | { readonly kind: "sync_folder" }
  | ({ readonly kind: "mark" } & Mark);

export type Files = ReadonlyMap<string, Uint8Array>;

/** A disk that says "synced" and does not sync: for showing that the test notices. */
export type Lie = "no_sync" | "no_database_sync" | "no_folder_sync";

export type DiskFile = { readonly id: number; readonly name: string; readonly bytes: Bytes };

export type Disk = {
  readonly log: readonly DiskOp[];
  /** What was there, safely, before the first operation: numbered from 0 in this order. */
  readonly start: Files;
  find(name: string): DiskFile | undefined;
  create(name: string): DiskFile;
  remove(name: string, syncFolder: boolean): void;
  write(file: DiskFile, offset: number, bytes: Uint8Array): void;
  truncate(file: DiskFile, size: number): void;
  sync(file: DiskFile, full: boolean): void;
  mark(mark: Mark): void;
};

export function createDisk(start: Files, lie?: Lie): Disk {
  const log: DiskOp[] = [];
  const names = new Map<string, DiskFile>();
  const unsyncedNames = new Set<number>();
  let next = 0;
  const add = (name: string, bytes: Bytes): DiskFile => {
    const file = { id: next++, name, bytes };
    names.set(name, file);
    return file;
  };
  for (const [name, bytes] of start) add(name, createBytes(bytes));
  const syncFolder = () => {
    if (lie !== "no_sync" && lie !== "no_folder_sync") log.push({ kind: "sync_folder" });
  };
  return {
    log,
    start,
    find: (name) => names.get(name),
    create(name) {
      const file = add(name, createBytes());
      log.push({ kind: "name", name, file: file.id });
      unsyncedNames.add(file.id);
      return file;
    },
    remove(name, sync) {
      names.delete(name);
      log.push({ kind: "name", name, file: null });
      if (sync) syncFolder();
    },
    write(file, offset, bytes) {
      file.bytes.write(offset, bytes);
      log.push({ kind: "write", file: file.id, offset, bytes: bytes.slice() });
    },
    truncate(file, size) {
      file.bytes.resize(size);
      log.push({ kind: "truncate", file: file.id, size });
    },
    sync(file, full) {
      const lied = lie === "no_sync" || (lie === "no_database_sync" && file.name.endsWith(".db"));
      if (!lied) log.push({ kind: "sync", file: file.id, full });
      if (unsyncedNames.delete(file.id)) syncFolder();
    },
    mark: (mark) => void log.push({ kind: "mark", ...mark }),
  };
}
