/** A decision in the making: rules append to it and see at once what they appended; `commit` hands it to the store. */
import type { NewEvent } from "./event.ts";
import type { Json } from "./json.ts";
import { storeValue } from "./stored-value.ts";
import { type StreamKind, type StreamRef, streamName } from "./stream.ts";
import { FOLDS, type StateOf } from "./streams.ts";
import type { Append, Artifact, Decision, Needs, Sight } from "./transaction.ts";

export type Need = { readonly kind: "need"; readonly needs: Needs };

export type Draft = {
  readonly tenant: string;
  readonly now: number;
  /** What else has to be locked before going on; undefined when nothing is. */
  need(needs: Needs): Need | undefined;
  state<K extends StreamKind>(ref: StreamRef<K>): StateOf<K>;
  append(ref: StreamRef, events: readonly NewEvent[]): void;
  lookUp(name: string): StreamRef | undefined;
  take(name: string, stream: StreamRef): void;
  /** Keeps bytes under their hash. */
  attach(artifact: Artifact): void;
  /** Keeps a value: as it is, or as an artifact when it is large. */
  keep(value: Json): Json;
  commit<Result>(result: Result): Decision<Result>;
};

export function openDraft(sight: Sight): Draft {
  const states = new Map<string, unknown>();
  const appends = new Map<string, { stream: StreamRef; events: NewEvent[] }>();
  const names: { name: string; stream: StreamRef }[] = [];
  const artifacts: Artifact[] = [];

  function state<K extends StreamKind>(ref: StreamRef<K>): StateOf<K> {
    const name = streamName(ref);
    return states.has(name) ? (states.get(name) as StateOf<K>) : sight.state(ref);
  }

  function append(ref: StreamRef, events: readonly NewEvent[]): void {
    if (events.length === 0) return;
    const name = streamName(ref);
    const entry = appends.get(name) ?? { stream: ref, events: [] };
    appends.set(name, entry);
    const fold = FOLDS[ref.kind] as { evolve(state: unknown, event: unknown): unknown };
    for (const event of events) {
      entry.events.push(event);
      const seq = sight.version(ref) + entry.events.length;
      states.set(name, fold.evolve(state(ref), { ...event, at: sight.now, seq }));
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
    take: (name, stream) => void names.push({ name, stream }),
    attach: (artifact) => void artifacts.push(artifact),
    keep(value) {
      const stored = storeValue(value);
      if (stored.artifact !== undefined) artifacts.push(stored.artifact);
      return stored.json;
    },
    commit: (result) => ({
      kind: "commit",
      append: [...appends.values()] as Append[],
      names,
      artifacts,
      result,
    }),
  };
}

/** Turns rules over a draft into what a store's `transact` takes. */
export function decideWith<Result>(
  rules: (draft: Draft) => Need | Result,
): (sight: Sight) => Decision<Exclude<Result, Need>> {
  return (sight) => {
    const draft = openDraft(sight);
    const result = rules(draft);
    return isNeed(result) ? result : draft.commit(result as Exclude<Result, Need>);
  };
}

export function isNeed(value: unknown): value is Need {
  return typeof value === "object" && value !== null && (value as { kind?: unknown }).kind === "need";
}
