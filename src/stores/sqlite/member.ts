/** Who waits in the writer's queue. */
import { HoldpointError } from "../../core/errors.ts";
import type { Rows } from "./rows.ts";

export type Prepared = { write(): void; answer(): void };
export type PreparedRows = { readonly rows: Rows; answer(): void };

export type Member = {
  prepare(): Prepared;
  /** The same without writing; undefined when it has to write by itself. Members without it are never decided ahead. */
  prepareRows?(): PreparedRows | undefined;
  refuse(error: unknown): void;
  /** Shares its transaction with nobody: `prepare` writes already. */
  readonly alone?: boolean;
};

/** A batch takes no more members once it has taken so long. */
export const LONGEST_HOLD_MS = 10;

export function unknownCommit(cause: unknown): HoldpointError {
  return new HoldpointError("commit_unknown", "The disk failed while the store committed.", { cause });
}
