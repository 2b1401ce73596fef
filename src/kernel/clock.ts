/**
 * Clocks: the machine's own, and one that follows the store's time between two of its answers. A machine's clock may be
 * minutes off, and deadlines are due by the store's time. The store clock only says when to check: the store's
 * transaction decides what is due, by the store's time.
 */

export type Clock = {
  now(): number;
  /** Resolves after `ms`, or at once when the signal aborts. Sleeps at most a day per call. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** Monotonic milliseconds, unaffected by changes of `now`. Default: `now`. */
  elapsed?(): number;
  /** Resolves when everything ready to run has run. Default: the next turn of the event loop. */
  turn?(): Promise<void>;
  /** Receives the store's time after each decision made by it. */
  heard?(now: number): void;
};

/** Node fires timers over 24.8 days at once, so no single sleep is longer than a day. */
const DAY_MS = 24 * 60 * 60 * 1000;

function sleeper(keepsAlive: boolean): Clock["sleep"] {
  return (ms, signal) =>
    new Promise<void>((resolve) => {
      if (signal?.aborted) return resolve();
      const timer = setTimeout(done, Math.min(Math.max(ms, 0), DAY_MS));
      if (!keepsAlive) timer.unref();
      signal?.addEventListener("abort", done, { once: true });
      function done(): void {
        clearTimeout(timer);
        signal?.removeEventListener("abort", done);
        resolve();
      }
    });
}

/** Sleeps for any length of time, a day at a time. */
export async function sleepFor(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  for (let left = ms; left > 0 && !signal.aborted; left -= DAY_MS)
    await clock.sleep(Math.min(left, DAY_MS), signal);
}

const elapsed = (): number => performance.now();

export const wallClock: Clock = { now: () => Date.now(), sleep: sleeper(true), elapsed };
/** For maintenance: its timers do not keep the process alive. */
export const idleClock: Clock = { now: () => Date.now(), sleep: sleeper(false), elapsed };

/**
 * Time since the stopwatch was made, by the clock that shows more. A clock that is set back does not shorten it, and
 * neither does a suspended machine, during which the monotonic clock stops.
 */
export function stopwatch(clock: Clock): () => number {
  const steady = () => clock.elapsed?.() ?? clock.now();
  const begun = { wall: clock.now(), steady: steady() };
  return () => Math.max(clock.now() - begun.wall, steady() - begun.steady);
}

/** Runs on its own clock, corrected each time it receives the store's time. */
export function storeClock(own: Clock): Clock {
  let ahead = 0;
  return {
    ...own,
    now: () => own.now() + ahead,
    heard: (now) => {
      ahead = now - own.now();
    },
  };
}
