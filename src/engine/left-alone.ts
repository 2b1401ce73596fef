/**
 * Streams that this program leaves alone: a newer one wrote something there that it does not know, or a body is gone.
 *
 * L1. One such stream keeps nobody from the next: what goes over many looks at each by itself.
 */
import { type HoldpointError, isHoldpointError } from "../kernel/errors.ts";

export const isLeftAlone = (error: unknown): error is HoldpointError =>
  isHoldpointError(error, "unknown_event") || isHoldpointError(error, "body_erased");

/** Undefined where the stream is left alone. */
export async function unlessLeftAlone<Value>(work: Promise<Value>): Promise<Value | undefined> {
  try {
    return await work;
  } catch (error) {
    if (isLeftAlone(error)) return undefined;
    throw error;
  }
}

/** All of them, whatever is left alone among them; the first of those is told afterwards. */
export async function forEach<Item>(
  items: Iterable<Item>,
  work: (item: Item) => Promise<unknown>,
): Promise<void> {
  let left: HoldpointError | undefined;
  for (const item of items)
    try {
      await work(item);
    } catch (error) {
      if (!isLeftAlone(error)) throw error;
      left ??= error;
    }
  if (left !== undefined) throw left;
}
