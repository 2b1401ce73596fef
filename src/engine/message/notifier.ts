/**
 * Reads the log from where it was left and makes a message of every entry that somebody wants to hear of.
 *
 * O1. An endpoint is told of entries after the one by which it was added, whoever reads them and whenever.
 * O2. Reading an entry again makes no second message: the place need not be kept with each.
 * O3. No place is kept behind an entry that cannot be read here: a newer process may have something to tell of it.
 */

import { ANNOUNCED } from "../../core/message/announced.ts";
import { wants } from "../../core/message/endpoint-state.ts";
import { dropMessage, makeMessages, messageId, type NewMessage } from "../../core/message/message.ts";
import { keepNotifier } from "../../core/message/place.ts";
import { APPROVERS, recipientsOf, toldOf } from "../../core/message/recipients.ts";
import type { JsonObject } from "../../kernel/json.ts";
import { approvalStream, NOTIFIER, parseStreamRef, ROSTER, type StreamRef } from "../../kernel/stream.ts";
import type { Draft } from "../../kernel/transaction.ts";
import { isUnreadable } from "../../runtime/lists.ts";
import type { Runtime } from "../../runtime/runtime.ts";
import { readState, runCommand } from "../../runtime/store-access.ts";
import type { JournalEntry, StoreChanges } from "../../stores/store.ts";
import { canFoldEvent, type EventIdentity } from "../../streams.ts";

import { isMeant } from "./hand-intent.ts";
import { endpointsOn, type KnownEndpoint, OUTBOXES, type Places } from "./known-endpoints.ts";

const PAGE = 500;
const KEEP_AFTER = 500;

type Header = EventIdentity & { readonly seq: number; readonly at: number };

export type Notifier = {
  /** Everything that was committed by now. Answers whether there may be something to send. */
  readOn(signal: AbortSignal): Promise<boolean>;
  /** Back to the place that was kept, or to where the first endpoint was added. */
  begin(): Promise<void>;
  keep(): Promise<void>;
  /** Told what moved since it last read on: where nobody is told anything, it need not be read. */
  passOver(moved: StoreChanges): void;
  endpoints(): readonly KnownEndpoint[];
};

type Announced = {
  readonly header: Header;
  readonly body: JsonObject;
  readonly hash: string;
  readonly position: number;
};

async function receiversOf(
  runtime: Runtime,
  { target, owner }: KnownEndpoint,
  { header, body }: Announced,
): Promise<readonly (string | null)[]> {
  const ref = parseStreamRef(header.stream);
  if (!(await isMeant(runtime, owner, ref))) return [];
  if (target.kind === "webhook") return [null];
  const asked =
    target.to.includes(APPROVERS) && ref.kind === "approval"
      ? await readState(runtime, approvalStream(ref.id))
      : undefined;
  const roster = await readState(runtime, ROSTER);
  const isNobody = asked === undefined || asked.status === "none";
  const approvers = isNobody ? [] : toldOf(asked, roster, { type: header.type, body });
  return recipientsOf(roster, target.to, approvers);
}

async function announce(
  runtime: Runtime,
  endpoints: readonly KnownEndpoint[],
  entry: Announced,
): Promise<void> {
  const { header, hash, position } = entry;
  const { stream, type, seq, at } = header;
  const told = endpoints.filter((one) => position > one.since && wants(one, type));
  const messages: NewMessage[] = [];
  for (const endpoint of told)
    for (const to of await receiversOf(runtime, endpoint, entry)) {
      const { id } = endpoint;
      const message = messageId({ hash, at }, id, to);
      messages.push({ message, endpoint: id, type, source: { stream, seq }, to });
    }
  if (messages.length > 0) await runCommand(runtime, {}, (draft) => makeMessages(draft, messages));
}

/** Nobody waits any more for what an endpoint that was removed had not got. */
async function dropAll(runtime: Runtime, endpoint: string): Promise<void> {
  const { store, tenant } = runtime;
  const drop = (message: string) => (draft: Draft) =>
    dropMessage(draft, { message, reason: "its endpoint was removed" });
  for (const view of OUTBOXES) {
    for (let isMore = true; isMore; ) {
      const rows = await store.query(tenant, { view, bucket: endpoint, limit: PAGE });
      for (const { stream } of rows) await runCommand(runtime, {}, drop(stream.id));
      isMore = rows.length === PAGE;
    }
  }
}

type Desk = {
  readonly runtime: Runtime;
  readonly places: Places;
  endpoints: readonly KnownEndpoint[];
  /** The last entry that was looked at. */
  position: number;
  /** Entries since the place was kept. */
  unkept: number;
  /** The place before the first entry that cannot be read here. */
  readable: number | null;
};

/** Answers whether there may be something to send. */
async function see(desk: Desk, entry: JournalEntry): Promise<boolean> {
  const { runtime, places } = desk;
  const header = JSON.parse(entry.header) as Header;
  if (!canFoldEvent(header)) {
    desk.readable ??= desk.position;
    return false;
  }
  const { kind, id } = parseStreamRef(header.stream);
  if (kind === "notifier") return false;
  // Where nobody is told anything, no place need be kept.
  if (desk.endpoints.length > 0 || kind === "endpoint") desk.unkept++;
  if (kind === "message") return true;
  if (kind === "endpoint") {
    desk.endpoints = await endpointsOn(runtime, places);
    if (header.type === "endpoint.removed") await dropAll(runtime, id);
    return true;
  }
  const { endpoints } = desk;
  if (entry.body === null || !ANNOUNCED.has(header.type) || endpoints.length === 0) return false;
  const { hash, position } = entry;
  await announce(runtime, endpoints, { header, hash, position, body: JSON.parse(entry.body) as JsonObject });
  return true;
}

async function seeOrLeave(desk: Desk, entry: JournalEntry): Promise<boolean> {
  try {
    return await see(desk, entry);
  } catch (error) {
    if (!isUnreadable(error)) throw error;
    desk.readable ??= desk.position;
    return false;
  }
}

/** Where nobody is told anything, only that changes anything; most entries need not be looked at closer. */
function isPassedOver({ endpoints }: Desk, { header }: JournalEntry): boolean {
  return endpoints.length === 0 && !/"(?:endpoint|message)\//.test(header);
}

const isHeeded = ({ kind }: StreamRef): boolean => kind === "endpoint" || kind === "message";

async function keep(desk: Desk): Promise<void> {
  if (desk.unkept === 0) return;
  const place = desk.readable ?? desk.position;
  await runCommand(desk.runtime, { write: [NOTIFIER] }, (draft) => {
    draft.append(NOTIFIER, keepNotifier(draft.state(NOTIFIER), place));
    return { kind: "kept" as const };
  });
  desk.unkept = 0;
}

async function readPage(desk: Desk, page: readonly JournalEntry[], signal: AbortSignal): Promise<boolean> {
  let isNews = false;
  for (const entry of page) {
    if (signal.aborted) return isNews;
    if (!isPassedOver(desk, entry) && (await seeOrLeave(desk, entry))) isNews = true;
    desk.position = entry.position;
  }
  if (desk.unkept >= KEEP_AFTER) await keep(desk);
  return isNews;
}

export function createNotifier(runtime: Runtime): Notifier {
  const { store, tenant } = runtime;
  const desk: Desk = { runtime, places: new Map(), endpoints: [], position: 0, unkept: 0, readable: null };
  return {
    keep: () => keep(desk),
    endpoints: () => desk.endpoints,
    passOver({ position, streams }) {
      const isNobodyTold = desk.endpoints.length === 0 && desk.unkept === 0;
      if (isNobodyTold && !streams.some((move) => move.tenant === tenant && isHeeded(move.stream)))
        desk.position = Math.max(desk.position, position);
    },
    async begin() {
      const { position: kept } = await readState(runtime, NOTIFIER);
      // Before the list: an endpoint that comes in between is met in the log.
      const end = await store.position();
      desk.endpoints = await endpointsOn(runtime, desk.places);
      desk.position = kept ?? Math.min(end, ...desk.endpoints.map(({ since }) => since));
      desk.unkept = 0;
      desk.readable = null;
    },
    async readOn(signal) {
      let isNews = false;
      while (!signal.aborted) {
        const page = await store.log(tenant, desk.position, PAGE);
        if (await readPage(desk, page, signal)) isNews = true;
        if (page.length < PAGE) break;
      }
      return isNews;
    },
  };
}
