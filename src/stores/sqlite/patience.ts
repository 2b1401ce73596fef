/** Waits for a lock without stopping the event loop: SQLite's own busy timeout would. */
import { setTimeout as sleep } from "node:timers/promises";
import { isBusy, translated } from "./sqlite-errors.ts";

export type Patience = { readonly random: (bytes: number) => Uint8Array; readonly busyMs: number };

const LONGEST_PAUSE_MS = 20;

export async function patiently<Answer>(
  { random, busyMs }: Patience,
  attempt: () => Answer | Promise<Answer>,
): Promise<Answer> {
  const giveUp = performance.now() + busyMs;
  for (let pause = 1; ; pause = Math.min(pause * 2, LONGEST_PAUSE_MS)) {
    try {
      return await attempt();
    } catch (error) {
      if (!isBusy(error) || performance.now() >= giveUp) throw translated(error);
      await sleep(1 + ((random(1)[0] ?? 0) / 256) * (pause - 1));
    }
  }
}
