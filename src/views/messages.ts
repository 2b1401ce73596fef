/** Endpoints and messages as people list them, and messages as processes look for what is due. */

import type { EndpointState } from "../core/message/endpoint-state.ts";
import type { MessageState } from "../core/message/message-state.ts";
import type { JsonObject } from "../kernel/json.ts";

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
 * By endpoint, and in the order in which they are due: one that is slow does not stand before others. There are two, and
 * each turn leads from one to the other: who tried a message holds it where it was for as long as that could have taken, and it is
 * due again before.
 */
const outbox = <View extends string>(view: View, parity: 0 | 1) =>
  ({
    view,
    kind: "message",
    version: 2,
    row(_id: string, state: MessageState) {
      if (state.status !== "waiting" || state.dueAt === null || state.turns % 2 !== parity) return undefined;
      return { bucket: state.endpoint, at: state.dueAt, due: state.dueAt, data: {} };
    },
  }) as const;

export const outboxView = outbox("outbox", 0);
export const outboxAgainView = outbox("outbox_again", 1);
