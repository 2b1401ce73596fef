/**
 * State, fold and lists of endpoints (where messages go, and which events they subscribe to) and of messages (one entry
 * for one endpoint, retried until it arrives or is given up), and the notifier's reading position.
 */

import { HoldpointError } from "../kernel/errors.ts";
import type { JsonObject } from "../kernel/json.ts";
import { eventBody, type Fold, type RecordedEvent } from "../kernel/stream.ts";
import type { CHANNEL_WORDS } from "./rules/channel-words.ts";

type Words = (typeof CHANNEL_WORDS)[keyof typeof CHANNEL_WORDS];
type KindWith<Address> = Extract<Words, { readonly address: Address }>["kind"];

/**
 * A webhook; people by mail: addresses, `person:`, `role:`, `group:` and `approvers`; or a chat, whose address is the
 * endpoint's secret.
 */
export type EndpointTarget =
  | { readonly kind: KindWith<"shown">; readonly url: string }
  | { readonly kind: KindWith<"people">; readonly to: readonly string[] }
  | { readonly kind: KindWith<"secret">; readonly host: string };

/** Handle of the secret, never its value. `until`: from then on it no longer counts. */
type SigningSecret = { readonly secret: string; readonly until: number | null };

type EndpointAddedBody = {
  readonly name: string;
  readonly target: EndpointTarget;
  /** Types of messages; one may end in `*`. */
  readonly events: readonly string[];
  readonly owner: string;
  /** null for mail. */
  readonly secret: string | null;
  readonly by: string;
};

type SwitchedOff = { readonly at: number; readonly by: string; readonly reason: string };

export type LiveEndpoint = {
  readonly status: "on" | "off" | "removed";
  readonly name: string;
  readonly target: EndpointTarget;
  readonly events: readonly string[];
  readonly owner: string;
  /** Newest first. */
  readonly secrets: readonly SigningSecret[];
  readonly addedAt: number;
  /** Dead messages since the last delivery. */
  readonly missed: number;
  readonly off: SwitchedOff | null;
};
export type EndpointState = { readonly status: "none" } | LiveEndpoint;

const ENDPOINT_EVENTS = [
  "endpoint.added",
  "endpoint.changed",
  "endpoint.rotated",
  "endpoint.switched_off",
  "endpoint.switched_on",
  "endpoint.missed",
  "endpoint.reached",
  "endpoint.tested",
  "endpoint.removed",
] as const;

function addedEndpoint(body: EndpointAddedBody, { at }: RecordedEvent): LiveEndpoint {
  const { name, target, events, owner, secret } = body;
  const secrets = secret === null ? [] : [{ secret, until: null }];
  return { status: "on", name, target, events, owner, secrets, addedAt: at, missed: 0, off: null };
}

function rotatedSecrets({ secrets }: LiveEndpoint, secret: string, until: number): readonly SigningSecret[] {
  const [last] = secrets;
  return [{ secret, until: null }, ...(last === undefined ? [] : [{ ...last, until }])];
}

export const endpointFold: Fold<EndpointState> = {
  version: 1,
  initial: { status: "none" },
  isOver: (state) => state.status === "removed",
  evolve(state, event) {
    const body = eventBody("An endpoint", event, ENDPOINT_EVENTS);
    if (state.status === "none") {
      if (event.type === "endpoint.added") return addedEndpoint(body as unknown as EndpointAddedBody, event);
      throw new HoldpointError("broken_rule", `"${event.type}" came before the endpoint was added.`);
    }
    const said = { at: event.at, by: String(body["by"]), reason: String(body["reason"] ?? "") };
    switch (event.type as (typeof ENDPOINT_EVENTS)[number]) {
      case "endpoint.changed": {
        const { name, target, events, owner } = body as unknown as EndpointAddedBody;
        return { ...state, name, target, events, owner };
      }
      case "endpoint.rotated":
        return { ...state, secrets: rotatedSecrets(state, String(body["secret"]), Number(body["until"])) };
      case "endpoint.switched_off":
        return { ...state, status: "off", off: said };
      case "endpoint.switched_on":
        return { ...state, status: "on", off: null, missed: 0 };
      case "endpoint.missed":
        return { ...state, missed: state.missed + 1 };
      case "endpoint.reached":
        return { ...state, missed: 0 };
      case "endpoint.tested":
        return state;
      case "endpoint.removed":
        return { ...state, status: "removed", off: said };
      default:
        throw new HoldpointError("broken_rule", "An endpoint is added once.");
    }
  },
};

/** Names of endpoints within a kind: `slack://prod`. Lists those that were not removed. */
export const endpointNamesView = {
  view: "endpoint_names",
  kind: "endpoint",
  version: 1,
  row(_id: string, state: EndpointState) {
    if (state.status === "none" || state.status === "removed") return undefined;
    return { bucket: endpointAddress(state), at: state.addedAt, due: null, data: {} };
  },
} as const;

export const endpointAddress = ({ target, name }: Pick<LiveEndpoint, "target" | "name">): string =>
  `${target.kind}://${name}`;

/** The secrets that count at a time: the newest, and the previous one during the overlap. */
export function signingSecretsAt({ secrets }: LiveEndpoint, now: number): readonly string[] {
  return secrets.filter(({ until }) => until === null || until > now).map(({ secret }) => secret);
}

export const wantsEvent = ({ events }: Pick<LiveEndpoint, "events">, type: string): boolean =>
  events.some((one) => (one.endsWith("*") ? type.startsWith(one.slice(0, -1)) : one === type));

/** The entry that it announces. */
export type MessageSource = { readonly stream: string; readonly seq: number };

type MessageMadeBody = {
  readonly endpoint: string;
  /** The type of the entry, which is also the message's. */
  readonly type: string;
  readonly source: MessageSource;
  /** For mail: a person, or an address. */
  readonly to: string | null;
  /** Not sent before this time. */
  readonly dueAt: number;
};

/** Outcome of one attempt: an HTTP or SMTP status, or a code if there was none. Never the response text. */
type MessageAttempt = {
  readonly at: number;
  readonly status: number | null;
  readonly problem: string | null;
};

export const MESSAGE_STATUSES = ["waiting", "delivered", "dead", "dropped"] as const;

export type LiveMessage = Omit<MessageMadeBody, "dueAt"> & {
  readonly status: (typeof MESSAGE_STATUSES)[number];
  readonly madeAt: number;
  /** Since it was made or requeued. */
  readonly attempts: number;
  /** Attempts in total. Thanks to it, a requeued message need not wait for the lease of the previous attempt. */
  readonly turns: number;
  readonly last: MessageAttempt | null;
  readonly dueAt: number | null;
  readonly endedAt: number | null;
  /** Why it was given up. */
  readonly reason: string | null;
};
export type MessageState = { readonly status: "none" } | LiveMessage;

const MESSAGE_EVENTS = [
  "message.made",
  "message.tried",
  "message.delivered",
  "message.dead",
  "message.dropped",
  "message.requeued",
] as const;

function madeMessage(body: MessageMadeBody, { at }: RecordedEvent): LiveMessage {
  const fresh = { attempts: 0, turns: 0, last: null, endedAt: null, reason: null } as const;
  return { ...body, status: "waiting", madeAt: at, ...fresh };
}

function attemptOfEvent({ at, body }: RecordedEvent): MessageAttempt {
  const { status, problem } = body ?? {};
  return {
    at,
    status: typeof status === "number" ? status : null,
    problem: typeof problem === "string" ? problem : null,
  };
}

export const messageFold: Fold<MessageState> = {
  version: 2,
  initial: { status: "none" },
  isOver: (state) => state.status !== "none" && state.status !== "waiting",
  evolve(state, event) {
    const body = eventBody("A message", event, MESSAGE_EVENTS);
    if (state.status === "none") {
      if (event.type === "message.made") return madeMessage(body as unknown as MessageMadeBody, event);
      throw new HoldpointError("broken_rule", `"${event.type}" came before the message was made.`);
    }
    const turns = state.turns + 1;
    const tried = { attempts: state.attempts + 1, turns, last: attemptOfEvent(event) };
    const over = { dueAt: null, endedAt: event.at } as const;
    switch (event.type as (typeof MESSAGE_EVENTS)[number]) {
      case "message.tried":
        return { ...state, ...tried, dueAt: Number(body["dueAt"]) };
      case "message.delivered":
        return { ...state, ...tried, ...over, status: "delivered" };
      case "message.dead":
        return { ...state, ...tried, ...over, status: "dead", reason: String(body["reason"]) };
      case "message.dropped":
        return { ...state, ...over, status: "dropped", reason: String(body["reason"]) };
      case "message.requeued":
        return { ...state, status: "waiting", attempts: 0, dueAt: event.at, endedAt: null, reason: null };
      default:
        throw new HoldpointError("broken_rule", "A message is made once.");
    }
  },
};

/** null before anything was stored. */
export type NotifierState = { readonly position: number | null };

export const notifierFold: Fold<NotifierState> = {
  version: 1,
  initial: { position: null },
  evolve: (_state, event) => ({
    position: Number(eventBody("The notifier", event, ["notifier.moved"])["position"]),
  }),
};

export const endpointsView = {
  view: "endpoints",
  kind: "endpoint",
  version: 1,
  row(_id: string, state: EndpointState) {
    if (state.status === "none") return undefined;
    const { status, name, target, events, owner, addedAt, missed, off } = state;
    const data = { status, name, target, events, owner, addedAt, missed, off } as unknown as JsonObject;
    return { bucket: status, at: addedAt, due: null, data };
  },
} as const;

export const messagesView = {
  view: "messages",
  kind: "message",
  version: 1,
  row(_id: string, state: MessageState) {
    if (state.status === "none") return undefined;
    const { status, endpoint, type, source, to, madeAt, attempts, last, dueAt, endedAt, reason } = state;
    const shown = { status, endpoint, type, source, to, madeAt, attempts, last, dueAt, endedAt, reason };
    return { bucket: status, at: madeAt, due: null, data: shown as unknown as JsonObject };
  },
} as const;

/**
 * By endpoint, in the order in which messages are due, so a slow endpoint does not delay others. There are two
 * outboxes, and each attempt moves a message to the other one: its lease in the old one lasts as long as an attempt can
 * take, which may be past the next due time.
 */
const outboxProjection = <View extends string>(view: View, parity: 0 | 1) =>
  ({
    view,
    kind: "message",
    version: 2,
    row(_id: string, state: MessageState) {
      if (state.status !== "waiting" || state.dueAt === null || state.turns % 2 !== parity) return undefined;
      return { bucket: state.endpoint, at: state.dueAt, due: state.dueAt, data: {} };
    },
  }) as const;

export const outboxView = outboxProjection("outbox", 0);
export const outboxAgainView = outboxProjection("outbox_again", 1);
