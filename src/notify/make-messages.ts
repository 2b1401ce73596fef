/**
 * Reads the log from the stored position, and makes a message of every entry that an endpoint subscribes to.
 * - An endpoint gets entries after the one that added it. Reading an entry again makes no second message.
 * - No position is stored past an entry that cannot be read here: a newer process may have to announce it.
 * - An agent's endpoint gets only that agent's intents, sent by it or to it, and no other agent's approvals by intent.
 */

import type { JsonObject } from "../kernel/json.ts";
import {
  actionStream,
  approvalStream,
  canFoldEvent,
  intentStream,
  NOTIFIER,
  parseStreamRef,
  ROSTER,
  type StreamRef,
  workflowStream,
} from "../kernel/stream.ts";
import type { Draft } from "../kernel/transaction.ts";
import { eachRow, isUnreadable, skipUnreadable } from "../runtime/lists.ts";
import type { Runtime } from "../runtime/runtime.ts";
import { readState, runCommand } from "../runtime/store-access.ts";
import type { Subscriber } from "../runtime/subscribe.ts";
import type { JournalEntry, TenantStore } from "../stores/store.ts";
import { FOLDS } from "../streams.ts";
import { ANNOUNCED_EVENTS } from "./rules/announced-events.ts";
import { APPROVERS_RECIPIENT, peopleToNotify, resolveRecipients } from "./rules/endpoint.ts";
import { dropMessage, makeMessageId, makeMessages, moveNotifier, type NewMessage } from "./rules/message.ts";
import { type EndpointTarget, endpointAddress, wantsEvent } from "./stream.ts";

type TenantStoreAndClock = Pick<Runtime, "store" | "tenant" | "clock">;

/** The intent that a stream is about: the stream itself, or the subject of its approval. */
async function intentOfStream(place: TenantStoreAndClock, ref: StreamRef): Promise<string | undefined> {
  if (ref.kind === "intent") return ref.id;
  if (ref.kind !== "approval") return undefined;
  const asked = await readState(place, approvalStream(ref.id));
  return asked.status !== "none" && asked.subject?.kind === "intent" ? asked.subject.intent : undefined;
}

/** Whether an endpoint may get messages about the stream. */
async function mayHearOf(place: TenantStoreAndClock, owner: string, ref: StreamRef): Promise<boolean> {
  if (!owner.startsWith("agent:")) return true;
  const intent = await intentOfStream(place, ref);
  if (intent === undefined) return true;
  const state = await readState(place, intentStream(intent));
  return state.status !== "none" && (state.to === owner || state.from === owner);
}

export type ActiveEndpoint = {
  readonly id: string;
  readonly name: string;
  readonly target: EndpointTarget;
  readonly events: readonly string[];
  readonly owner: string;
  /** Position at which it was added. */
  readonly since: number;
};

/** A waiting message is in exactly one of them. */
export const OUTBOXES = ["outbox", "outbox_again"] as const;

/** The position at which an endpoint was added never changes: read once. */
type AddedPositions = Map<string, number>;

async function positionWhenAdded(
  { store, tenant }: TenantStore,
  id: string,
  known: AddedPositions,
): Promise<number> {
  const found = known.get(id);
  if (found !== undefined) return found;
  const [first] = await store.read(tenant, { kind: "endpoint", id }, { limit: 1 });
  const position = first?.position ?? 0;
  known.set(id, position);
  return position;
}

async function listActiveEndpoints(
  place: TenantStore,
  known: AddedPositions,
): Promise<readonly ActiveEndpoint[]> {
  const found: ActiveEndpoint[] = [];
  for await (const { stream, data } of eachRow(place, { view: "endpoints", bucket: "on" })) {
    const { name, target, events, owner } = data as unknown as ActiveEndpoint;
    found.push({
      id: stream.id,
      name,
      target,
      events,
      owner,
      since: await positionWhenAdded(place, stream.id, known),
    });
  }
  return found;
}

const PAGE = 500;
const KEEP_AFTER = 500;

type AnnouncedStreamEntry = Pick<JournalEntry, "stream" | "type" | "seq" | "at" | "hash" | "position"> & {
  readonly body: JsonObject;
};

async function receiversOfEntry(
  runtime: Runtime,
  { target, owner }: ActiveEndpoint,
  { stream, type, body }: AnnouncedStreamEntry,
): Promise<readonly (string | null)[]> {
  const ref = parseStreamRef(stream);
  if (!(await mayHearOf(runtime, owner, ref))) return [];
  if (target.kind !== "mail") return [null];
  const asked =
    target.to.includes(APPROVERS_RECIPIENT) && ref.kind === "approval"
      ? await readState(runtime, approvalStream(ref.id))
      : undefined;
  const roster = await readState(runtime, ROSTER);
  const isNobody = asked === undefined || asked.status === "none";
  const approvers = isNobody ? [] : peopleToNotify(asked, roster, { type, body });
  return resolveRecipients(roster, target.to, approvers);
}

/** The endpoint that the run named in which an approval is asked for: `slack://prod`. */
async function addressOfRun(place: TenantStoreAndClock, ref: StreamRef): Promise<string | undefined> {
  if (ref.kind !== "approval") return undefined;
  const asked = await readState(place, approvalStream(ref.id));
  if (asked.status === "none" || asked.subject?.kind === "intent") return undefined;
  const action = asked.subject === undefined ? await readState(place, actionStream(asked.action)) : undefined;
  const within = action === undefined || action.phase === "none" ? undefined : action.within?.workflow;
  const workflow = asked.subject?.workflow ?? within;
  if (workflow === undefined) return undefined;
  const state = await readState(place, workflowStream(workflow));
  return state.status === "none" ? undefined : state.notify;
}

/** Those that subscribe to it, and the one that its run named. */
async function endpointsToTell(
  runtime: Runtime,
  endpoints: readonly ActiveEndpoint[],
  { stream, type, position }: AnnouncedStreamEntry,
): Promise<readonly ActiveEndpoint[]> {
  const known = endpoints.filter(({ since }) => position > since);
  const told = known.filter((one) => wantsEvent(one, type));
  if (told.length === known.length) return told;
  // A stream that this version cannot read must not keep the entry from those that subscribe to it.
  const address = await skipUnreadable(addressOfRun(runtime, parseStreamRef(stream)));
  return known.filter((one) => told.includes(one) || endpointAddress(one) === address);
}

async function makeMessagesOfEntry(
  runtime: Runtime,
  endpoints: readonly ActiveEndpoint[],
  entry: AnnouncedStreamEntry,
): Promise<void> {
  const { stream, type, seq, at, hash } = entry;
  const told = await endpointsToTell(runtime, endpoints, entry);
  const messages: NewMessage[] = [];
  for (const endpoint of told)
    for (const to of await receiversOfEntry(runtime, endpoint, entry)) {
      const { id } = endpoint;
      const message = makeMessageId({ hash, at }, id, to);
      messages.push({ message, endpoint: id, type, source: { stream, seq }, to });
    }
  if (messages.length > 0) await runCommand(runtime, {}, (draft) => makeMessages(draft, messages));
}

/** Drops the undelivered messages of a removed endpoint. */
async function dropMessagesOf(runtime: Runtime, endpoint: string): Promise<void> {
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

type MakerState = {
  readonly runtime: Runtime;
  readonly places: AddedPositions;
  endpoints: readonly ActiveEndpoint[];
  /** Whether there may be something to send. */
  isNews: boolean;
  /** Position before the first entry that cannot be read here. */
  readable: number | null;
};

/** Returns whether the stored position has to follow: without endpoints, it need not. */
async function seeLogEntry(desk: MakerState, entry: JournalEntry): Promise<boolean> {
  const { runtime, places } = desk;
  const { kind, id } = parseStreamRef(entry.stream);
  if (kind === "notifier") return false;
  if (kind === "endpoint") {
    desk.endpoints = await listActiveEndpoints(runtime, places);
    if (entry.type === "endpoint.removed") await dropMessagesOf(runtime, id);
  }
  const { endpoints } = desk;
  const isAnnounced = entry.body !== null && ANNOUNCED_EVENTS.has(entry.type) && endpoints.length > 0;
  if (isAnnounced) {
    const { stream, type, seq, at, hash, position } = entry;
    const body = JSON.parse(entry.body ?? "null") as JsonObject;
    await makeMessagesOfEntry(runtime, endpoints, { stream, type, seq, at, hash, position, body });
  }
  if (isAnnounced || kind === "message" || kind === "endpoint") desk.isNews = true;
  return endpoints.length > 0 || kind === "endpoint";
}

/** Without endpoints, only entries of endpoints and messages matter. */
function isSkipped({ endpoints }: MakerState, { stream }: JournalEntry): boolean {
  return endpoints.length === 0 && !/^(?:endpoint|message)\//.test(stream);
}

/** What cannot be read here may have to be announced by a newer process: no position is stored past it. */
async function seeOrSkip(desk: MakerState, entry: JournalEntry, before: number): Promise<boolean> {
  if (isSkipped(desk, entry)) return false;
  try {
    if (canFoldEvent(FOLDS, entry)) return await seeLogEntry(desk, entry);
  } catch (error) {
    if (!isUnreadable(error)) throw error;
  }
  desk.readable ??= before;
  return false;
}

const isEndpointOrMessage = ({ kind }: StreamRef): boolean => kind === "endpoint" || kind === "message";

async function keepReadPosition({ runtime, readable }: MakerState, position: number): Promise<void> {
  await runCommand(runtime, { write: [NOTIFIER] }, (draft) => {
    draft.append(NOTIFIER, moveNotifier(draft.state(NOTIFIER), readable ?? position));
    return { kind: "kept" as const };
  });
}

/** The stored position, or where the first endpoint was added. */
async function beginMaking(desk: MakerState, end: number): Promise<number> {
  const { runtime, places } = desk;
  const { position } = await readState(runtime, NOTIFIER);
  // Read after the end of the log, so that an endpoint added in between is found in the log.
  desk.endpoints = await listActiveEndpoints(runtime, places);
  desk.isNews = true;
  desk.readable = null;
  return position ?? Math.min(end, ...desk.endpoints.map(({ since }) => since));
}

type MessageMaker = Pick<Subscriber, "entry" | "passesOver" | "kept"> & {
  endpoints(): readonly ActiveEndpoint[];
  /** Whether there may be something to send since the last call. */
  takeNews(): boolean;
};

export function createMessageMaker(runtime: Runtime): MessageMaker {
  const { broken } = runtime.history;
  const desk: MakerState = { runtime, places: new Map(), endpoints: [], isNews: false, readable: null };
  return {
    endpoints: () => desk.endpoints,
    takeNews() {
      const { isNews } = desk;
      desk.isNews = false;
      return isNews;
    },
    kept: {
      async read(end) {
        broken.throwIfAborted();
        return beginMaking(desk, end);
      },
      keep: (position) => keepReadPosition(desk, position),
      every: () => KEEP_AFTER,
    },
    async entry(entry, before) {
      broken.throwIfAborted();
      return seeOrSkip(desk, entry, before);
    },
    passesOver: (streams) => desk.endpoints.length === 0 && !streams.some(isEndpointOrMessage),
  };
}
