/** A decision in the making: rules append to it and see at once what they appended; `commit` hands it to the store. */
import type { NewEvent } from "./event.ts";
import type { Json } from "./json.ts";
import type { StateAt } from "./states.ts";
import { storeValue } from "./stored-value.ts";
import type { IndexKey, StreamKind, StreamRef } from "./stream.ts";
import type { Append, Artifact, Decision, IndexRow, Needs, Sight } from "./transaction.ts";

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
  commit<Result>(result: Result): Decision<Result>;
};

/** A stream that the decision has appended to: its events, and its state after them. */
type Written = { readonly stream: StreamRef; readonly events: NewEvent[]; version: number; state: unknown };

export function openDraft(sight: Sight): Draft {
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
    commit: (result) => ({ kind: "commit", append: written as readonly Append[], names, artifacts, result }),
  };
}

/** Turns rules over a draft into what a store's `transact` takes. */
export function decideWith<Result>(
  rules: (draft: Draft) => Need | Result,
): (sight: Sight) => Decision<Exclude<Result, Need>> {
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
