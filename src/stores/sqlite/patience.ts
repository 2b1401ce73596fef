/** Waits for a lock without stopping the event loop: SQLite's own busy timeout would. */
import { setTimeout as sleep } from "node:timers/promises";
import { isBusy, translated } from "./sqlite-errors.ts";

export type Patience = { readonly random: (bytes: number) => Uint8Array; readonly busyMs: number };

const LONGEST_PAUSE_MS = 20;

export async function patiently<Answer>(
  { random, busyMs }: Patience,
  attempt: () => Answer | Promise<Answer>,
): Promise<Answer> {
  const start = performance.now();
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      const waited = performance.now() - start;
      if (!isBusy(error) || waited >= busyMs) throw translated(error);
      const longest = Math.min(LONGEST_PAUSE_MS, 2 + waited / 50);
      await sleep(1 + ((random(1)[0] ?? 0) / 256) * (longest - 1));
    }
  }
}
