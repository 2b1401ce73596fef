/** Waits for a server that restarts, for as long as it is certain that nothing was committed. */
import { setTimeout as sleep } from "node:timers/promises";
import { isPassing, translated } from "./postgres-errors.ts";

export type Patience = { readonly random: (bytes: number) => Uint8Array; readonly busyMs: number };

type Manners = { isPassing(error: unknown, tries: number): boolean; translated(error: unknown): unknown };

const LONGEST_PAUSE_MS = 250;

/** For what may be done twice. */
export async function patiently<Answer>(
  patience: Patience,
  attempt: () => Promise<Answer>,
  manners: Manners = { isPassing, translated },
): Promise<Answer> {
  const start = performance.now();
  for (let tries = 1; ; tries++) {
    try {
      return await attempt();
    } catch (error) {
      const isOver = performance.now() - start >= patience.busyMs;
      if (isOver || !manners.isPassing(error, tries)) throw manners.translated(error);
      await sleep(pauseMs(patience, tries));
    }
  }
}

/** Longer each time, and never the same for two who wait. */
export function pauseMs({ random }: Patience, tries: number): number {
  const longest = Math.min(LONGEST_PAUSE_MS, 5 * 2 ** Math.min(tries, 6));
  return 2 + ((random(1)[0] ?? 0) / 256) * longest;
}
