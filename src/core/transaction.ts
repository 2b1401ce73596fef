/**
 * What one decision may look at and what it may answer. A store locks what is declared, hands over a `Sight`, and
 * appends what comes back to all streams, or to none.
 */
import type { Fold, NewEvent } from "./event.ts";
import type { JsonObject } from "./json.ts";
import type { StateAt } from "./states.ts";
import type { IndexKey, StreamKind, StreamRef } from "./stream.ts";

export type Needs = {
  /** Streams to append to. */
  readonly write?: readonly StreamRef[];
  /** Streams the decision depends on and that must not change under it. */
  readonly read?: readonly StreamRef[];
  /** Unique names in the tenant that the decision looks up or takes. */
  readonly names?: readonly string[];
  /** Keys of indexes that the decision looks up. */
  readonly index?: readonly IndexKey[];
};

/** A stream under a key, with the data that its definition indexes. */
export type IndexRow = { readonly stream: StreamRef; readonly data: JsonObject };
/** Rows of one key that a decision sees, newest first; the others are as if they were not there. */
export const MOST_INDEXED = 100;

/** Asking for a stream, a name or a key that was not declared is an error. */
export type Sight = {
  readonly tenant: string;
  readonly now: number;
  state<Ref extends StreamRef>(ref: Ref): StateAt<Ref>;
  /** The fold of a kind: what a draft evolves its own events with. */
  fold(kind: StreamKind): Fold<unknown>;
  /** Entries in the stream so far; 0 means that it does not exist. */
  version(ref: StreamRef): number;
  name(name: string): StreamRef | undefined;
  /**
   * Streams that an index lists under a key, as of the last commit before this decision. A listed stream is not locked:
   * a rule that builds on one declares it, and looks at its state.
   */
  index(key: IndexKey): readonly IndexRow[];
  /** The part of these needs that was not declared yet; undefined when all of it was. */
  missing(needs: Needs): Needs | undefined;
};

export type Append = { readonly stream: StreamRef; readonly events: readonly NewEvent[] };
/** Bytes kept under their own hash (SHA-256, hex). */
export type Artifact = { readonly hash: string; readonly bytes: Uint8Array };

export type Decision<Result> =
  /** Lock these too, then call `decide` again from the start. */
  | { readonly kind: "need"; readonly needs: Needs }
  | {
      readonly kind: "commit";
      readonly append: readonly Append[];
      /** Names to take, or to lead elsewhere from now on. */
      readonly names?: readonly { readonly name: string; readonly stream: StreamRef }[];
      readonly artifacts?: readonly Artifact[];
      readonly result: Result;
    };

export type Decide<Result> = (sight: Sight) => Decision<Result>;
