import { HoldpointError } from "./errors.ts";
import type { JsonObject } from "./json.ts";

/** What a rule returns: a fact to append. `tv` is the version of the event type. */
export type NewEvent = { readonly type: string; readonly tv: number; readonly body: JsonObject };

/** A fact as a fold sees it. `body` is null when it was erased together with its salt. */
export type RecordedEvent = {
  readonly type: string;
  readonly tv: number;
  readonly at: number;
  readonly seq: number;
  readonly body: JsonObject | null;
};

/** The fold of one kind of stream. `version` changes whenever `evolve` does: cached states are then thrown away. */
export type Fold<State> = {
  readonly version: number;
  readonly initial: State;
  evolve(state: State, event: RecordedEvent): State;
  /** Nothing is expected to follow: such a state is not worth keeping at hand. */
  isOver?(state: State): boolean;
  /** What rules of lower capabilities call on a stream of this kind. A store hands it on to the draft. */
  readonly port?: unknown;
};

/** The body of an event that a fold knows. One that is unknown, newer or erased is an error, never skipped or guessed. */
export function bodyOf(what: string, event: RecordedEvent, types: readonly string[]): JsonObject {
  const { type, tv, body, seq } = event;
  if (!types.includes(type) || tv !== 1)
    throw new HoldpointError("unknown_event", `${what} met the event "${type}" version ${tv}.`);
  if (body === null) throw new HoldpointError("body_erased", `The body of entry ${seq} is gone.`);
  return body;
}
