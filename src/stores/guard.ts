/** Every call of a store goes through here: none after the end, and none on a database that called itself damaged. */
import { HoldpointError } from "../kernel/errors.ts";

export type Ended = { damage: unknown; closed: Promise<void> | undefined };

/** What a store's own errors mean. */
export type Words = {
  translated(error: unknown): unknown;
  isDamage(error: unknown): boolean;
  /** Its connection was closed under the call. */
  isClosed(error: unknown): boolean;
};

export type Guard = <Answer>(verb: () => Promise<Answer>) => Promise<Answer>;

export function guard(ended: Ended, { translated, isDamage, isClosed }: Words): Guard {
  const closed = (cause?: unknown) => new HoldpointError("closed", "The store was closed.", { cause });
  return async (verb) => {
    if (ended.damage !== undefined) throw translated(ended.damage);
    if (ended.closed !== undefined) throw closed();
    try {
      return await verb();
    } catch (error) {
      if (isDamage(error)) ended.damage ??= error;
      throw isClosed(error) ? closed(error) : translated(error);
    }
  };
}
