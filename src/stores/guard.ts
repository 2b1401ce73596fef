/**
 * Guards every call of a store: none runs after the store was closed, and none on a database that reported damage. Also
 * checks texts that become keys.
 */
import { HoldpointError } from "../kernel/errors.ts";

export type StoreEnd = { damage: unknown; closed: Promise<void> | undefined };

/** The meaning of a store's own errors. */
type ErrorTranslation = {
  translated(error: unknown): unknown;
  isDamage(error: unknown): boolean;
  /** The connection was closed during the call. */
  isClosed(error: unknown): boolean;
};

export type GuardedCall = <Answer>(verb: () => Promise<Answer>) => Promise<Answer>;

export function guardCalls(
  ended: StoreEnd,
  { translated, isDamage, isClosed }: ErrorTranslation,
): GuardedCall {
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

/** Half a surrogate pair has no UTF-8: two such names would become one row in a database. */
export function checkStoredText(what: string, text: string): string {
  if (text.length > 0 && text.isWellFormed()) return text;
  throw new HoldpointError("invalid_input", `A ${what} has to be valid Unicode and not empty.`);
}
