/** What a decision declared, and the window through which it sees that and nothing else. */
import { HoldpointError } from "../core/errors.ts";
import { type StreamKind, type StreamRef, streamName } from "../core/stream.ts";
import type { StateOf } from "../core/streams.ts";
import type { Needs, Sight } from "../core/transaction.ts";
import { checkText } from "./check-text.ts";
import type { Head } from "./head.ts";

export type Known = {
  readonly streams: Map<string, { readonly write: boolean; readonly head: Head }>;
  readonly names: Map<string, StreamRef | undefined>;
};

type Finder = {
  head(stream: StreamRef, name: string): Head;
  name(name: string): StreamRef | undefined;
};

export const declaring = (): Known => ({ streams: new Map(), names: new Map() });

export function declareAll(known: Known, finder: Finder, needs: Needs): void {
  for (const stream of needs.write ?? []) declare(known, finder, stream, true);
  for (const stream of needs.read ?? []) declare(known, finder, stream, false);
  for (const name of needs.names ?? []) {
    if (!known.names.has(name)) known.names.set(checkText("name", name), finder.name(name));
  }
}

function declare(known: Known, finder: Finder, stream: StreamRef, write: boolean): void {
  const name = streamName(stream);
  const before = known.streams.get(name);
  if (before === undefined) {
    checkText("stream", name);
    known.streams.set(name, { write, head: finder.head(stream, name) });
  } else if (write && !before.write) known.streams.set(name, { ...before, write });
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
  const name = streamName(ref);
  const declared = known.streams.get(name);
  if (declared === undefined) throw unseen(`the stream "${name}"`);
  return declared.head;
}

function hasAll({ streams, names }: Known, needs: Needs): boolean {
  for (const ref of needs.write ?? []) if (streams.get(streamName(ref))?.write !== true) return false;
  for (const ref of needs.read ?? []) if (!streams.has(streamName(ref))) return false;
  for (const name of needs.names ?? []) if (!names.has(name)) return false;
  return true;
}

function missing(known: Known, needs: Needs): Needs | undefined {
  if (hasAll(known, needs)) return undefined;
  const write = (needs.write ?? []).filter((ref) => known.streams.get(streamName(ref))?.write !== true);
  const read = (needs.read ?? []).filter((ref) => !known.streams.has(streamName(ref)));
  const names = (needs.names ?? []).filter((name) => !known.names.has(name));
  return { write, read, names };
}

function unseen(what: string): HoldpointError {
  return new HoldpointError("broken_rule", `A decision looked at ${what} without declaring it.`);
}
