/**
 * Clocks: the machine's own, and one that follows the store's time between two of its answers. A machine's clock may
 * be minutes off, and deadlines are due by the store's time. The store clock only says when to look: what is due is
 * decided in the store's transaction, by the store's time.
 */

export type Clock = {
  now(): number;
  /** Resolves after `ms`, or at once when the signal aborts. Never longer than a day at a time. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** Milliseconds that only ever grow, whatever `now` is set to; without it `now` has to serve. */
  elapsed?(): number;
  /** Resolves when everything that is ready to run has run; without it, with the next turn of the event loop. */
  turn?(): Promise<void>;
  /** Told the store's time whenever something was decided by it. */
  heard?(now: number): void;
};

/** Node fires timers over 24.8 days at once; nothing here sleeps longer than a day in one go. */
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

/** However long: sleeps as often as it takes. */
export async function sleepFor(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  for (let left = ms; left > 0 && !signal.aborted; left -= DAY_MS)
    await clock.sleep(Math.min(left, DAY_MS), signal);
}

const elapsed = (): number => performance.now();

export const wallClock: Clock = { now: () => Date.now(), sleep: sleeper(true), elapsed };
/** For upkeep: a program that has nothing else to do may end. */
export const idleClock: Clock = { now: () => Date.now(), sleep: sleeper(false), elapsed };

/**
 * How long ago it was made, by the clock that says more: a clock that is set back does not shorten it, and neither does
 * a machine that slept, during which the steady clock stood still.
 */
export function stopwatch(clock: Clock): () => number {
  const steady = () => clock.elapsed?.() ?? clock.now();
  const begun = { wall: clock.now(), steady: steady() };
  return () => Math.max(clock.now() - begun.wall, steady() - begun.steady);
}

/** Goes by its own clock until it hears the store's time, and is set by that whenever it hears it. */
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
