/** One entry of the journal as it goes out to listeners: made once, whoever gets it. */

import type { Header } from "../../journal/entry.ts";
import { isJsonObject, type Json } from "../../kernel/json.ts";
import { findStreamRef, type StreamKind, type StreamRef, streamName } from "../../kernel/stream.ts";
import { type JournalRecord, parseRecord } from "../../runtime/journal.ts";
import type { Runtime } from "../../runtime/runtime.ts";
import type { JournalEntry } from "../../stores/store.ts";
import { time } from "../wire.ts";

export type Frame = {
  readonly position: number;
  readonly kind: StreamKind;
  /** The workflow that it is about; null where it is about none. */
  readonly workflow: string | null;
  readonly type: string;
  /** Made when somebody wants it, once: most entries are handed to nobody. */
  readonly record: () => JournalRecord;
  readonly text: () => string;
  /** About as many characters as its text has. */
  readonly size: number;
};

type Place = Pick<Runtime, "store" | "tenant">;
/** What is forgotten is read again from the stream's first entry. */
const MOST_KNOWN = 10_000;

const textOf = (value: Json | undefined): string | undefined =>
  typeof value === "string" ? value : undefined;

/** The workflow that a stream's first entry names, or the stream that would know. */
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

/** A body is kept as JSON on one line, and goes out as it is. */
function textOfEntry(
  data: { readonly position: number; readonly type: string },
  body: string | null,
): string {
  const fields = JSON.stringify(data).slice(0, -1);
  return `id: ${data.position}\nevent: ${data.type}\ndata: ${fields},"body":${body ?? "null"}}\n\n`;
}

/** At once, where it is known which workflow it is about. Nothing of a kind of stream that only a newer server knows. */
export type Framer = (entry: JournalEntry) => Frame | Promise<Frame> | undefined;

/** Nothing in such a body names a workflow, or leads to one. */
const isAboutNone = (body: string | null): boolean =>
  body === null || !/"(?:within|subject|workflow|action)":/.test(body);

function frameOf(entry: JournalEntry, header: Header, kind: StreamKind, workflow: string | null): Frame {
  const { stream, seq, type, at } = header;
  const { position, hash } = entry;
  const text = () => {
    const data = { position, stream, seq, type, at: time(at), hash, workflow_id: workflow };
    return textOfEntry(data, entry.body);
  };
  const size = entry.header.length + (entry.body?.length ?? 0);
  return { position, kind, workflow, type, record: once(() => parseRecord(entry)), text: once(text), size };
}

export function createFramer(place: Place): Framer {
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
  function workflowNow(
    { stream, seq }: Header,
    ref: StreamRef,
    body: string | null,
  ): string | null | undefined {
    if (ref.kind === "workflow") return ref.id;
    if (seq === 1 && isAboutNone(body)) return keep(stream, null);
    return known.get(stream);
  }

  return (entry) => {
    const header = JSON.parse(entry.header) as Header;
    const ref = findStreamRef(header.stream);
    if (ref === undefined) return undefined;
    const workflow = workflowNow(header, ref, entry.body);
    if (workflow !== undefined) return frameOf(entry, header, ref.kind, workflow);
    return workflowOf(ref).then((found) => frameOf(entry, header, ref.kind, found));
  };
}

export async function framesOf(frame: Framer, page: readonly JournalEntry[]): Promise<readonly Frame[]> {
  const frames: Frame[] = [];
  for (const entry of page) {
    const made = frame(entry);
    const known = made instanceof Promise ? await made : made;
    if (known !== undefined) frames.push(known);
  }
  return frames;
}
