/**
 * From a folder to a usable connection: files, settings, layout and views are in order, or it is refused. Checks for
 * damage when a store is opened: at once in a small file, in a worker thread for a large one.
 */
import fs from "node:fs";
import path from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { Worker } from "node:worker_threads";
import { HoldpointError, isHoldpointError } from "../../kernel/errors.ts";
import type { Projections } from "../views.ts";
import { connectSqlite, createFiles, type OpenDatabase, pragma, refuseNetwork } from "./connect.ts";
import { type BusyRetry, retryWhileBusy, translateSqliteError } from "./errors.ts";
import { createSqliteViewTables, migrateFile, readFileMeta } from "./migrations.ts";

const SMALL_BYTES = 64 * 1024 * 1024;

type QuickCheck = { stop(): void };
type QuickCheckOptions = { readonly db: DatabaseSync; readonly file: string; readonly smallBytes?: number };

export function quickCheck(
  { db, file, smallBytes = SMALL_BYTES }: QuickCheckOptions,
  damaged: (error: unknown) => void,
): QuickCheck {
  if (fs.statSync(file).size > smallBytes) return checkInWorker(file, damaged);
  const answer = pragma(db, "PRAGMA quick_check(1)");
  if (answer !== "ok") throw damage(String(answer));
  return { stop: () => {} };
}

function checkInWorker(file: string, damaged: (error: unknown) => void): QuickCheck {
  const extension = import.meta.url.endsWith(".ts") ? "ts" : "js";
  const worker = new Worker(new URL(`./quick-check-worker.${extension}`, import.meta.url), {
    workerData: file,
  });
  worker.unref();
  worker.on("message", (answer) => {
    if (answer !== "ok") damaged(damage(String(answer)));
  });
  let stopped = false;
  worker.on("error", (error) => {
    if (!stopped) damaged(unchecked(error));
  });
  return {
    stop() {
      stopped = true;
      void worker.terminate();
    },
  };
}

/** A file that could not be checked is not trusted: the store refuses calls until it is opened again. */
function unchecked(cause: unknown): HoldpointError {
  return new HoldpointError("store_unavailable", "The store's file could not be checked for damage.", {
    cause,
  });
}

function damage(answer: string): HoldpointError {
  return new HoldpointError("store_corrupt", `SQLite's check found damage: ${answer}.`);
}

type FileOptions = {
  readonly folder: string;
  readonly mode: "read-write" | "existing";
  readonly projections: Projections;
  readonly patience: BusyRetry;
  readonly open: OpenDatabase | undefined;
  damaged(error: unknown): void;
};

export type OpenFile = {
  readonly db: DatabaseSync;
  readonly file: string;
  readonly check: QuickCheck;
  readonly incarnation: string;
};

export async function openFile(options: FileOptions): Promise<OpenFile> {
  const file = path.join(options.folder, "journal.db");
  try {
    return await openAt(file, options);
  } catch (error) {
    throw nameFileInError(file, translateSqliteError(error));
  }
}

/** Adds the file's path to the error, for its reader. */
function nameFileInError(file: string, error: unknown): unknown {
  if (!isHoldpointError(error) || error.what.includes(path.dirname(file))) return error;
  return new HoldpointError(error.code, `${error.what} The file is ${file}.`, {
    cause: error.cause ?? error,
  });
}

async function openAt(file: string, options: FileOptions): Promise<OpenFile> {
  const { folder, patience, damaged } = options;
  if (options.mode === "existing") refuseMissing(file);
  else createFiles(folder, file);
  refuseNetwork(folder);
  const db = await retryWhileBusy(patience, () => connectSqlite(file, options.open));
  try {
    await prepareFile(db, options);
    const check = await retryWhileBusy(patience, () => quickCheck({ db, file }, damaged));
    return { db, file, check, incarnation: readFileMeta(db, "incarnation") ?? "" };
  } catch (error) {
    db.close();
    throw error;
  }
}

async function prepareFile(db: DatabaseSync, { patience, projections }: FileOptions): Promise<void> {
  const newborn = { incarnation: Buffer.from(patience.random(16)).toString("hex") };
  await retryWhileBusy(patience, () => migrateFile(db, newborn));
  await retryWhileBusy(patience, () => createSqliteViewTables(db, projections));
  await retryWhileBusy(patience, () => refuseReadOnly(db));
}

/** A write that changes nothing, because SQLite opens a read-only file without an error. */
function refuseReadOnly(db: DatabaseSync): void {
  db.prepare("DELETE FROM hp_meta WHERE key = ''").run();
}

function refuseMissing(file: string): void {
  if (!fs.existsSync(file)) throw new HoldpointError("store_unavailable", `There is no store at ${file}.`);
}
