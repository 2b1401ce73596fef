/** Whether this program knows what an entry says. What it does not know, a newer one has written. */
import { isHoldpointError } from "../kernel/errors.ts";
import { type Fold, findStreamRef } from "../kernel/stream.ts";

import { FOLDS } from "./streams.ts";

export type Told = { readonly stream: string; readonly type: string; readonly tv: number };

/** A fold looks at type and version before anything else, and a body that is gone is none that it does not know. */
export function isKnownEvent({ stream, type, tv }: Told): boolean {
  const ref = findStreamRef(stream);
  if (ref === undefined) return false;
  const fold: Fold<unknown> = FOLDS[ref.kind];
  try {
    fold.evolve(fold.initial, { type, tv, at: 0, seq: 1, body: null });
  } catch (error) {
    return !isHoldpointError(error, "unknown_event");
  }
  return true;
}
