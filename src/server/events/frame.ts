/** One entry of the journal as it goes out to listeners: made once, whoever gets it. */
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
  readonly record: JournalRecord;
  readonly text: string;
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
    const record = recordOf(entry);
    const ref = streamRef(record.stream);
    const isFirst = record.seq === 1 && ref.kind !== "workflow";
    const workflow = isFirst ? keep(record.stream, await follow(record.body, ref)) : await workflowOf(ref);
    const { position, stream, seq, type, hash, body } = record;
    const data = { position, stream, seq, type, at: time(record.at), hash, workflow_id: workflow, body };
    const text = `id: ${position}\nevent: ${type}\ndata: ${JSON.stringify(data)}\n\n`;
    return { position, kind: ref.kind, workflow, record, text };
  };
}
