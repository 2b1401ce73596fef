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
};
