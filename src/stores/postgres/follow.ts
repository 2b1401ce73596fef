/**
 * Wakes those who wait: at once after a commit of this process, after commits of others by a notification, and by a slow
 * poll behind both.
 *
 * W1. A position is settled: nothing can appear before it any more. It does not pass a transaction that still runs.
 * W2. Nobody waits for somebody else's long transaction: what can be seen beyond the settled is reported too, once to
 *     each follower. A follower is known by its signal; what it has seen is one moment of the database.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { findStreamRef, type StreamRef } from "../../kernel/stream.ts";
import type { Moved } from "../store.ts";
import type { Move, Moves, Seen } from "./moves.ts";
import type { Listener } from "./notify.ts";
import { refuseClosed } from "./notify.ts";

export type Followers = {
  follow(position: number, signal: AbortSignal): Promise<Moved>;
  /** After a commit of this process, or a word of another. */
  wake(): void;
  close(): void;
};

type Options = {
  readonly moves: Moves;
  readonly listener: Pick<Listener, "start" | "rest">;
  readonly pollMs: number;
  translate(error: unknown): unknown;
  /** How looks are spaced; the process's own time unless set. */
  readonly pace?: Pace;
};

export type Pace = { now(): number; sleep(ms: number): Promise<unknown> };

type Waiter = {
  readonly position: number;
  readonly seen: Seen;
  /** Since when there is something that is not settled. */
  since: number | undefined;
  settle(moved: Moved, seen: Seen): void;
  refuse(error: unknown): void;
};

/** So long what is not settled may become so before it is reported unsettled. */
const GRACE_MS = 25;
const AGAIN_MS = 4;
/**
 * Commits that follow each other closely are looked at together: looking takes at most a fifth of the time. A look that had to
 * wait for the database says nothing of what looking costs, so no pause is long.
 */
const PAUSE_MS = 2;
const PAUSE_SHARE = 4;
const MOST_PAUSE_MS = 250;
const OWN_PACE: Pace = { now: () => performance.now(), sleep: (ms) => sleep(ms) };

export function createFollowers(options: Options): Followers {
  const { listener } = options;
  const waiters = new Set<Waiter>();
  const memory = new WeakMap<AbortSignal, { readonly position: number; readonly seen: Seen }>();
  const wake = createLooks(options, waiters);
  const poll = createPoll(options.pollMs, wake);
  return {
    wake,
    follow: (position, signal) =>
      new Promise((resolve, reject) => {
        const leave = () => {
          waiters.delete(waiter);
          signal.removeEventListener("abort", abort);
          if (waiters.size > 0) return;
          poll.rest();
          listener.rest();
        };
        const abort = () => {
          leave();
          resolve({ position, streams: [] });
        };
        const before = memory.get(signal);
        const waiter: Waiter = {
          position,
          seen: before?.position === position ? before.seen : { upto: position + 1, running: [] },
          since: undefined,
          settle(moved, seen) {
            leave();
            memory.set(signal, { position: moved.position, seen });
            resolve(moved);
          },
          refuse(error) {
            leave();
            reject(error);
          },
        };
        if (signal.aborted) return abort();
        waiters.add(waiter);
        signal.addEventListener("abort", abort, { once: true });
        poll.start();
        listener.start();
        wake();
      }),
    close() {
      poll.stop();
      for (const waiter of [...waiters]) waiter.refuse(refuseClosed());
    },
  };
}

/** One look at a time; whoever is woken during one, or in the pause after it, looks again after that. */
function createLooks(
  { moves, translate, pace = OWN_PACE }: Options,
  waiters: ReadonlySet<Waiter>,
): () => void {
  let isDue = false;
  let looking = false;
  const lookAll = async () => {
    while (isDue) {
      isDue = false;
      const since = pace.now();
      const once = askOnce(moves);
      await Promise.all([...waiters].map((waiter) => look(waiter, once)));
      const share = PAUSE_SHARE * (pace.now() - since);
      await pace.sleep(Math.min(Math.max(PAUSE_MS, share), MOST_PAUSE_MS));
    }
    looking = false;
  };
  const look = async (waiter: Waiter, once: Moves) => {
    try {
      const found = await once(waiter.seen);
      if (!waiters.has(waiter) || found.moves.length === 0) return;
      if (isWorthTelling(waiter, found)) waiter.settle(movedOf(waiter.position, found), found.seen);
      else setTimeout(wake, AGAIN_MS);
    } catch (error) {
      if (waiters.has(waiter)) waiter.refuse(translate(error));
    }
  };
  const wake = () => {
    isDue = waiters.size > 0;
    if (looking || !isDue) return;
    looking = true;
    void lookAll();
  };
  return wake;
}

/** Those who have seen the same are told the same: it is asked for once. */
function askOnce(moves: Moves): Moves {
  const asked = new Map<string, ReturnType<Moves>>();
  return (seen) => {
    const name = JSON.stringify(seen);
    const answer = asked.get(name) ?? moves(seen);
    asked.set(name, answer);
    return answer;
  };
}

type FoundMoves = Awaited<ReturnType<Moves>>;

function isWorthTelling(waiter: Waiter, { moves, horizon }: FoundMoves): boolean {
  if (moves.some(({ position }) => position < horizon)) return true;
  waiter.since ??= performance.now();
  return performance.now() - waiter.since >= GRACE_MS;
}

function movedOf(position: number, { moves, horizon }: FoundMoves): Moved {
  const settled = moves.filter((move) => move.position < horizon);
  const streams = new Map<string, { tenant: string; stream: StreamRef }>();
  for (const { tenant, streams: names } of moves)
    for (const name of names) {
      const stream = findStreamRef(name);
      if (stream !== undefined) streams.set(JSON.stringify([tenant, name]), { tenant, stream });
    }
  return { position: Math.max(position, ...settled.map(lastOf)), streams: [...streams.values()] };
}

const lastOf = ({ position }: Move): number => position;

type Poll = { start(): void; rest(): void; stop(): void };

/** Keeps the process alive while somebody waits; at rest it does not. */
function createPoll(everyMs: number, look: () => void): Poll {
  let timer: NodeJS.Timeout | undefined;
  const stop = () => {
    clearInterval(timer);
    timer = undefined;
  };
  return {
    stop,
    rest: stop,
    start() {
      timer ??= setInterval(look, everyMs);
    },
  };
}
