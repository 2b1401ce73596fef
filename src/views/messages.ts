/** Endpoints and messages as people list them, and messages as processes look for what is due. */
import type { JsonObject } from "../core/json.ts";
import type { StateOf } from "../core/streams.ts";

export const endpointsView = {
  view: "endpoints",
  kind: "endpoint",
  version: 1,
  row(_id: string, state: StateOf<"endpoint">) {
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
  row(_id: string, state: StateOf<"message">) {
    if (state.status === "none") return undefined;
    const { status, endpoint, type, source, to, madeAt, attempts, last, dueAt, endedAt, reason } = state;
    const shown = { status, endpoint, type, source, to, madeAt, attempts, last, dueAt, endedAt, reason };
    return { bucket: status, at: madeAt, due: null, data: shown as unknown as JsonObject };
  },
} as const;

/** By endpoint, and in the order in which they are due: one that is slow does not stand before others. */
export const outboxView = {
  view: "outbox",
  kind: "message",
  version: 1,
  row(_id: string, state: StateOf<"message">) {
    if (state.status !== "waiting" || state.dueAt === null) return undefined;
    return { bucket: state.endpoint, at: state.dueAt, due: state.dueAt, data: {} };
  },
} as const;
