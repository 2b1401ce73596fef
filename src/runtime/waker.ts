/**
 * Wakes callers that wait for a stream to change, in this or another process. One subscription serves all watches, and
 * only while there are any. A watch sees every commit after it was made: make it before reading the state it is about.
 */

import type { Clock } from "../kernel/clock.ts";
import type { StreamKind } from "../kernel/registry.ts";
import { type StreamRef, streamName } from "../kernel/stream.ts";
import type { Store } from "../stores/store.ts";
import { subscribe } from "./subscribe.ts";

type Watch = {
  /**
   * Resolves when a watched stream changed since the watch was made or last awaited, when the store failed, or at the
   * timeout. Returns the streams that changed, each once.
   */
  moved(withinMs: number | null): Promise<readonly StreamRef[]>;
  /** Also wakes a caller that still waits. */
  close(): void;
};

/** Streams, or all streams of a kind. */
type Watched = readonly StreamRef[] | StreamKind;

export type Waker = { watch(watched: Watched): Promise<Watch>; close(): void };

type Waiter = {
  readonly wants: (stream: StreamRef) => boolean;
  changed: Map<string, StreamRef>;
  dirty: boolean;
  wake: (() => void) | null;
};

const DAY_MS = 24 * 60 * 60 * 1000;

function takeChanged(waiter: Waiter): readonly StreamRef[] {
  const changed = [...waiter.changed.values()];
  waiter.dirty = false;
  waiter.changed = new Map();
  return changed;
}

/** Sleeps until the waiter is touched, or until the timeout. */
async function wait(waiter: Waiter, clock: Clock, withinMs: number | null): Promise<readonly StreamRef[]> {
  if (waiter.dirty) return takeChanged(waiter);
  const timer = new AbortController();
  const woken = new Promise<void>((resolve) => {
    waiter.wake = resolve;
  });
  const late = clock.sleep(Math.min(withinMs ?? DAY_MS, DAY_MS), timer.signal);
  try {
    await Promise.race([woken, late]);
    return takeChanged(waiter);
  } finally {
    timer.abort();
    waiter.wake = null;
  }
}

function touch(waiter: Waiter): void {
  waiter.dirty = true;
  waiter.wake?.();
}

function hear(waiter: Waiter, streams: readonly StreamRef[]): void {
  const changed = streams.filter(waiter.wants);
  for (const stream of changed) waiter.changed.set(streamName(stream), stream);
  if (changed.length > 0) touch(waiter);
}

function isWanted(watched: Watched): Waiter["wants"] {
  if (typeof watched === "string") return ({ kind }) => kind === watched;
  const names = new Set(watched.map(streamName));
  return (stream) => names.has(streamName(stream));
}

export function createWaker(store: Store, tenant: string, clock: Clock): Waker {
  const waiters = new Set<Waiter>();
  let following: AbortController | null = null;

  /** The next watch starts a new subscription at once, even before the aborted one has stopped. */
  function unfollow(): void {
    following?.abort();
    following = null;
  }

  const subscriber = (from: number) => ({
    from,
    changed(streams: readonly StreamRef[]) {
      for (const waiter of waiters) hear(waiter, streams);
    },
    /** If the store fails, waiters read for themselves and meet the error. */
    failed() {
      for (const waiter of waiters) touch(waiter);
    },
  });

  async function follow(): Promise<void> {
    if (following !== null) return;
    const position = await store.position();
    // Another call may have subscribed meanwhile.
    if (following !== null) return;
    following = new AbortController();
    subscribe({ store, tenant, clock }, subscriber(position), following.signal);
  }

  function leave(waiter: Waiter): void {
    if (!waiters.delete(waiter)) return;
    touch(waiter);
    if (waiters.size === 0) unfollow();
  }

  return {
    async watch(watched) {
      const waiter: Waiter = { wants: isWanted(watched), changed: new Map(), dirty: false, wake: null };
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
