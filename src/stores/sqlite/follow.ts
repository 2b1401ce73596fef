/**
 * Wakes followers: at once after a commit of this process, and after commits of other processes by watching the folder.
 * The log file is written before a commit is visible, so each change is checked several times, with a slow poll as a
 * fallback. Commits in quick succession are handled together.
 */
import fs from "node:fs";
import type { DatabaseSync } from "node:sqlite";
import { HoldpointError } from "../../kernel/errors.ts";
import type { StoreChanges } from "../store.ts";
import { isBusy, translateSqliteError } from "./errors.ts";

export type SqliteFollowers = {
  follow(position: number, signal: AbortSignal): Promise<StoreChanges>;
  /** Empty in most programs: then a commit has no follower to wake. */
  readonly waiters: ReadonlySet<unknown>;
  /** Called after a commit of this process. */
  wake(): void;
  close(): void;
};

type Options = {
  readonly folder: string;
  readonly db: DatabaseSync;
  readonly pauseMs: number;
  moved(after: number): StoreChanges;
};
type ReadChanges = (after: number) => StoreChanges;
type SqliteWaiter = { look(moved: ReadChanges): void; refuse(error: unknown): void };

const POLL_MS = 250;
const LOOKS_MS = [1, 5, 15, 40, 80] as const;
export const PAUSE_MS = 10;

export function createSqliteFollowers({ folder, db, moved, pauseMs }: Options): SqliteFollowers {
  const version = db.prepare("PRAGMA data_version");
  const waiters = new Set<SqliteWaiter>();
  const wake = throttle(() => {
    const movedOnce = shareReads(moved);
    for (const waiter of [...waiters]) wakeIfChanged(waiter, movedOnce);
  }, pauseMs);
  let seen: unknown;
  const lookForOthers = () => {
    try {
      const now = version.get()?.["data_version"];
      if (now !== seen) wake();
      seen = now;
    } catch (error) {
      if (!isBusy(error)) for (const waiter of [...waiters]) waiter.refuse(translateSqliteError(error));
    }
  };
  const watch = createWatch(folder, lookForOthers);
  return {
    waiters,
    wake,
    follow: (position, signal) =>
      new Promise((resolve, reject) => {
        const leave = () => {
          waiters.delete(waiter);
          signal.removeEventListener("abort", abort);
          if (waiters.size === 0) watch.rest();
        };
        const settle = (answer: StoreChanges) => {
          leave();
          resolve(answer);
        };
        const abort = () => settle({ position, streams: [] });
        const waiter: SqliteWaiter = {
          look(movedSince) {
            const found = movedSince(position);
            if (found.position > position) settle(found);
          },
          refuse(error) {
            leave();
            reject(error);
          },
        };
        if (signal.aborted) return abort();
        waiters.add(waiter);
        signal.addEventListener("abort", abort, { once: true });
        watch.start();
        wake();
      }),
    close() {
      watch.stop();
      const closed = () => new HoldpointError("closed", "The store was closed while somebody followed it.");
      for (const waiter of [...waiters]) waiter.refuse(closed());
    },
  };
}

/** Acts at once, unless it did so within the pause: then once more at its end. */
function throttle(act: () => void, pauseMs: number): () => void {
  let last = Number.NEGATIVE_INFINITY;
  let later: NodeJS.Timeout | undefined;
  const now = () => {
    later = undefined;
    last = performance.now();
    act();
  };
  return () => {
    if (later !== undefined) return;
    const wait = pauseMs === 0 ? 0 : last + pauseMs - performance.now();
    if (wait <= 0) now();
    else later = setTimeout(now, wait).unref();
  };
}

/** Followers at the same position share one read. */
function shareReads(moved: ReadChanges): ReadChanges {
  const found = new Map<number, StoreChanges>();
  return (after) => {
    const answer = found.get(after) ?? moved(after);
    found.set(after, answer);
    return answer;
  };
}

function wakeIfChanged(waiter: SqliteWaiter, moved: ReadChanges): void {
  try {
    waiter.look(moved);
  } catch (error) {
    if (!isBusy(error)) waiter.refuse(translateSqliteError(error));
  }
}

type Watch = { start(): void; rest(): void; stop(): void };

/** Keeps the process alive while there is a follower. At rest it does not, and stops at the next poll. */
function createWatch(folder: string, lookForOthers: () => void): Watch {
  let poll: NodeJS.Timeout | undefined;
  let soon: NodeJS.Timeout | undefined;
  let watcher: fs.FSWatcher | undefined;
  let resting = false;
  const stop = () => {
    clearInterval(poll);
    clearTimeout(soon);
    watcher?.close();
    poll = undefined;
    watcher = undefined;
  };
  const lookAgain = (index: number) => {
    clearTimeout(soon);
    const wait = LOOKS_MS[index];
    if (wait === undefined || resting) return;
    soon = setTimeout(() => {
      lookForOthers();
      lookAgain(index + 1);
    }, wait).unref();
  };
  return {
    stop,
    start() {
      resting = false;
      if (poll === undefined) {
        poll = setInterval(() => (resting ? stop() : lookForOthers()), POLL_MS);
        watcher = watchFolder(folder, () => lookAgain(0));
        lookForOthers();
      }
      poll.ref();
      watcher?.ref();
    },
    rest() {
      resting = true;
      poll?.unref();
      watcher?.unref();
    },
  };
}

/** Without a watcher (the system may have run out of them) the poll alone finds changes. */
function watchFolder(folder: string, changed: () => void): fs.FSWatcher | undefined {
  try {
    return fs.watch(folder, changed).on("error", () => {});
  } catch {
    return undefined;
  }
}
