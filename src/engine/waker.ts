/**
 * Wakes whoever waits for a stream to move, in this or another process. One follower serves all watches, and only while
 * there are any.
 *
 * K1. A watch sees every commit after it was made: make it before reading the state it is about.
 */
import { type StreamRef, streamName } from "../core/stream.ts";
import type { Store } from "../stores/store.ts";
import type { Clock } from "./runtime.ts";

export type Watch = {
  /** Resolves when a watched stream moved since the watch was made or last asked, or when the time is over. */
  moved(withinMs: number | null): Promise<void>;
  close(): void;
};

export type Waker = { watch(streams: readonly StreamRef[]): Promise<Watch>; close(): void };

type Waiter = { readonly names: ReadonlySet<string>; dirty: boolean; wake: (() => void) | null };

const DAY_MS = 24 * 60 * 60 * 1000;

export function createWaker(store: Store, tenant: string, clock: Clock): Waker {
  const waiters = new Set<Waiter>();
  let following: AbortController | null = null;

  const touch = (waiter: Waiter) => {
    waiter.dirty = true;
    waiter.wake?.();
  };

  async function followFrom(start: number, controller: AbortController): Promise<void> {
    let position = start;
    while (!controller.signal.aborted) {
      const moved = await store.follow(position, controller.signal);
      position = moved.position;
      const names = new Set(
        moved.streams.filter((move) => move.tenant === tenant).map((move) => streamName(move.stream)),
      );
      for (const waiter of waiters) if ([...waiter.names].some((name) => names.has(name))) touch(waiter);
    }
  }

  /** A store that fails ends the following; the waiters then look for themselves and meet the error there. */
  function follow(start: number): void {
    const controller = new AbortController();
    following = controller;
    const over = () => {
      if (following === controller) following = null;
      for (const waiter of waiters) touch(waiter);
    };
    followFrom(start, controller).then(over, over);
  }

  function wait(waiter: Waiter, withinMs: number | null): Promise<void> {
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

  return {
    async watch(streams) {
      const waiter: Waiter = { names: new Set(streams.map(streamName)), dirty: false, wake: null };
      waiters.add(waiter);
      if (following === null) {
        const position = await store.position();
        if (following === null) follow(position);
      }
      return {
        moved: (withinMs) => wait(waiter, withinMs),
        close() {
          waiters.delete(waiter);
          if (waiters.size === 0) following?.abort();
        },
      };
    },
    close: () => following?.abort(),
  };
}
