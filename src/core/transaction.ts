/**
 * What one decision may look at and what it may answer. A store locks what is declared, hands over a `Sight`, and
 * appends what comes back to all streams, or to none.
 */
import type { NewEvent } from "./event.ts";
import type { StreamKind, StreamRef } from "./stream.ts";
import type { StateOf } from "./streams.ts";

export type Needs = {
  /** Streams to append to. */
  readonly write?: readonly StreamRef[];
  /** Streams the decision depends on and that must not change under it. */
  readonly read?: readonly StreamRef[];
  /** Unique names in the tenant that the decision looks up or takes. */
  readonly names?: readonly string[];
};

/** Asking for a stream or a name that was not declared is an error. */
export type Sight = {
  readonly tenant: string;
  readonly now: number;
  state<K extends StreamKind>(ref: StreamRef<K>): StateOf<K>;
  /** Entries in the stream so far; 0 means that it does not exist. */
  version(ref: StreamRef): number;
  name(name: string): StreamRef | undefined;
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
