/** Content of a message, read from its entries each time it is sent; the card in a mail; and the input of a channel. */

import type { Approval } from "../approvals/contract.ts";
import { getApproval } from "../approvals/read.ts";
import { getAction, getReceipt } from "../effects/actions.ts";
import type { Action } from "../effects/contract.ts";
import type { Receipt } from "../effects/rules/receipt.ts";
import { HoldpointError } from "../kernel/errors.ts";
import { isJsonObject, type Json, type JsonObject } from "../kernel/json.ts";
import { parseStreamRef, type StreamRef } from "../kernel/stream.ts";
import { loadPolicyNames, type PolicyNames } from "../policy/versions.ts";
import type { Runtime } from "../runtime/runtime.ts";
import type { JournalEntry, TenantStore } from "../stores/store.ts";
import { getWorkflow, readSnapshot } from "../workflows/read.ts";
import { readTimeline } from "../workflows/timeline.ts";
import type { TimelineRow, WorkflowDetails } from "../workflows/views.ts";
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

export type CardContent =
  | {
      readonly kind: "action";
      readonly approval: Approval | undefined;
      readonly action: Action;
      readonly receipt: Receipt | undefined;
      readonly policies: PolicyNames;
    }
  | { readonly kind: "question"; readonly approval: Approval; readonly workflow: WorkflowDetails }
  | {
      readonly kind: "checkpoint";
      readonly approval: Approval;
      readonly workflow: WorkflowDetails;
      readonly rows: readonly TimelineRow[];
      readonly snapshot: JsonObject | undefined;
    }
  | { readonly kind: "intent"; readonly approval: Approval }
  | { readonly kind: "facts"; readonly facts: JsonObject };

/**
 * Lines of text as a terminal shows them: everything visible, with an agent's own words marked as such. `where`: flags
 * of the commands shown with it. Without it, no commands are shown.
 */
export type RenderCard = (shown: CardContent, now: number, where?: string) => readonly string[];

async function actionCard(
  runtime: Runtime,
  id: string,
  approval: Approval | undefined,
): Promise<CardContent> {
  const action = await getAction(runtime, id);
  const receipt = await getReceipt(runtime, id);
  return { kind: "action", approval, action, receipt, policies: await loadPolicyNames(runtime) };
}

/** undefined if it is not available: people can decide without it. */
export async function snapshotUnlessGone(opened: Promise<Json>): Promise<JsonObject | undefined> {
  try {
    const snapshot = await opened;
    return isJsonObject(snapshot) ? snapshot : undefined;
  } catch (error) {
    if (error instanceof HoldpointError) return undefined;
    throw error;
  }
}

async function approvalCard(runtime: Runtime, id: string): Promise<CardContent> {
  const approval = await getApproval(runtime, id);
  const { about, action, workflow: within } = approval;
  if (action !== null) return actionCard(runtime, action, approval);
  if (about === "intent" || within === null) return { kind: "intent", approval };
  const workflow = await getWorkflow(runtime, within);
  if (about === "question") return { kind: "question", approval, workflow };
  const rows = await readTimeline(runtime, within);
  const name = rows.findLast(({ ref }) => ref === id)?.checkpoint?.snapshot.id ?? String(approval.op);
  const snapshot = await snapshotUnlessGone(readSnapshot(runtime, within, name));
  return { kind: "checkpoint", approval, workflow, rows, snapshot };
}

export async function loadCardContent(
  runtime: Runtime,
  { ref, data }: Pick<MessageContent, "ref" | "data">,
): Promise<CardContent> {
  if (ref.kind === "approval") return approvalCard(runtime, ref.id);
  if (ref.kind === "action") return actionCard(runtime, ref.id, undefined);
  return { kind: "facts", facts: data };
}

export type DeliveryContext = {
  readonly runtime: Runtime;
  readonly settings: DeliverySettings;
  readonly render: RenderCard;
};

export type DroppedOutcome = { readonly kind: "dropped"; readonly reason: string };
export type SendJob = { readonly id: string; readonly state: LiveMessage; readonly now: number };
