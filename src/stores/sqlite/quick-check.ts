/** Looks for damage when a store is opened: at once in a small file, beside the work in a large one. */
import fs from "node:fs";
import type { DatabaseSync } from "node:sqlite";
import { Worker } from "node:worker_threads";
import { HoldpointError } from "../../kernel/errors.ts";
import { pragma } from "./connect.ts";

const SMALL_BYTES = 64 * 1024 * 1024;

export type QuickCheck = { stop(): void };
type Options = { readonly db: DatabaseSync; readonly file: string; readonly smallBytes?: number };

export function quickCheck(
  { db, file, smallBytes = SMALL_BYTES }: Options,
  damaged: (error: unknown) => void,
): QuickCheck {
  if (fs.statSync(file).size > smallBytes) return checkBeside(file, damaged);
  const answer = pragma(db, "PRAGMA quick_check(1)");
  if (answer !== "ok") throw damage(String(answer));
  return { stop: () => {} };
}

function checkBeside(file: string, damaged: (error: unknown) => void): QuickCheck {
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

/** A file that could not be checked is not trusted: the store refuses until it is opened again. */
function unchecked(cause: unknown): HoldpointError {
  return new HoldpointError("store_unavailable", "The store's file could not be checked for damage.", {
    cause,
  });
}

function damage(answer: string): HoldpointError {
  return new HoldpointError("store_corrupt", `SQLite's check found damage: ${answer}.`);
}
