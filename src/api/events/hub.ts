/**
 * Follows a tenant's journal for all listeners of this process, and makes the frame of each entry.
 * - One read and one frame per entry, regardless of the number of listeners.
 * - Frames go out in commit order, each once; `position` is that of the last one.
 */

import type { Clock } from "../../kernel/clock.ts";
import { isJsonObject, type Json } from "../../kernel/json.ts";
import type { StreamKind } from "../../kernel/registry.ts";
import { findStreamRef, type StreamRef, streamName } from "../../kernel/stream.ts";
import type { JournalRecord } from "../../runtime/contract.ts";
import { parseRecord } from "../../runtime/journal.ts";
import { type Subscriber, subscribe } from "../../runtime/subscribe.ts";
import type { JournalEntry, TenantStore } from "../../stores/store.ts";
import { time } from "../wire.ts";

export type Frame = {
  readonly position: number;
  readonly kind: StreamKind;
  /** The workflow that it is about; null if none. */
  readonly workflow: string | null;
  readonly type: string;
  /** Built on first use and once: most entries have no reader. */
  readonly record: () => JournalRecord;
  readonly text: () => string;
  /** Approximate length of its text. */
  readonly size: number;
};

/** An evicted stream is looked up again from its first entry. */
const MOST_KNOWN = 10_000;

const textOf = (value: Json | undefined): string | undefined =>
  typeof value === "string" ? value : undefined;

/** The workflow that a stream's first entry names, or the action whose stream names it. */
function namedBy(body: Json): { readonly workflow?: string; readonly action?: string } {
  if (!isJsonObject(body)) return {};
  const { within, subject } = body;
  const inside = [within, subject].flatMap((part) =>
    isJsonObject(part) ? (textOf(part["workflow"]) ?? []) : [],
  );
  const workflow = inside[0] ?? textOf(body["workflow"]);
  if (workflow !== undefined) return { workflow };
  const action = textOf(body["action"]);
  return action === undefined ? {} : { action };
}

function once<Value>(make: () => Value): () => Value {
  let made: { readonly value: Value } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

/** A body is stored as JSON on one line, and sent unchanged. */
function textOfEntry(
  data: { readonly position: number; readonly type: string },
  body: string | null,
): string {
  const fields = JSON.stringify(data).slice(0, -1);
  return `id: ${data.position}\nevent: ${data.type}\ndata: ${fields},"body":${body ?? "null"}}\n\n`;
}

/** Synchronous if the entry's workflow is known. undefined for a kind of stream that only a newer server knows. */
type Framer = (entry: JournalEntry) => Frame | Promise<Frame> | undefined;

/** The body names no workflow, and nothing that leads to one. */
const isAboutNone = (body: string | null): boolean =>
  body === null || !/"(?:within|subject|workflow|action)":/.test(body);

/** Of its frame beside the body. */
const FRAME_FIELDS = 300;

function frameOf(entry: JournalEntry, kind: StreamKind, workflow: string | null): Frame {
  const { position, stream, seq, type, at } = entry;
  const text = () => {
    const data = { position, stream, seq, type, at: time(at), hash: entry.hash, workflow_id: workflow };
    return textOfEntry(data, entry.body);
  };
  const size = FRAME_FIELDS + (entry.body?.length ?? 0);
  return { position, kind, workflow, type, record: once(() => parseRecord(entry)), text: once(text), size };
}

function createFramer(place: TenantStore): Framer {
  const known = new Map<string, string | null>();

  function keep(name: string, workflow: string | null): string | null {
    known.set(name, workflow);
    const [oldest] = known.size > MOST_KNOWN ? known.keys() : [];
    if (oldest !== undefined) known.delete(oldest);
    return workflow;
  }

  async function follow(body: Json, ref: StreamRef): Promise<string | null> {
    const { workflow, action } = namedBy(body);
    if (workflow !== undefined) return workflow;
    const isElsewhere = action !== undefined && !(ref.kind === "action" && ref.id === action);
    return isElsewhere ? workflowOf({ kind: "action", id: action }) : null;
  }

  async function workflowOf(ref: StreamRef): Promise<string | null> {
    const name = streamName(ref);
    const found = ref.kind === "workflow" ? ref.id : known.get(name);
    if (found !== undefined) return found;
    const [first] = await place.store.read(place.tenant, ref, { limit: 1 });
    const body = first?.body == null ? null : (JSON.parse(first.body) as Json);
    return keep(name, await follow(body, ref));
  }

  /** undefined: it has to be read first. */
  function workflowNow({ stream, seq, body }: JournalEntry, ref: StreamRef): string | null | undefined {
    if (ref.kind === "workflow") return ref.id;
    if (seq === 1 && isAboutNone(body)) return keep(stream, null);
    return known.get(stream);
  }

  return (entry) => {
    const ref = findStreamRef(entry.stream);
    if (ref === undefined) return undefined;
    const workflow = workflowNow(entry, ref);
    if (workflow !== undefined) return frameOf(entry, ref.kind, workflow);
    return workflowOf(ref).then((found) => frameOf(entry, ref.kind, found));
  };
}

export async function readFrames(frame: Framer, page: readonly JournalEntry[]): Promise<readonly Frame[]> {
  const frames: Frame[] = [];
  for (const entry of page) {
    const made = frame(entry);
    const known = made instanceof Promise ? await made : made;
    if (known !== undefined) frames.push(known);
  }
  return frames;
}

/** Receives all frames of one read together. */
export type HubSubscriber = (frames: readonly Frame[]) => void;

export type Hub = {
  /** Position of the last entry that was sent. */
  position(): number;
  /** Subscribes from the next frame on. Returns how to unsubscribe. */
  join(ear: HubSubscriber): () => void;
  /** Frames after a position; undefined if they are no longer buffered. */
  recent(after: number): readonly Frame[] | undefined;
  readonly frame: Framer;
  /** Resolves when following has started. */
  readonly begun: Promise<void>;
  close(): void;
};

const KEPT = 2_000;
const KEPT_CHARACTERS = 4_000_000;

/** Buffer of the newest frames, from which a listener that was briefly disconnected resumes. */
function createRing(start: number) {
  const frames: Frame[] = [];
  let from = start;
  let characters = 0;
  return {
    add(added: readonly Frame[]): void {
      for (const frame of added) characters += frame.size;
      frames.push(...added);
      let gone = 0;
      while (frames.length - gone > KEPT || characters > KEPT_CHARACTERS) {
        const oldest = frames[gone];
        if (oldest === undefined) break;
        characters -= oldest.size;
        from = oldest.position;
        gone++;
      }
      frames.splice(0, gone);
    },
    after(position: number): readonly Frame[] | undefined {
      if (position < from) return undefined;
      const first = frames.findIndex((frame) => frame.position > position);
      return first === -1 ? [] : frames.slice(first);
    },
  };
}

export function createHub(place: TenantStore, clock: Clock, failed: (error: unknown) => void): Hub {
  const over = new AbortController();
  const ears = new Set<HubSubscriber>();
  const frame = createFramer(place);
  let position = 0;
  let ring = createRing(0);
  let read: Frame[] = [];
  const add = (made: Frame | undefined) => {
    if (made !== undefined) read.push(made);
    return false;
  };
  const give = (frames: readonly Frame[]) => {
    position = frames.at(-1)?.position ?? position;
    ring.add(frames);
    for (const ear of [...ears]) ear(frames);
  };
  const subscriber: Subscriber = {
    begun(start) {
      position = start;
      ring = createRing(start);
    },
    entry(entry) {
      const made = frame(entry);
      return made instanceof Promise ? made.then(add) : add(made);
    },
    pageRead() {
      const frames = read;
      read = [];
      if (frames.length > 0) give(frames);
    },
    failed,
  };
  const { begun } = subscribe({ ...place, clock }, subscriber, over.signal);
  return {
    position: () => position,
    join(ear) {
      ears.add(ear);
      return () => void ears.delete(ear);
    },
    recent: (after) => ring.after(after),
    frame,
    begun,
    close: () => over.abort(),
  };
}
