/** Connections that could not be had, in words for whoever set the address. */
import { HoldpointError } from "../../kernel/errors.ts";
import type { Address } from "./address.ts";
import { isLost, isPassing, networkCode, sqlState, translated } from "./postgres-errors.ts";

/** What `pg` says of passwords and TLS has no code. What has one is left to its own words. */
export function refused({ scrubbed }: Address): (error: unknown) => never {
  return (error) => {
    const isKnown = sqlState(error) !== undefined || isLost(error) || isEndedPool(error);
    if (isKnown || !(error instanceof Error)) throw error;
    // No cause: its texts are not ours, and may hold what is secret.
    throw new HoldpointError(
      "store_unavailable",
      `The database refused the connection: ${scrubbed(error.message)}.`,
      {
        next: "Check the user, the password and the TLS settings in the address.",
      },
    );
  };
}

/** The pool's own word for a call that came between two pages of a read and the end. */
export function isEndedPool(error: unknown): boolean {
  return error instanceof Error && /after calling end on the pool/.test(error.message);
}

/** How a store is opened: there was no connection yet that could be lost, and a name that is not known stays unknown. */
export function openingManners({ where }: Address): {
  isPassing(error: unknown, tries: number): boolean;
  translated(error: unknown): unknown;
} {
  return {
    isPassing: (error, tries) => isPassing(error) && (networkCode(error) !== "ENOTFOUND" || tries < 2),
    translated(error) {
      if (sqlState(error) !== undefined || !isLost(error)) return translated(error);
      const why = networkCode(error) ?? "it does not answer";
      return new HoldpointError("store_unavailable", `The database at ${where} cannot be reached: ${why}.`, {
        cause: error,
        next: "Check that the server runs there, and the host and the port in the address.",
      });
    },
  };
}
