/** Intents as people list them, as agents look for what is theirs, and as processes look for whose time is over. */

import { previewOf } from "../approvals/stream.ts";
import type { IntentState } from "../core/intent/state.ts";
import { isOpen, isUntaken, type LiveIntent, lifecycleOf } from "../core/intent/state.ts";
import type { JsonObject } from "../kernel/json.ts";

function summary(intent: LiveIntent): JsonObject {
  const { status, intentType, toAgent, to, from, requestId, deadline, approval, waitsOn, end } = intent;
  return {
    status,
    lifecycleStatus: lifecycleOf(status),
    ...{ intentType, toAgent, to, from, requestId, deadline, approval, waitsOn },
    payload: previewOf(intent.payload),
    sentAt: intent.sentAt,
    endedAt: end?.at ?? null,
  };
}

type State = IntentState;

const listed = (bucketOf: (intent: LiveIntent) => string) => (_id: string, state: State) =>
  state.status === "none"
    ? undefined
    : { bucket: bucketOf(state), at: state.sentAt, due: null, data: summary(state) };

export const intentsView = {
  view: "intents",
  kind: "intent",
  version: 1,
  row: listed(({ status }) => status),
} as const;

export const intentsToView = {
  view: "intents_to",
  kind: "intent",
  version: 1,
  row: listed(({ to }) => to),
} as const;

export const intentsFromView = {
  view: "intents_from",
  kind: "intent",
  version: 1,
  row: listed(({ from }) => from),
} as const;

/** By recipient: what nobody has said yet that they have. */
export const intentInboxView = {
  view: "intent_inbox",
  kind: "intent",
  version: 1,
  row(_id: string, state: State) {
    if (state.status === "none" || !isUntaken(state)) return undefined;
    return { bucket: state.to, at: state.sentAt, due: null, data: {} };
  },
} as const;

/** What is timed out if nobody answers. People's time is that of their approval. */
export const intentTimesView = {
  view: "intent_times",
  kind: "intent",
  version: 1,
  row(_id: string, state: State) {
    if (state.status === "none" || state.deadline === null || state.approval !== null) return undefined;
    return isOpen(state) ? { bucket: "open", at: state.sentAt, due: state.deadline, data: {} } : undefined;
  },
} as const;
