/**
 * Long work, such as going over a whole journal, beside everything else that a process does.
 *
 * P1. It stops for a turn of the event loop whenever it has gone on for some milliseconds, and of all such work in the process
 *     one piece is done in a turn: however many go over their journals, others wait for one of them.
 * P2. It ends, with an error, when the instance closes.
 */

import type { Clock } from "../kernel/clock.ts";
import { HoldpointError } from "../kernel/errors.ts";

/** Asked between any two steps; what it answers is awaited only if it has to be. */
export type Pace = () => Promise<void> | undefined;

/** For a process that has nothing else to do. */
export const atOnce: Pace = () => undefined;

/** Takes the steps one after the other. */
export async function inPace<Result>(steps: Generator<void, Result>, pace: Pace): Promise<Result> {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
    const turn = pace();
    if (turn !== undefined) await turn;
  }
}

const SLICE_MS = 5;

let last: Promise<void> = Promise.resolve();

/** For what cannot be done in pieces, such as reading a text: of all such work in the process, one a turn. */
export function ownTurn(): Promise<void> {
  last = last.then(() => new Promise<void>((resolve) => setImmediate(resolve)));
  return last;
}

export function paceOf({ clock, closing }: { readonly clock: Clock; readonly closing: AbortSignal }): Pace {
  const elapsed = () => clock.elapsed?.() ?? clock.now();
  const check = () => {
    if (closing.aborted) throw new HoldpointError("closed", "The instance was closed before this was done.");
  };
  let since = elapsed();
  return () => {
    check();
    if (elapsed() - since < SLICE_MS) return undefined;
    return ownTurn().then(() => {
      since = elapsed();
      check();
    });
  };
}
