/** The server's time, for what is shown as an age or a deadline: one timer for everybody who shows one. */
import { useSyncExternalStore } from "react";
import { onServerTime, serverNow } from "./server-time.ts";

const EVERY_MS = 1_000;
const listeners = new Set<() => void>();
let now = serverNow();
let timer: number | undefined;

function tick(): void {
  now = serverNow();
  for (const listener of listeners) listener();
}

// Before anything is shown that a wrong clock would be seen at.
onServerTime(tick);

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  if (timer === undefined) {
    // Nobody looked for a while: the time stood still.
    now = serverNow();
    timer = window.setInterval(tick, EVERY_MS);
  }
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    window.clearInterval(timer);
    timer = undefined;
  };
}

export const useNow = (): number => useSyncExternalStore(subscribe, () => now);
