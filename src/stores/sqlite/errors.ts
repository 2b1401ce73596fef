/**
 * SQLite's result codes as Holdpoint errors, and the retry while the file is busy: it waits for a lock without blocking
 * the event loop, which SQLite's own busy timeout would do.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { type ErrorCode, HoldpointError, isHoldpointError } from "../../kernel/errors.ts";

const BUSY = 5;
const LOCKED = 6;
const IOERR = 10;
const CORRUPT = 11;
const CANTOPEN = 14;
const CONSTRAINT = 19;

const MEANING: { readonly [primary: number]: readonly [ErrorCode, string] } = {
  3: ["store_read_only", "The store may not be written."],
  [BUSY]: ["store_busy", "Another process holds the store's write lock."],
  [LOCKED]: ["store_busy", "The store is locked."],
  7: ["store_unavailable", "SQLite ran out of memory."],
  8: ["store_read_only", "The store's file cannot be written."],
  [IOERR]: ["store_unavailable", "The disk refused to read or write the store's file."],
  [CORRUPT]: ["store_corrupt", "The store's file is damaged."],
  13: ["store_full", "The disk is full."],
  [CANTOPEN]: ["store_unavailable", "The store's file cannot be opened."],
  [CONSTRAINT]: ["broken_rule", "A row that has to be unique was there already."],
  26: ["store_foreign", "The file is not a SQLite database."],
};

/** The primary result code; undefined for an error that is not SQLite's. */
export function sqliteCode(error: unknown): number | undefined {
  if (!(error instanceof Error) || !("errcode" in error) || typeof error.errcode !== "number")
    return undefined;
  return error.errcode & 0xff;
}

export function isBusy(error: unknown): boolean {
  const code = sqliteCode(error);
  return code === BUSY || code === LOCKED;
}

export const isInputOutput = (error: unknown): boolean => sqliteCode(error) === IOERR;
export const isConstraint = (error: unknown): boolean => sqliteCode(error) === CONSTRAINT;
export const isCannotOpen = (error: unknown): boolean => sqliteCode(error) === CANTOPEN;

export function translateSqliteError(error: unknown): unknown {
  const code = sqliteCode(error);
  if (code === undefined) return isHoldpointError(error) ? error : fromFileSystem(error);
  const [name, what] = MEANING[code] ?? ["store_unavailable", "SQLite failed."];
  return new HoldpointError(name, what, { cause: error });
}

const FILE_SYSTEM: { readonly [code: string]: ErrorCode } = {
  EACCES: "store_read_only",
  EPERM: "store_read_only",
  EROFS: "store_read_only",
  ENOSPC: "store_full",
  ENOENT: "store_unavailable",
  ENOTDIR: "store_unavailable",
  EEXIST: "store_unavailable",
};

function fromFileSystem(error: unknown): unknown {
  if (!(error instanceof Error) || !("code" in error) || typeof error.code !== "string") return error;
  const name = FILE_SYSTEM[error.code];
  return name === undefined ? error : new HoldpointError(name, `${error.message}.`, { cause: error });
}

/** SQLite reports that the file is damaged: its content can no longer be trusted. */
export function isSqliteDamage(error: unknown): boolean {
  return sqliteCode(error) === CORRUPT || (isHoldpointError(error) && sqliteCode(error.cause) === CORRUPT);
}

export type BusyRetry = { readonly random: (bytes: number) => Uint8Array; readonly busyMs: number };

const LONGEST_PAUSE_MS = 20;

export async function retryWhileBusy<Answer>(
  { random, busyMs }: BusyRetry,
  attempt: () => Answer | Promise<Answer>,
): Promise<Answer> {
  const start = performance.now();
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      const waited = performance.now() - start;
      if (!isBusy(error) || waited >= busyMs) throw translateSqliteError(error);
      const longest = Math.min(LONGEST_PAUSE_MS, 2 + waited / 50);
      await sleep(1 + ((random(1)[0] ?? 0) / 256) * (longest - 1));
    }
  }
}
