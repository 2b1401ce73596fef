/**
 * Wakes callers that wait for a stream to change, in this or another process. One follower serves all watches, and only
 * while there are any. A watch sees every commit after it was made: make it before reading the state it is about.
 */

import type { Clock } from "../kernel/clock.ts";
import { type StreamRef, streamName } from "../kernel/stream.ts";
import type { Store } from "../stores/store.ts";

type Watch = {
  /** Resolves when a watched stream moved since the watch was made or last awaited, or at the timeout. */
  moved(withinMs: number | null): Promise<void>;
  /** Also wakes a caller that still waits. */
  close(): void;
};

export type Waker = { watch(streams: readonly StreamRef[]): Promise<Watch>; close(): void };

type Waiter = { readonly names: ReadonlySet<string>; dirty: boolean; wake: (() => void) | null };

const DAY_MS = 24 * 60 * 60 * 1000;

/** Sleeps until the waiter is touched, or until the timeout. */
function wait(waiter: Waiter, clock: Clock, withinMs: number | null): Promise<void> {
  if (waiter.dirty) {
    waiter.dirty = false;
    return Promise.resolve();
  }
  const timer = new AbortController();
  const woken = new Promise<void>((resolve) => {
    waiter.wake = resolve;
  });
  const late = clock.sleep(Math.min(withinMs ?? DAY_MS, DAY_MS), timer.signal);
  return Promise.race([woken, late]).finally(() => {
    timer.abort();
    waiter.wake = null;
    waiter.dirty = false;
  });
}

function touch(waiter: Waiter): void {
  waiter.dirty = true;
  waiter.wake?.();
}

type Following = {
  readonly store: Store;
  readonly tenant: string;
  readonly clock: Clock;
  readonly waiters: ReadonlySet<Waiter>;
};

const BACK_OFF_MS = 1_000;

async function next(position: number, signal: AbortSignal, following: Following): Promise<number> {
  const { store, tenant, waiters } = following;
  const moved = await store.follow(position, signal);
  const own = moved.streams.filter((move) => move.tenant === tenant);
  const names = new Set(own.map((move) => streamName(move.stream)));
  for (const waiter of waiters) if ([...waiter.names].some((name) => names.has(name))) touch(waiter);
  return moved.position;
}

/** If the store fails, waiters read for themselves and meet the error. Following then resumes at the same position. */
async function followFrom(start: number, signal: AbortSignal, following: Following): Promise<void> {
  let position = start;
  while (!signal.aborted) {
    try {
      position = await next(position, signal, following);
    } catch {
      for (const waiter of following.waiters) touch(waiter);
      await following.clock.sleep(BACK_OFF_MS, signal);
    }
  }
}

export function createWaker(store: Store, tenant: string, clock: Clock): Waker {
  const waiters = new Set<Waiter>();
  let following: AbortController | null = null;

  /** The next watch starts a new follower at once, even before the aborted one has stopped. */
  function unfollow(): void {
    following?.abort();
    following = null;
  }

  async function follow(): Promise<void> {
    if (following !== null) return;
    const position = await store.position();
    // Another call may have started a follower meanwhile.
    if (following !== null) return;
    following = new AbortController();
    followFrom(position, following.signal, { store, tenant, clock, waiters }).catch(() => undefined);
  }

  function leave(waiter: Waiter): void {
    if (!waiters.delete(waiter)) return;
    touch(waiter);
    if (waiters.size === 0) unfollow();
  }

  return {
    async watch(streams) {
      const waiter: Waiter = { names: new Set(streams.map(streamName)), dirty: false, wake: null };
      waiters.add(waiter);
      try {
        await follow();
      } catch (error) {
        leave(waiter);
        throw error;
      }
      return { moved: (withinMs) => wait(waiter, clock, withinMs), close: () => leave(waiter) };
    },
    close() {
      unfollow();
      for (const waiter of waiters) touch(waiter);
    },
  };
}

/** Limit of a short wait. */
export type WaitLimit = {
  readonly holdMs: number;
  /** Ends the wait early, with the current state as the answer. */
  readonly signal: AbortSignal;
};
