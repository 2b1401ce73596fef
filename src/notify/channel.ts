/**
 * The port of a channel: how messages get to one kind of target. A channel is one file, and its name in
 * `channels.ts`; `npm run generate` writes its words for the terminal and the desk.
 * Also the content of a message, read from its entries each time it is sent, and the parts that chats share: what a message says,
 * in plain texts that are cut to a chat's limits.
 * - Nothing that an agent, a tool or a person wrote is formatted, linked or expanded: it is shown as it is.
 * - What is cut says how much.
 */
import type { z } from "zod";
import { readActionDocument, readCard } from "../approvals/card.ts";
import { approvalDocument } from "../approvals/card-document.ts";
import { isJsonObject, type Json, type JsonObject } from "../kernel/json.ts";
import { parseStreamRef, type StreamRef } from "../kernel/stream.ts";
import type { CardDocument } from "../kernel/terminal.ts";
import { visible, visibleJson } from "../kernel/text.ts";
import type { Runtime } from "../runtime/runtime.ts";
import type { JournalEntry, TenantStore } from "../stores/store.ts";
import { postOutcome, postSafely } from "./post.ts";
import { type AnnouncementText, announcementOf } from "./rules/announced-events.ts";
import type { SendOutcome } from "./rules/message.ts";
import type { DeliverySettings } from "./settings.ts";
import { type EndpointTarget, type LiveEndpoint, type LiveMessage, signingSecretsAt } from "./stream.ts";

export type MessageContent = AnnouncementText & {
  readonly type: string;
  /** When the event happened. */
  readonly at: number;
  readonly ref: StreamRef;
};

type Entry = { readonly at: number; readonly body: JsonObject };

function parseEntry({ body: text, at }: JournalEntry): Entry | undefined {
  if (text === null) return undefined;
  const body: unknown = JSON.parse(text);
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
    last = page.findLast((entry) => entry.type === `${ref.kind}.revised`) ?? last;
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

export type Delivery = {
  readonly job: SendJob;
  readonly endpoint: LiveEndpoint;
  readonly content: MessageContent;
};

export type Channel = {
  /** Also the scheme of an address by name: `slack://prod`. The journal has it, so it never changes. */
  readonly kind: EndpointTarget["kind"];
  readonly title: string;
  /** An address that is shown, and whose messages are signed; one that is a secret itself; or people, which only mail has. */
  readonly address: "shown" | "secret" | "people";
  /** An address, as it is typed, and what it is. */
  readonly example: string;
  readonly hint: string;
  /** What the journal and lists hold of a target. */
  readonly target: z.ZodType<EndpointTarget>;
  /** Hosts whose addresses are this channel's unless another kind is named. */
  readonly hosts?: RegExp;
  /** Default: always. */
  readonly canSend?: (settings: DeliverySettings) => boolean;
  send(context: DeliveryContext, delivery: Delivery): Promise<SendOutcome | DroppedOutcome>;
};

/** A message for people in a chat, each part as plain text. */
export type ChatMessage = {
  readonly title: string;
  readonly type: string;
  readonly at: number;
  readonly fields: readonly { readonly label: string; readonly value: string }[];
  /** What an agent or a person wrote, with a label that says so. */
  readonly words: readonly { readonly label: string; readonly text: string }[];
  /** Opens a page. It decides nothing. */
  readonly link: string | null;
};

const FIELDS: readonly (readonly [name: string, label: string])[] = [
  ["agent", "Agent"],
  ["tool", "Tool"],
  ["effect_class", "Effect class"],
  ["requester", "On behalf of"],
  ["rule", "Rule"],
  ["reason", "Reason"],
  ["by", "By"],
  ["decision_reason", "Reason of the decision"],
  ["decide_by", "Decide by"],
  ["execute_by", "Execute by"],
  ["stage", "Stage"],
  ["monitor", "Monitor"],
  ["severity", "Severity"],
  ["subject", "Subject"],
  ["name", "Name"],
  ["workflow", "Workflow"],
  ["intent_type", "Type"],
  ["from", "From"],
  ["to", "To"],
  ["deadline", "Deadline"],
  ["status", "Status"],
  ["code", "Code"],
  ["scope", "Scope"],
  ["budget", "Budget"],
  ["amount", "Amount"],
];

const WORDS: readonly (readonly [name: string, label: string])[] = [
  ["rationale", "The agent says"],
  ["arguments", "Arguments, as the agent gave them"],
  ["undo", "Undo, as the agent named it"],
  ["comment", "Comment, as it was written"],
  ["payload", "Payload, as its sender gave it"],
  ["says", "The monitor says"],
  ["figures", "Figures"],
  ["data", "Answer, as it was given"],
  ["result", "Result"],
];

const isEmpty = (value: Json | undefined): boolean =>
  value === undefined || value === null || value === "" || (Array.isArray(value) && value.length === 0);

function fieldText(value: Json): string {
  if (Array.isArray(value)) return value.map(fieldText).join(", ");
  return typeof value === "string" ? visible(value) : visible(JSON.stringify(value));
}

/** Each line is marked, so that it cannot be taken for ours. */
function quotedText(value: Json): string {
  const lines =
    typeof value === "string"
      ? value.split("\n").map(visible)
      : visibleJson(JSON.stringify(value, null, 2)).split("\n");
  return lines.map((line) => `│ ${line}`).join("\n");
}

export function chatMessage(content: MessageContent, publicUrl: string | null): ChatMessage {
  const { title, type, at, ref, data } = content;
  const given = ([name]: readonly [string, string]) => !isEmpty(data[name]);
  const { approvers } = data;
  const asked = isJsonObject(approvers) ? (approvers["from"] ?? null) : null;
  return {
    title,
    type,
    at,
    fields: [
      ...FIELDS.filter(given).map(([name, label]) => ({ label, value: fieldText(data[name] ?? null) })),
      ...(isEmpty(asked) ? [] : [{ label: "Asked", value: fieldText(asked) }]),
    ],
    words: WORDS.filter(given).map(([name, label]) => ({ label, text: quotedText(data[name] ?? null) })),
    link: linkToPage(publicUrl, ref),
  };
}

/** At most so many UTF-16 units, with the number of those that are left out. */
export function cutText(text: string, most: number): string {
  if (text.length <= most) return text;
  const note = (left: number) => `… (${left} more characters)`;
  const kept = most - note(text.length).length;
  // A surrogate pair is kept whole or left out.
  const end = /[\uD800-\uDBFF]/.test(text.charAt(kept - 1)) ? kept - 1 : kept;
  return `${text.slice(0, end)}${note(text.length - end)}`;
}

/** At most so many items, with a last one that says how many are left out. */
export function cutList<Item>(
  items: readonly Item[],
  most: number,
  rest: (left: number) => Item,
): readonly Item[] {
  if (items.length <= most) return items;
  return [...items.slice(0, most - 1), rest(items.length - most + 1)];
}

/** Posts to the address that is the endpoint's secret. */
export async function postToSecretAddress(
  { runtime, settings }: DeliveryContext,
  { job, endpoint }: Delivery,
  payload: unknown,
): Promise<SendOutcome> {
  const [handle] = signingSecretsAt(endpoint, job.now);
  if (handle === undefined) return { kind: "failed", status: null, problem: "secret_missing" };
  const url = await runtime.secrets.resolve(handle);
  const headers = { "content-type": "application/json", "user-agent": "holdpoint" };
  const answer = await postSafely({ ...settings, url, headers, body: JSON.stringify(payload) });
  return postOutcome(answer, job.now);
}
