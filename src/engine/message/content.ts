/** What a message says: read from the entries that it is about, every time it is sent. */

import { type Said, sayingOf } from "../../core/message/announced.ts";
import type { LiveMessage } from "../../core/message/message-state.ts";
import { isJsonObject, type JsonObject } from "../../kernel/json.ts";
import { parseStreamRef, type StreamRef } from "../../kernel/stream.ts";
import type { Runtime } from "../../runtime/runtime.ts";
import type { JournalEntry } from "../../stores/store.ts";

type Place = Pick<Runtime, "store" | "tenant">;

export type Content = Said & {
  readonly type: string;
  /** When it happened. */
  readonly at: number;
  readonly ref: StreamRef;
};

type Entry = { readonly at: number; readonly body: JsonObject };

function opened({ body: text, header }: JournalEntry): Entry | undefined {
  if (text === null) return undefined;
  const body: unknown = JSON.parse(text);
  const { at } = JSON.parse(header) as { readonly at: number };
  return isJsonObject(body) ? { at, body } : undefined;
}

async function entryOf({ store, tenant }: Place, ref: StreamRef, seq: number): Promise<Entry | undefined> {
  const [found] = await store.read(tenant, ref, { fromSeq: seq, limit: 1 });
  return found === undefined ? undefined : opened(found);
}

const PAGE = 100;
const typeOf = ({ header }: JournalEntry) => (JSON.parse(header) as { readonly type: string }).type;

/** The last entry up to one in which the arguments became others; undefined where they never did. */
async function revisionUpTo(
  { store, tenant }: Place,
  ref: StreamRef,
  upTo: number,
): Promise<JournalEntry | undefined> {
  if (ref.kind !== "action" && ref.kind !== "approval") return undefined;
  let last: JournalEntry | undefined;
  for (let fromSeq = 2; fromSeq <= upTo; fromSeq += PAGE) {
    const limit = Math.min(PAGE, upTo - fromSeq + 1);
    const page = await store.read(tenant, ref, { fromSeq, limit });
    last = page.findLast((entry) => typeOf(entry) === `${ref.kind}.revised`) ?? last;
  }
  return last;
}

/** Undefined when an entry that it is about was erased. */
export async function contentOf(
  place: Place,
  { type, source, madeAt }: Pick<LiveMessage, "type" | "source" | "madeAt">,
): Promise<Content | undefined> {
  const ref = parseStreamRef(source.stream);
  const first = await entryOf(place, ref, 1);
  const told = source.seq === 1 ? first : await entryOf(place, ref, source.seq);
  if (first === undefined || told === undefined) return undefined;
  const revision = await revisionUpTo(place, ref, source.seq);
  const revised = revision === undefined ? first : opened(revision);
  if (revised === undefined) return undefined;
  const said = sayingOf(type, ref, { first: first.body, body: told.body, revised: revised.body });
  const at = type === "endpoint.tested" ? madeAt : told.at;
  return said === undefined ? undefined : { ...said, type, at, ref };
}

/** What there is a page of. */
const PAGES: { readonly [kind: string]: string } = { action: "actions", approval: "approvals" };

/** Opens a page. Nothing is ever decided by following it. */
export function linkTo(publicUrl: string | null, { kind, id }: StreamRef): string | null {
  const page = PAGES[kind];
  return publicUrl === null || page === undefined ? null : `${publicUrl}/${page}/${encodeURIComponent(id)}`;
}
