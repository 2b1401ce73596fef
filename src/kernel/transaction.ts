/**
 * One decision in a store's transaction. A store locks the declared needs, hands over a `DecisionScope`, and appends
 * what comes back to all streams, or to none. A `Draft` is a decision in the making: rules append to it and see at
 * once what they appended; `commit` hands it to the store.
 */

import type { StateAt } from "../states.ts";
import type { Json, JsonObject } from "./json.ts";
import { hasRoomForRefusal, type WithRefusals } from "./refusals.ts";
import { type Artifact, storeValue } from "./stored-value.ts";
import type { Fold, IndexKey, NewEvent, StreamKind, StreamRef } from "./stream.ts";

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
export type DecisionScope = {
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

export type StreamAppend = { readonly stream: StreamRef; readonly events: readonly NewEvent[] };

export type DecideResult<Result> =
  /** Lock these too, then call `decide` again from the start. */
  | { readonly kind: "need"; readonly needs: Needs }
  | {
      readonly kind: "commit";
      readonly append: readonly StreamAppend[];
      /** Names to take, or to lead elsewhere from now on. */
      readonly names?: readonly { readonly name: string; readonly stream: StreamRef }[];
      readonly artifacts?: readonly Artifact[];
      readonly result: Result;
    };

export type Decide<Result> = (sight: DecisionScope) => DecideResult<Result>;

export type Need = { readonly kind: "need"; readonly needs: Needs };

export type Draft = {
  readonly tenant: string;
  readonly now: number;
  /** What else has to be locked before going on; undefined when nothing is. */
  need(needs: Needs): Need | undefined;
  state<Ref extends StreamRef>(ref: Ref): StateAt<Ref>;
  append(ref: StreamRef, events: readonly NewEvent[]): void;
  lookUp(name: string): StreamRef | undefined;
  /** By which a rule has a consequence for a stream of a higher capability, inside this decision. */
  port(kind: StreamKind): unknown;
  /** Streams that an index lists under a key; see `Sight`. */
  index(key: IndexKey): readonly IndexRow[];
  take(name: string, stream: StreamRef): void;
  /** Keeps bytes under their hash. */
  attach(artifact: Artifact): void;
  /** Keeps a value: as it is, or as an artifact when it is large. */
  keep(value: Json): Json;
  commit<Result>(result: Result): DecideResult<Result>;
};

/** A stream that the decision has appended to: its events, and its state after them. */
type Written = { readonly stream: StreamRef; readonly events: NewEvent[]; version: number; state: unknown };

export function openDraft(sight: DecisionScope): Draft {
  const written: Written[] = [];
  const names: { name: string; stream: StreamRef }[] = [];
  const artifacts: Artifact[] = [];

  function writtenTo({ kind, id }: StreamRef): Written | undefined {
    for (const one of written) if (one.stream.kind === kind && one.stream.id === id) return one;
    return undefined;
  }

  function state<Ref extends StreamRef>(ref: Ref): StateAt<Ref> {
    const one = writtenTo(ref);
    return one === undefined ? sight.state(ref) : (one.state as StateAt<Ref>);
  }

  function begin(stream: StreamRef): Written {
    const one = { stream, events: [], version: sight.version(stream), state: sight.state(stream) };
    written.push(one);
    return one;
  }

  function append(ref: StreamRef, events: readonly NewEvent[]): void {
    if (events.length === 0) return;
    const one = writtenTo(ref) ?? begin(ref);
    const fold = sight.fold(ref.kind);
    for (const event of events) {
      one.events.push(event);
      one.version += 1;
      const { type, tv, body } = event;
      one.state = fold.evolve(one.state, { type, tv, body, at: sight.now, seq: one.version });
    }
  }

  return {
    tenant: sight.tenant,
    now: sight.now,
    need(needs) {
      const missing = sight.missing(needs);
      return missing === undefined ? undefined : { kind: "need", needs: missing };
    },
    state,
    append,
    lookUp: (name) => sight.name(name),
    port: (kind) => sight.fold(kind).port,
    index: (key) => sight.index(key),
    take: (name, stream) => void names.push({ name, stream }),
    attach: (artifact) => void artifacts.push(artifact),
    keep(value) {
      const stored = storeValue(value);
      if (stored.artifact !== undefined) artifacts.push(stored.artifact);
      return stored.json;
    },
    commit: (result) => ({ kind: "commit", append: written, names, artifacts, result }),
  };
}

/** Turns rules over a draft into what a store's `transact` takes. */
export function decideWith<Result>(
  rules: (draft: Draft) => Need | Result,
): (sight: DecisionScope) => DecideResult<Exclude<Result, Need>> {
  return (sight) => {
    const draft = openDraft(sight);
    const result = rules(draft);
    if (isNeed(result)) return result;
    const answer = result as Exclude<Result, Need>;
    return isLoad(answer) ? { kind: "commit", append: [], result: answer } : draft.commit(answer);
  };
}

/** Rules that have to be handed something first run again from the start: what they had written so far is dropped. */
function isLoad(value: unknown): boolean {
  return typeof value === "object" && value !== null && (value as { kind?: unknown }).kind === "load";
}

export function isNeed(value: unknown): value is Need {
  return typeof value === "object" && value !== null && (value as { kind?: unknown }).kind === "need";
}

/** Answers whether there was room for it. */
export function appendRefusal(
  draft: Draft,
  ref: StreamRef,
  state: WithRefusals,
  event: NewEvent & { readonly body: { readonly by: string } },
): boolean {
  const isRecorded = hasRoomForRefusal(state, event.body.by);
  if (isRecorded) draft.append(ref, [event]);
  return isRecorded;
}
