import type { Clock } from "./runtime.ts";

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

export const wallClock: Clock = { now: () => Date.now(), sleep: sleeper(true) };
/** For upkeep: a program that has nothing else to do may end. */
export const idleClock: Clock = { now: () => Date.now(), sleep: sleeper(false) };
