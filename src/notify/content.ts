/** Content of a message, read from its entries each time it is sent; the card in a mail; and the input of a channel. */

import { readActionDocument, readCard } from "../approvals/card.ts";
import { approvalDocument } from "../approvals/card-document.ts";
import { isJsonObject, type JsonObject } from "../kernel/json.ts";
import { parseStreamRef, type StreamRef } from "../kernel/stream.ts";
import type { CardDocument } from "../kernel/terminal.ts";
import type { Runtime } from "../runtime/runtime.ts";
import type { JournalEntry, TenantStore } from "../stores/store.ts";
import { type AnnouncementText, announcementOf } from "./rules/announced-events.ts";
import type { DeliverySettings } from "./settings.ts";
import type { LiveMessage } from "./stream.ts";

export type MessageContent = AnnouncementText & {
  readonly type: string;
  /** When the event happened. */
  readonly at: number;
  readonly ref: StreamRef;
};

type Entry = { readonly at: number; readonly body: JsonObject };

function parseEntry({ body: text, header }: JournalEntry): Entry | undefined {
  if (text === null) return undefined;
  const body: unknown = JSON.parse(text);
  const { at } = JSON.parse(header) as { readonly at: number };
  return isJsonObject(body) ? { at, body } : undefined;
}

async function readEntry(
  { store, tenant }: TenantStore,
  ref: StreamRef,
  seq: number,
): Promise<Entry | undefined> {
  const [found] = await store.read(tenant, ref, { fromSeq: seq, limit: 1 });
  return found === undefined ? undefined : parseEntry(found);
}

const PAGE = 100;
const typeOf = ({ header }: JournalEntry) => (JSON.parse(header) as { readonly type: string }).type;

/** The last entry up to `upTo` that changed the arguments; undefined if there is none. */
async function lastRevisionUpTo(
  { store, tenant }: TenantStore,
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

/** undefined if one of its entries was erased. */
export async function loadMessageContent(
  place: TenantStore,
  { type, source, madeAt }: Pick<LiveMessage, "type" | "source" | "madeAt">,
): Promise<MessageContent | undefined> {
  const ref = parseStreamRef(source.stream);
  const first = await readEntry(place, ref, 1);
  const told = source.seq === 1 ? first : await readEntry(place, ref, source.seq);
  if (first === undefined || told === undefined) return undefined;
  const revision = await lastRevisionUpTo(place, ref, source.seq);
  const revised = revision === undefined ? first : parseEntry(revision);
  if (revised === undefined) return undefined;
  const said = announcementOf(type, ref, { first: first.body, body: told.body, revised: revised.body });
  const at = type === "endpoint.tested" ? madeAt : told.at;
  return said === undefined ? undefined : { ...said, type, at, ref };
}

/** Kinds of streams that have a page. */
const PAGES: { readonly [kind: string]: string } = { action: "actions", approval: "approvals" };

/** Opens a page. Following the link never decides anything. */
export function linkToPage(publicUrl: string | null, { kind, id }: StreamRef): string | null {
  const page = PAGES[kind];
  return publicUrl === null || page === undefined ? null : `${publicUrl}/${page}/${encodeURIComponent(id)}`;
}

/**
 * Lines of text as a terminal shows them: everything visible, with an agent's own words marked as such. `where`: flags
 * of the commands shown with it. Without it, no commands are shown.
 */
export type RenderCard = (document: CardDocument, now: number, where?: string) => readonly string[];

/** The card of what a message is about. Without one, its facts. */
export async function loadDocument(
  runtime: Runtime,
  { ref, data, type }: Pick<MessageContent, "ref" | "data" | "type">,
): Promise<CardDocument> {
  if (ref.kind === "approval") return approvalDocument((await readCard(runtime, ref.id)).facts);
  if (ref.kind === "action") return readActionDocument(runtime, ref.id);
  const sections = { "What happened": { facts: { value: data } } };
  return { title: `${ref.kind} ${ref.id}`, badge: { text: type, tone: "bold" }, sections, next: [] };
}

export type DeliveryContext = {
  readonly runtime: Runtime;
  readonly settings: DeliverySettings;
  readonly render: RenderCard;
};

export type DroppedOutcome = { readonly kind: "dropped"; readonly reason: string };
export type SendJob = { readonly id: string; readonly state: LiveMessage; readonly now: number };
