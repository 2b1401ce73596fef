/** One entry of the journal as it goes out to listeners: made once, whoever gets it. */
import type { Header } from "../../core/entry.ts";
import { isJsonObject, type Json } from "../../core/json.ts";
import { type StreamKind, type StreamRef, streamName, streamRef } from "../../core/stream.ts";
import { type JournalRecord, recordOf } from "../../engine/journal.ts";
import type { Runtime } from "../../engine/runtime.ts";
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

export type Framer = (entry: JournalEntry) => Promise<Frame>;

export function createFramer(place: Place): Framer {
  const known = new Map<string, string | null>();

  function keep(name: string, workflow: string | null): string | null {
    known.delete(name);
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
    if (ref.kind === "workflow") return ref.id;
    const name = streamName(ref);
    const found = known.get(name);
    if (found !== undefined) return keep(name, found);
    const [first] = await place.store.read(place.tenant, ref, { limit: 1 });
    const body = first?.body == null ? null : (JSON.parse(first.body) as Json);
    return keep(name, await follow(body, ref));
  }

  return async (entry) => {
    const { position } = entry;
    const { stream, seq, type, at } = JSON.parse(entry.header) as Header;
    const ref = streamRef(stream);
    const record = once(() => recordOf(entry));
    const isFirst = seq === 1 && ref.kind !== "workflow";
    const workflow = isFirst ? keep(stream, await follow(record().body, ref)) : await workflowOf(ref);
    const data = { position, stream, seq, type, at: time(at), hash: entry.hash, workflow_id: workflow };
    const text = once(() => textOfEntry(data, entry.body));
    const size = entry.header.length + (entry.body?.length ?? 0);
    return { position, kind: ref.kind, workflow, type, record, text, size };
  };
}
