/**
 * Decides the next batch while the one before it is written and synced on another thread.
 *
 * A1. A batch is decided on what the one before it will have written, and is handed over only after that one has landed.
 *     If it fails, what was decided on it counts for nothing and is decided again.
 * A3. Nobody is answered before the commit that holds their entries.
 */
import { Worker } from "node:worker_threads";
import type { Looked } from "./names.ts";
import type { Rows } from "./rows.ts";

export type AheadSetup = { readonly file: string; readonly views: readonly string[] };

export type AheadBatch = {
  readonly rows: readonly Rows[];
  readonly looked: readonly Looked[];
  /** The last numbers in the file when it was decided, the batch before it included. */
  readonly base: { readonly position: number; readonly sid: number };
  readonly layout: string;
};

export type AheadOutcome =
  /** `stale`: somebody else has written since. */
  { readonly kind: "committed" | "stale" | "undone" | "unknown" };

export type OtherThread = {
  isReady(): boolean;
  /** Makes it ready, some time later; where that fails, it never is. */
  start(): void;
  /** Never rejects. A thread that died says nothing about its last commit. */
  write(batch: AheadBatch): Promise<AheadOutcome>;
  close(): Promise<void>;
};

type Waiting = (outcome: AheadOutcome) => void;

export function otherThread(setup: AheadSetup): OtherThread {
  let worker: Worker | undefined;
  let state: "none" | "starting" | "ready" | "gone" = "none";
  let waiting: Waiting | undefined;

  const answer = (outcome: AheadOutcome) => {
    worker?.unref();
    waiting?.(outcome);
    waiting = undefined;
  };
  const heard = (message: AheadOutcome | "ready") => {
    if (message !== "ready") return answer(message);
    if (state === "starting") state = "ready";
  };
  const ended = () => {
    state = "gone";
    answer({ kind: "unknown" });
  };
  return {
    isReady: () => state === "ready",
    start() {
      if (state !== "none") return;
      state = "starting";
      const extension = import.meta.url.endsWith(".ts") ? "ts" : "js";
      worker = new Worker(new URL(`./ahead-worker.${extension}`, import.meta.url), { workerData: setup });
      worker.unref();
      worker.on("message", heard).on("error", ended).on("exit", ended);
    },
    write(batch) {
      return new Promise((resolve) => {
        waiting = resolve;
        // Whoever waits for an answer keeps the process alive.
        worker?.ref();
        worker?.postMessage(batch);
      });
    },
    close() {
      const open = worker;
      if (open === undefined || state === "gone") return Promise.resolve();
      return new Promise((resolve) => {
        open.once("exit", () => resolve());
        open.ref();
        open.postMessage("close");
      });
    },
  };
}
