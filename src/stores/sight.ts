/** What a decision declared, and the window through which it sees that and nothing else. */

import { HoldpointError } from "../kernel/errors.ts";
import { type IndexKey, type StreamRef, streamName } from "../kernel/stream.ts";
import type { DecisionScope, IndexRow, Needs } from "../kernel/transaction.ts";
import type { Folds, StateAt } from "../states.ts";

import { checkText } from "./check-text.ts";
import { foldOf, type Head } from "./head.ts";

export type Declared = {
  readonly stream: StreamRef;
  readonly name: string;
  write: boolean;
  readonly head: Head;
};

/** A list, looked through from the front: a decision declares a handful, and comparing is cheaper than making keys. */
export type Known = {
  readonly streams: Declared[];
  readonly names: Map<string, StreamRef | undefined>;
  readonly index: Map<string, readonly IndexRow[]>;
};

type Finder = {
  head(stream: StreamRef, name: string): Head;
  name(name: string): StreamRef | undefined;
  index(key: IndexKey): readonly IndexRow[];
};

/** One text for an index and a key: no view's name has a slash. */
export const indexName = ({ view, key }: IndexKey): string => `${view}/${key}`;

export const declaring = (): Known => ({ streams: [], names: new Map(), index: new Map() });

export function declaredOf({ streams }: Known, { kind, id }: StreamRef): Declared | undefined {
  for (const declared of streams)
    if (declared.stream.kind === kind && declared.stream.id === id) return declared;
  return undefined;
}

export function declareAll(known: Known, finder: Finder, needs: Needs): void {
  for (const stream of needs.write ?? []) declare(known, finder, stream, true);
  for (const stream of needs.read ?? []) declare(known, finder, stream, false);
  for (const name of needs.names ?? []) {
    if (!known.names.has(name)) known.names.set(checkText("name", name), finder.name(name));
  }
  for (const key of needs.index ?? []) {
    const name = checkText("key", indexName(key));
    if (!known.index.has(name)) known.index.set(name, finder.index(key));
  }
}

function declare(known: Known, finder: Finder, stream: StreamRef, write: boolean): void {
  const before = declaredOf(known, stream);
  if (before === undefined) {
    const name = checkText("stream", streamName(stream));
    known.streams.push({ stream, name, write, head: finder.head(stream, name) });
  } else if (write) before.write = true;
}

type Window = { readonly tenant: string; readonly folds: Folds; readonly now: number };

export function sightOf(known: Known, { tenant, folds, now }: Window): DecisionScope {
  return {
    tenant,
    now,
    fold: (kind) => foldOf(folds, kind),
    state: <Ref extends StreamRef>(ref: Ref) => lookUp(known, ref).state as StateAt<Ref>,
    version: (ref) => lookUp(known, ref).seq,
    name: (name) => {
      if (!known.names.has(name)) throw unseen(`the name "${name}"`);
      return known.names.get(name);
    },
    index: (key) => known.index.get(indexName(key)) ?? undeclaredIndex(key),
    missing: (needs) => missing(known, needs),
  };
}

function lookUp(known: Known, ref: StreamRef): Head {
  const declared = declaredOf(known, ref);
  if (declared === undefined) throw unseen(`the stream "${streamName(ref)}"`);
  return declared.head;
}

const mayWrite = (known: Known, ref: StreamRef): boolean => declaredOf(known, ref)?.write === true;
const maySee = (known: Known, ref: StreamRef): boolean => declaredOf(known, ref) !== undefined;

function hasAll(known: Known, needs: Needs): boolean {
  for (const ref of needs.write ?? []) if (!mayWrite(known, ref)) return false;
  for (const ref of needs.read ?? []) if (!maySee(known, ref)) return false;
  for (const name of needs.names ?? []) if (!known.names.has(name)) return false;
  return needs.index === undefined || needs.index.every((key) => known.index.has(indexName(key)));
}

function missing(known: Known, needs: Needs): Needs | undefined {
  if (hasAll(known, needs)) return undefined;
  const write = (needs.write ?? []).filter((ref) => !mayWrite(known, ref));
  const read = (needs.read ?? []).filter((ref) => !maySee(known, ref));
  const names = (needs.names ?? []).filter((name) => !known.names.has(name));
  const index = (needs.index ?? []).filter((key) => !known.index.has(indexName(key)));
  return { write, read, names, ...(index.length === 0 ? {} : { index }) };
}

function undeclaredIndex(key: IndexKey): never {
  throw unseen(`the index "${indexName(key)}"`);
}

function unseen(what: string): HoldpointError {
  return new HoldpointError("broken_rule", `A decision looked at ${what} without declaring it.`);
}
