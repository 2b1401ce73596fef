/**
 * One decision in a store's transaction. A store locks the declared needs, passes a `DecisionScope`, and appends the
 * result to all streams, or to none. A `Draft` is a decision in progress: rules append to it and see their own events
 * at once; `commit` hands it to the store.
 */

import type { StateAt } from "../states.ts";
import type { Json, JsonObject } from "./json.ts";
import { hasRoomForRefusal, type WithRefusals } from "./refusals.ts";
import type { StreamKind } from "./registry.ts";
import { type Artifact, storeValue } from "./stored-value.ts";
import type { Fold, IndexKey, NewEvent, StreamRef } from "./stream.ts";

export type Needs = {
  /** Streams to append to. */
  readonly write?: readonly StreamRef[];
  /** Streams the decision depends on. They must not change during it. */
  readonly read?: readonly StreamRef[];
  /** Unique names in the tenant that the decision looks up or takes. */
  readonly names?: readonly string[];
  /** Keys of indexes that the decision looks up. */
  readonly index?: readonly IndexKey[];
  /**
   * The decision probably writes nothing. It is made in a snapshot without locks first, and again under locks if it
   * writes after all.
   */
  readonly isLook?: true;
};

/** A stream under a key, with its indexed data. */
export type IndexRow = { readonly stream: StreamRef; readonly data: JsonObject };
/** Rows per key that a decision sees, newest first. The others are ignored. */
export const MOST_INDEXED = 100;

/** Requesting a stream, name or key that was not declared is an error. */
export type DecisionScope = {
  readonly tenant: string;
  readonly now: number;
  state<Ref extends StreamRef>(ref: Ref): StateAt<Ref>;
  /** The fold of a kind, with which a draft applies its own events. */
  fold(kind: StreamKind): Fold<unknown>;
  /** Number of entries in the stream; 0 if it does not exist. */
  version(ref: StreamRef): number;
  name(name: string): StreamRef | undefined;
  /**
   * Streams that an index lists under a key, as of the last commit before this decision. A listed stream is not locked:
   * a rule that depends on one declares it, and reads its state.
   */
  index(key: IndexKey): readonly IndexRow[];
  /** The part of these needs that is not declared yet; undefined if all of it is. */
  missing(needs: Needs): Needs | undefined;
};

export type StreamAppend = { readonly stream: StreamRef; readonly events: readonly NewEvent[] };

export type DecideResult<Result> =
  /** Lock these too, then call `decide` again from the start. */
  | { readonly kind: "need"; readonly needs: Needs }
  | {
      readonly kind: "commit";
      readonly append: readonly StreamAppend[];
      /** Names to take, or to point to another stream. */
      readonly names?: readonly { readonly name: string; readonly stream: StreamRef }[];
      readonly artifacts?: readonly Artifact[];
      readonly result: Result;
    };

export type Decide<Result> = (sight: DecisionScope) => DecideResult<Result>;

export type Need = { readonly kind: "need"; readonly needs: Needs };

export type Draft = {
  readonly tenant: string;
  readonly now: number;
  /** What has to be locked before going on; undefined if everything is. */
  need(needs: Needs): Need | undefined;
  state<Ref extends StreamRef>(ref: Ref): StateAt<Ref>;
  append(ref: StreamRef, events: readonly NewEvent[]): void;
  lookUp(name: string): StreamRef | undefined;
  /** Port for consequences in a stream of a higher capability, inside this decision. */
  port(kind: StreamKind): unknown;
  /** Streams that an index lists under a key; see `DecisionScope`. */
  index(key: IndexKey): readonly IndexRow[];
  take(name: string, stream: StreamRef): void;
  /** Stores bytes under their hash. */
  attach(artifact: Artifact): void;
  /** Stores a value: inline, or as an artifact if it is large. */
  keep(value: Json): Json;
  commit<Result>(result: Result): DecideResult<Result>;
};

/** A stream that the decision has appended to: its events, and the resulting state. */
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

/** Turns rules over a draft into the argument of a store's `transact`. */
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

/** Rules that need something loaded first run again from the start: their events so far are dropped. */
function isLoad(value: unknown): boolean {
  return typeof value === "object" && value !== null && (value as { kind?: unknown }).kind === "load";
}

export function isNeed(value: unknown): value is Need {
  return typeof value === "object" && value !== null && (value as { kind?: unknown }).kind === "need";
}

/** Returns whether the refusal was recorded. */
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
