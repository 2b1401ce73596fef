/** A stream's head: the end of its chain, and the state folded up to there. Also the cache in which a store keeps heads. */

import { type Entry, GENESIS } from "../journal/entry.ts";
import { HoldpointError } from "../kernel/errors.ts";
import type { JsonObject } from "../kernel/json.ts";
import type { StreamKind } from "../kernel/registry.ts";
import type { Fold } from "../kernel/stream.ts";
import type { Folds } from "../states.ts";
import type { StateBefore } from "./views.ts";

export type Head = {
  /** Number of entries; 0 if the stream does not exist. */
  readonly seq: number;
  readonly hash: string;
  readonly at: number;
  readonly state: unknown;
  /** Approximate memory of the state: the length of the bodies it was folded from. */
  readonly size: number;
};

export const foldOf = (folds: Folds, kind: StreamKind): Fold<unknown> => folds[kind];

export function isStreamOver(folds: Folds, kind: StreamKind, head: Head): boolean {
  return foldOf(folds, kind).isOver?.(head.state) === true;
}

export function emptyHead(folds: Folds, kind: StreamKind): Head {
  return { seq: 0, hash: GENESIS, at: 0, state: folds[kind].initial, size: 0 };
}

/** The state that the stream's rows were written from. */
export const stateBefore = ({ seq, state }: Head): StateBefore =>
  seq === 0 ? { kind: "none" } : { kind: "state", state };

type HeadEvent = {
  readonly type: string;
  readonly tv: number;
  readonly at: number;
  readonly seq: number;
  readonly body: string | null;
  readonly hash: string;
};

export function foldEvent(folds: Folds, kind: StreamKind, head: Head, step: HeadEvent): Head {
  const { hash, seq, at } = step;
  const body: JsonObject | null = step.body === null ? null : JSON.parse(step.body);
  const state = foldOf(folds, kind).evolve(head.state, { type: step.type, tv: step.tv, at, seq, body });
  return { seq, hash, at, state, size: head.size + (step.body?.length ?? 0) };
}

/** Refuses a broken chain: an entry has to follow the previous one, or no decision may build on it. */
export function foldEntry(folds: Folds, kind: StreamKind, head: Head, entry: Entry): Head {
  const { type, tv, at, seq, prev, stream, body, hash } = entry;
  if (prev !== head.hash || seq !== head.seq + 1) {
    throw new HoldpointError(
      "store_corrupt",
      `Entry ${seq} of the stream "${stream}" does not follow the one before it.`,
    );
  }
  return foldEvent(folds, kind, head, { type, tv, at, seq, body, hash });
}

export type Cache<Value> = {
  get(key: string): Value | undefined;
  set(key: string, value: Value): void;
  forget(key: string): void;
  clear(): void;
};

export type CacheLimit = { readonly count: number; readonly size: number };

/**
 * Keeps recently used values in two halves: when the young half is full, the old half is dropped. There is no other
 * bookkeeping. A value larger than a half takes one by itself.
 */
export function createCache<Value>(most: CacheLimit, sizeOf: (value: Value) => number): Cache<Value> {
  let young = new Map<string, Value>();
  let old = new Map<string, Value>();
  let size = 0;
  const forgetYoung = (key: string) => {
    const before = young.get(key);
    if (before === undefined) return;
    size -= sizeOf(before);
    young.delete(key);
  };
  const isFull = (more: number) =>
    young.size > 0 && (young.size >= most.count / 2 || size + more > most.size / 2);
  const set = (key: string, value: Value) => {
    const more = sizeOf(value);
    forgetYoung(key);
    if (isFull(more)) {
      old = young;
      young = new Map();
      size = 0;
    }
    young.set(key, value);
    size += more;
  };
  return {
    get(key) {
      const value = young.get(key);
      if (value !== undefined) return value;
      const kept = old.get(key);
      if (kept !== undefined) set(key, kept);
      return kept;
    },
    set,
    forget(key) {
      forgetYoung(key);
      old.delete(key);
    },
    clear() {
      young = new Map();
      old = new Map();
      size = 0;
    },
  };
}
