/** A message's state: made of one entry for one endpoint, tried until it arrives or is given up. */
import { HoldpointError } from "../../kernel/errors.ts";
import { eventBody, type Fold, type RecordedEvent } from "../../kernel/stream.ts";

/** The entry that it tells about. */
export type Source = { readonly stream: string; readonly seq: number };

type MadeBody = {
  readonly endpoint: string;
  /** The type of the entry, which is the message's. */
  readonly type: string;
  readonly source: Source;
  /** By mail: a person, or an address. */
  readonly to: string | null;
  /** Nobody takes it before. */
  readonly dueAt: number;
};

/** What became of one attempt: a status of HTTP or SMTP, or a word for why there was none. Never what was answered. */
export type Attempt = {
  readonly at: number;
  readonly status: number | null;
  readonly problem: string | null;
};

export const MESSAGE_STATUSES = ["waiting", "delivered", "dead", "dropped"] as const;

export type LiveMessage = Omit<MadeBody, "dueAt"> & {
  readonly status: (typeof MESSAGE_STATUSES)[number];
  readonly madeAt: number;
  /** Since it was made, or put back by hand. */
  readonly attempts: number;
  /** How often it was tried in all. Whoever puts it back does not have to wait for a lease of the attempt before. */
  readonly turns: number;
  readonly last: Attempt | null;
  readonly dueAt: number | null;
  readonly endedAt: number | null;
  /** Why it was given up. */
  readonly reason: string | null;
};
export type MessageState = { readonly status: "none" } | LiveMessage;

const EVENTS = [
  "message.made",
  "message.tried",
  "message.delivered",
  "message.dead",
  "message.dropped",
  "message.requeued",
] as const;

function made(body: MadeBody, { at }: RecordedEvent): LiveMessage {
  const fresh = { attempts: 0, turns: 0, last: null, endedAt: null, reason: null } as const;
  return { ...body, status: "waiting", madeAt: at, ...fresh };
}

function attemptIn({ at, body }: RecordedEvent): Attempt {
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
    const body = eventBody("A message", event, EVENTS);
    if (state.status === "none") {
      if (event.type === "message.made") return made(body as unknown as MadeBody, event);
      throw new HoldpointError("broken_rule", `"${event.type}" came before the message was made.`);
    }
    const turns = state.turns + 1;
    const tried = { attempts: state.attempts + 1, turns, last: attemptIn(event) };
    const over = { dueAt: null, endedAt: event.at } as const;
    switch (event.type as (typeof EVENTS)[number]) {
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
