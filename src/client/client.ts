/** Entry point of `holdpoint/client`: a remote Holdpoint, in Node and in browsers, with nothing but `fetch`. */
import { makeResources, makeWaits, type Resources, type Waits } from "./calls.ts";
import { type ClientOptions, openConnection } from "./connection.ts";
import {
  type EventsQuery,
  followEvents,
  followIntents,
  type HandedIntent,
  type JournalEvent,
  type ListenQuery,
} from "./events.ts";

export type {
  AnswerOf,
  Call,
  CallOptions,
  InputOf,
  RouteName,
  WaitedAction,
  WaitedApproval,
  WaitedIntent,
  WaitedWorkflow,
  WaitOptions,
} from "./calls.ts";
export type { ClientOptions, Credential } from "./connection.ts";
export { CLIENT_CODES, ClientError, isClientError } from "./connection.ts";
export type { EventsQuery, HandedIntent, JournalEvent, ListenQuery } from "./events.ts";
export { type VerifyWebhook, verifyWebhook, type WebhookHeaders } from "./verify-webhook.ts";

export type Client = Resources &
  Waits & {
    /** Address of the server. */
    readonly address: string;
    /** Journal entries as they are written, once each. Reconnects as often as needed. */
    events(query?: EventsQuery, signal?: AbortSignal): AsyncGenerator<JournalEvent, void, undefined>;
    /** Intents sent to an agent: unacknowledged ones first, then new ones. Repeats each until it is acknowledged. */
    listen(query?: ListenQuery, signal?: AbortSignal): AsyncGenerator<HandedIntent, void, undefined>;
  };

export function createClient(options: ClientOptions): Client {
  const connection = openConnection(options);
  const patient = { ...connection, retries: 0 };
  return {
    ...makeResources(connection),
    ...makeWaits(connection, makeResources(patient)),
    address: connection.server,
    events: (query, signal) => followEvents(connection, query, signal),
    listen: (query, signal) => followIntents(connection, query, signal),
  };
}
