/**
 * Reads the log from where it was left and makes a message of every entry that somebody wants to hear of.
 *
 * O1. An endpoint is told of entries after the one by which it was added, whoever reads them and whenever.
 * O2. Reading an entry again makes no second message: the place need not be kept with each.
 */
import { ANNOUNCED } from "../../core/message/announced.ts";
import { wants } from "../../core/message/endpoint-state.ts";
import { dropMessage, makeMessages, messageId, type NewMessage } from "../../core/message/message.ts";
import { keepNotifier } from "../../core/message/place.ts";
import { APPROVERS, recipientsOf } from "../../core/message/recipients.ts";
import { approvalStream, NOTIFIER, ROSTER, type StreamRef, streamRef } from "../../core/stream.ts";
import type { JournalEntry } from "../../stores/store.ts";
import { readState } from "../read-state.ts";
import { runCommand } from "../run-command.ts";
import type { Runtime } from "../runtime.ts";
import { endpointsOn, type KnownEndpoint, type Places } from "./known-endpoints.ts";

const PAGE = 500;
const KEEP_AFTER = 500;

type Header = { readonly stream: string; readonly type: string; readonly seq: number; readonly at: number };

export type Notifier = {
  /** Everything that was committed by now. Answers whether there may be something to send. */
  readOn(signal: AbortSignal): Promise<boolean>;
  /** Back to the place that was kept, or to where the first endpoint was added. */
  begin(): Promise<void>;
  keep(): Promise<void>;
  endpoints(): readonly KnownEndpoint[];
};

async function receiversOf(
  runtime: Runtime,
  { target }: KnownEndpoint,
  ref: StreamRef,
): Promise<readonly (string | null)[]> {
  if (target.kind === "webhook") return [null];
  const asked =
    target.to.includes(APPROVERS) && ref.kind === "approval"
      ? await readState(runtime, approvalStream(ref.id))
      : undefined;
  const from = asked === undefined || asked.status === "none" ? [] : (asked.approvers.from ?? []);
  return recipientsOf(await readState(runtime, ROSTER), target.to, from);
}

async function announce(
  runtime: Runtime,
  endpoints: readonly KnownEndpoint[],
  { header, hash, position }: { readonly header: Header; readonly hash: string; readonly position: number },
): Promise<void> {
  const { stream, type, seq, at } = header;
  const told = endpoints.filter((one) => position > one.since && wants(one, type));
  const messages: NewMessage[] = [];
  for (const endpoint of told)
    for (const to of await receiversOf(runtime, endpoint, streamRef(stream))) {
      const { id } = endpoint;
      const message = messageId({ hash, at }, id, to);
      messages.push({ message, endpoint: id, type, source: { stream, seq }, to });
    }
  if (messages.length > 0) await runCommand(runtime, {}, (draft) => makeMessages(draft, messages));
}

/** Nobody waits any more for what an endpoint that was removed had not got. */
async function dropAll(runtime: Runtime, endpoint: string): Promise<void> {
  const query = { view: "outbox", bucket: endpoint, limit: PAGE };
  const command = { reason: "its endpoint was removed" };
  for (;;) {
    const rows = await runtime.store.query(runtime.tenant, query);
    for (const { stream } of rows)
      await runCommand(runtime, {}, (draft) => dropMessage(draft, { message: stream.id, ...command }));
    if (rows.length < PAGE) return;
  }
}

export function createNotifier(runtime: Runtime): Notifier {
  const { store, tenant } = runtime;
  const places: Places = new Map();
  let endpoints: readonly KnownEndpoint[] = [];
  let position = 0;
  let unkept = 0;

  async function see(entry: JournalEntry): Promise<boolean> {
    const header = JSON.parse(entry.header) as Header;
    const { kind, id } = streamRef(header.stream);
    if (kind === "notifier") return false;
    unkept++;
    if (kind === "message") return true;
    if (kind === "endpoint") {
      endpoints = await endpointsOn(runtime, places);
      if (header.type === "endpoint.removed") await dropAll(runtime, id);
      return true;
    }
    if (entry.body === null || !ANNOUNCED.has(header.type) || endpoints.length === 0) return false;
    await announce(runtime, endpoints, { header, hash: entry.hash, position: entry.position });
    return true;
  }

  async function keep(): Promise<void> {
    if (unkept === 0) return;
    await runCommand(runtime, { write: [NOTIFIER] }, (draft) => {
      draft.append(NOTIFIER, keepNotifier(draft.state(NOTIFIER), position));
      return { kind: "kept" as const };
    });
    unkept = 0;
  }

  /** Answers whether there may be something to send. */
  async function readPage(page: readonly JournalEntry[], signal: AbortSignal): Promise<boolean> {
    let isNews = false;
    for (const entry of page) {
      if (signal.aborted) return isNews;
      if (await see(entry)) isNews = true;
      position = entry.position;
    }
    if (unkept >= KEEP_AFTER) await keep();
    return isNews;
  }

  return {
    keep,
    endpoints: () => endpoints,
    async begin() {
      const { position: kept } = await readState(runtime, NOTIFIER);
      // Before the list: an endpoint that comes in between is met in the log.
      const end = await store.position();
      endpoints = await endpointsOn(runtime, places);
      position = kept ?? Math.min(end, ...endpoints.map(({ since }) => since));
      unkept = 0;
    },
    async readOn(signal) {
      let isNews = false;
      while (!signal.aborted) {
        const page = await store.log(tenant, position, PAGE);
        if (await readPage(page, signal)) isNews = true;
        if (page.length < PAGE) break;
      }
      return isNews;
    },
  };
}
