/** From a folder to a connection that may be used: files, settings, layout and views are in order, or it is refused. */
import fs from "node:fs";
import path from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { HoldpointError, isHoldpointError } from "../../kernel/errors.ts";
import type { Projections } from "../project.ts";
import { connect, type Open } from "./connect.ts";
import { createFiles, refuseNetwork } from "./file-system.ts";
import { migrate, readMeta } from "./migrations.ts";
import { type Patience, patiently } from "./patience.ts";
import { type QuickCheck, quickCheck } from "./quick-check.ts";
import { translated } from "./sqlite-errors.ts";
import { createViewTables } from "./view-tables.ts";

export type FileOptions = {
  readonly folder: string;
  readonly mode: "read-write" | "existing";
  readonly projections: Projections;
  readonly patience: Patience;
  readonly open: Open | undefined;
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
    throw naming(file, translated(error));
  }
}

/** Whoever reads the error has to know which file it is about. */
function naming(file: string, error: unknown): unknown {
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
  const db = await patiently(patience, () => connect(file, options.open));
  try {
    await prepareFile(db, options);
    const check = await patiently(patience, () => quickCheck({ db, file }, damaged));
    return { db, file, check, incarnation: readMeta(db, "incarnation") ?? "" };
  } catch (error) {
    db.close();
    throw error;
  }
}

async function prepareFile(db: DatabaseSync, { patience, projections }: FileOptions): Promise<void> {
  const newborn = { incarnation: Buffer.from(patience.random(16)).toString("hex") };
  await patiently(patience, () => migrate(db, newborn));
  await patiently(patience, () => createViewTables(db, projections));
  await patiently(patience, () => refuseReadOnly(db));
}

/** A write that changes nothing: SQLite opens a file that it may not write without saying so. */
function refuseReadOnly(db: DatabaseSync): void {
  db.prepare("DELETE FROM hp_meta WHERE key = ''").run();
}

function refuseMissing(file: string): void {
  if (!fs.existsSync(file)) throw new HoldpointError("store_unavailable", `There is no store at ${file}.`);
}
