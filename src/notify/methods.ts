/** Methods of messages and delivery: list, read and requeue messages; `deliver`. */

import { HoldpointError } from "../kernel/errors.ts";
import { checkFields, checkId, rejectInput } from "../kernel/fields.ts";
import type { Json } from "../kernel/json.ts";
import type { Via } from "../kernel/principal.ts";
import { checkVia } from "../kernel/said.ts";
import { messageStream } from "../kernel/stream.ts";
import { displayValue } from "../kernel/text.ts";
import { findIds, rowPage, rowSummary } from "../runtime/lists.ts";
import type { Runtime } from "../runtime/runtime.ts";
import type { Environment } from "../runtime/settings.ts";
import { readState, runCommand } from "../runtime/store-access.ts";
import type { TenantStore } from "../stores/store.ts";
import type { RenderCard } from "./content.ts";
import { checkOperator, type Endpoints, endpointMethods } from "./endpoints.ts";
import { requeueMessage } from "./rules/message.ts";
import { runDelivery } from "./send.ts";
import { type DeliveryOptions, deliverySettings } from "./settings.ts";
import { type LiveMessage, MESSAGE_STATUSES } from "./stream.ts";

export type Message = LiveMessage & { readonly id: string };
export type MessagePage = {
  /** Default: `any`. */
  readonly status?: LiveMessage["status"] | "any";
  readonly order?: "oldest" | "newest";
  readonly limit?: number;
  readonly after?: string;
};
export type MessageSummary = { readonly id: string; readonly [field: string]: Json };
export type MessageList = { readonly items: readonly MessageSummary[]; readonly next: string | null };

export type Messages = {
  /** Newest first by default. `next` is the cursor of the following page. */
  list(page?: MessagePage): Promise<MessageList>;
  get(id: string): Promise<Message>;
  /** Number of messages with this status. */
  count(status: LiveMessage["status"]): Promise<number>;
  /** Ids that begin with the given text, at most ten. */
  find(beginning: string): Promise<readonly string[]>;
  /** Retries a dead message from the first attempt on, with the same id. */
  retry(id: string, word: Via & { readonly by: string }): Promise<Message>;
};

const MESSAGE = "A message";
const VIEW = "messages";

function checkStatus(status: unknown): void {
  if (!(MESSAGE_STATUSES as readonly unknown[]).includes(status))
    rejectInput(`A message is ${MESSAGE_STATUSES.join(", ")}, not "${displayValue(status)}".`);
}

function checkMessagePage(page: MessagePage): MessagePage {
  const fields = ["status", "order", "limit", "after"];
  const { status = "any" } = checkFields("A page of messages", page, fields);
  if (status !== "any") checkStatus(status);
  return page;
}

async function listMessages(place: TenantStore, page: MessagePage): Promise<MessageList> {
  const { status = "any", order = "newest", limit = 100, after } = checkMessagePage(page);
  const list = { view: VIEW, kind: "message", prefix: "msg", bucket: status } as const;
  const { rows, next } = await rowPage(place, { ...list, order, limit, after });
  return { items: rows.map(rowSummary), next };
}

function unknownMessage(id: string): HoldpointError {
  return new HoldpointError("unknown_id", `There is no message ${displayValue(id)}.`, {
    next: "Check the id; `holdpoint notifications` lists them.",
  });
}

async function getMessage(place: TenantStore, id: string): Promise<Message> {
  const state = await readState(place, messageStream(id));
  if (state.status === "none") throw unknownMessage(id);
  return structuredClone({ ...state, id });
}

async function retryMessage(
  runtime: Runtime,
  id: string,
  word: Via & { readonly by: string },
): Promise<Message> {
  const { by, via } = checkFields("What is said", word, ["by", "via"]);
  const command = { message: id, by: checkOperator(by), ...checkVia(via) };
  const answer = await runCommand(runtime, {}, (draft) => requeueMessage(draft, command));
  if (answer.kind === "requeued") return structuredClone({ ...answer.state, id });
  if (answer.kind === "unknown") throw unknownMessage(id);
  const why = answer.kind === "not_dead" ? `is ${answer.status}` : "belongs to an endpoint that was removed";
  throw new HoldpointError("wrong_state", `The message ${id} ${why}.`, {
    next: "Only messages that are dead are sent again; `holdpoint notifications dead` lists them.",
  });
}

export function messageMethods(open: () => Promise<Runtime>): Messages {
  return {
    list: async (page = {}) => listMessages(await open(), page),
    get: async (id) => getMessage(await open(), checkId(MESSAGE, id)),
    async count(status) {
      checkStatus(status);
      const { store, tenant } = await open();
      return store.count(tenant, VIEW, status);
    },
    find: async (beginning) => findIds(await open(), VIEW, checkId(MESSAGE, beginning)),
    retry: async (id, word) => retryMessage(await open(), checkId(MESSAGE, id), word),
  };
}

export type Notifications = {
  /** Destinations of messages. */
  readonly endpoints: Endpoints;
  /** Messages: sent, waiting and dead. */
  readonly messages: Messages;
  /** Makes messages of events and sends them, until the signal or `close`. Without this call nothing is sent. */
  deliver(signal?: AbortSignal, options?: DeliveryOptions): Promise<void>;
};

type NotificationContext = { readonly environment: Environment; readonly render: RenderCard };

let deliveries = 0;

async function startDelivery(
  open: () => Promise<Runtime>,
  { environment, render }: NotificationContext,
  signal: AbortSignal | undefined,
  options: DeliveryOptions,
): Promise<void> {
  if (signal !== undefined && !(signal instanceof AbortSignal))
    rejectInput("Delivering takes an AbortSignal, which ends it.");
  const settings = deliverySettings(options, environment);
  const runtime = await open();
  const name = `delivery ${++deliveries}`;
  const until = signal === undefined ? runtime.closing : AbortSignal.any([signal, runtime.closing]);
  // The instance waits for it before it closes the store.
  runtime.performing.add(name);
  try {
    await runDelivery({ runtime, settings, render }, until);
  } finally {
    runtime.performing.delete(name);
  }
}

export function notificationMethods(
  open: () => Promise<Runtime>,
  around: NotificationContext,
): Notifications {
  const { environment, render } = around;
  const office = async () => ({
    runtime: await open(),
    settings: deliverySettings({}, environment),
    render,
  });
  return {
    endpoints: endpointMethods(open, office),
    messages: messageMethods(open),
    deliver: (signal, options = {}) => startDelivery(open, around, signal, options),
  };
}
