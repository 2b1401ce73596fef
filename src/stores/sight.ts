/** What a decision declared, and the window through which it sees that and nothing else. */
import { HoldpointError } from "../core/errors.ts";
import { type StreamKind, type StreamRef, streamName } from "../core/stream.ts";
import type { StateOf } from "../core/streams.ts";
import type { Needs, Sight } from "../core/transaction.ts";
import { checkText } from "./check-text.ts";
import type { Head } from "./head.ts";

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
};

type Finder = {
  head(stream: StreamRef, name: string): Head;
  name(name: string): StreamRef | undefined;
};

export const declaring = (): Known => ({ streams: [], names: new Map() });

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
}

function declare(known: Known, finder: Finder, stream: StreamRef, write: boolean): void {
  const before = declaredOf(known, stream);
  if (before === undefined) {
    const name = checkText("stream", streamName(stream));
    known.streams.push({ stream, name, write, head: finder.head(stream, name) });
  } else if (write) before.write = true;
}

export function sightOf(known: Known, tenant: string, now: number): Sight {
  return {
    tenant,
    now,
    state: <K extends StreamKind>(ref: StreamRef<K>) => lookUp(known, ref).state as StateOf<K>,
    version: (ref) => lookUp(known, ref).seq,
    name: (name) => {
      if (!known.names.has(name)) throw unseen(`the name "${name}"`);
      return known.names.get(name);
    },
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
  return true;
}

function missing(known: Known, needs: Needs): Needs | undefined {
  if (hasAll(known, needs)) return undefined;
  const write = (needs.write ?? []).filter((ref) => !mayWrite(known, ref));
  const read = (needs.read ?? []).filter((ref) => !maySee(known, ref));
  const names = (needs.names ?? []).filter((name) => !known.names.has(name));
  return { write, read, names };
}

function unseen(what: string): HoldpointError {
  return new HoldpointError("broken_rule", `A decision looked at ${what} without declaring it.`);
}
