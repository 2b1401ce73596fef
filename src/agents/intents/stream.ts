/**
 * An intent: its events, state and fold, and its lists: for people, for agents looking for their work, and for
 * deadlines.
 * - created, delivered, acknowledged, waiting; from acknowledged or waiting the recipient completes or fails it. It is
 *   timed out or cancelled from any status that is not an end. No other move exists.
 * - It ends once.
 */

import { previewOf } from "../../kernel/canonical-json.ts";
import { HoldpointError } from "../../kernel/errors.ts";
import type { Json, JsonObject } from "../../kernel/json.ts";
import { type Via, withoutChannel } from "../../kernel/principal.ts";
import { type WithRefusals, withRefusal } from "../../kernel/refusals.ts";
import { eventBody, type Fold, type RecordedEvent } from "../../kernel/stream.ts";
import type { Lineage } from "../../workflows/events.ts";

/** A request of one principal to another, as it was sent. */
export type IntentTerms = {
  readonly intentType: string;
  /** As the sender wrote it: `agent://…`. */
  readonly toAgent: string;
  /** The resolved recipient: a principal, or a role or group if people are asked. */
  readonly to: string;
  readonly from: string;
  readonly payload: Json;
  readonly payloadDigest: string;
  readonly requestId: string | null;
  /** The intent's own deadline; a waiting caller may stop earlier. */
  readonly deadline: number | null;
  /** The intent that caused this one. */
  readonly parent: string | null;
  readonly correlation: string | null;
  /** The operation of the workflow that sent it. */
  readonly within: Lineage | null;
  /** The approval that it opened; null: an agent answers. */
  readonly approval: string | null;
};

type Fact<Type extends string, Body> = { readonly type: Type; readonly tv: 1; readonly body: Body };

export type IntentEvent =
  | Fact<"intent.sent", IntentTerms & Via>
  /** Handed to the recipient for the first time. */
  | Fact<"intent.delivered", { readonly to: string }>
  | Fact<"intent.acknowledged", Via & { readonly by: string }>
  /** The recipient waits for something, such as another intent. */
  | Fact<"intent.waiting", Via & { readonly by: string; readonly on: string }>
  | Fact<"intent.completed", Via & { readonly by: string; readonly data: Json }>
  | Fact<"intent.failed", Via & { readonly by: string; readonly reason: string }>
  | Fact<"intent.timed_out", { readonly deadline: number }>
  | Fact<"intent.cancelled", Via & { readonly by: string; readonly reason: string }>
  /** A workflow waits for it, and is notified when it ends. */
  | Fact<"intent.awaited", Lineage>
  /** A request by a principal who may not make it, or in a status that does not allow it. */
  | Fact<
      "intent.refused",
      Via & { readonly asked: string; readonly by: string; readonly status: string; readonly reason: string }
    >;

const INTENT_EVENTS: readonly string[] = [
  "intent.sent",
  "intent.delivered",
  "intent.acknowledged",
  "intent.waiting",
  "intent.completed",
  "intent.failed",
  "intent.timed_out",
  "intent.cancelled",
  "intent.awaited",
  "intent.refused",
] satisfies readonly IntentEvent["type"][];

export const INTENT_STATUSES = [
  "created",
  "delivered",
  "acknowledged",
  "waiting",
  "completed",
  "failed",
  "timed_out",
  "cancelled",
] as const;
export type IntentStatus = (typeof INTENT_STATUSES)[number];

export type IntentEnd = { readonly at: number; readonly by: string } & (
  | { readonly status: "completed"; readonly data: Json }
  | { readonly status: "failed" | "timed_out" | "cancelled"; readonly reason: string }
);

export type LiveIntent = IntentTerms &
  WithRefusals & {
    readonly status: IntentStatus;
    readonly sentAt: number;
    readonly changedAt: number;
    readonly deliveredAt: number | null;
    readonly acknowledged: { readonly at: number; readonly by: string } | null;
    /** What the recipient waits for. */
    readonly waitsOn: string | null;
    /** Workflows that wait for it, by operation. */
    readonly waiters: readonly Lineage[];
    readonly end: IntentEnd | null;
  };
export type IntentState = { readonly status: "none" } | LiveIntent;

const OPEN: readonly IntentStatus[] = ["created", "delivered", "acknowledged", "waiting"];
const ENDS: readonly IntentStatus[] = ["timed_out", "cancelled"];

const MOVES: { readonly [from in IntentStatus]: readonly IntentStatus[] } = {
  created: ["delivered", ...ENDS],
  delivered: ["acknowledged", ...ENDS],
  acknowledged: ["waiting", "completed", "failed", ...ENDS],
  waiting: ["waiting", "completed", "failed", ...ENDS],
  completed: [],
  failed: [],
  timed_out: [],
  cancelled: [],
};

export const isIntentOpen = ({ status }: LiveIntent): boolean => OPEN.includes(status);

/** The recipient has not acknowledged it yet. */
export const isUnacknowledged = ({ status }: LiveIntent): boolean =>
  status === "created" || status === "delivered";

/** For people, the deadline of their approval counts, which may be extended. */
export function isIntentOverdue(intent: LiveIntent, now: number): boolean {
  const { deadline, approval } = intent;
  return approval === null && deadline !== null && now >= deadline && isIntentOpen(intent);
}

/** The status as shown to people and programs. */
export const LIFECYCLE_STATUSES = [
  "CREATED",
  "DELIVERED",
  "ACKNOWLEDGED",
  "WAITING",
  "COMPLETED",
  "FAILED",
  "TIMED_OUT",
  "CANCELED",
] as const;
type LifecycleStatus = (typeof LIFECYCLE_STATUSES)[number];

export function lifecycleStatus(status: IntentStatus): LifecycleStatus {
  return status === "cancelled" ? "CANCELED" : (status.toUpperCase() as LifecycleStatus);
}

function sentIntent(body: IntentTerms & Via, at: number): LiveIntent {
  const terms = withoutChannel(body);
  const fresh = { deliveredAt: null, acknowledged: null, waitsOn: null, waiters: [], end: null };
  return { ...terms, status: "created", sentAt: at, changedAt: at, ...fresh };
}

function changeBy(
  state: LiveIntent,
  event: IntentEvent,
  at: number,
): Partial<LiveIntent> & Pick<LiveIntent, "status"> {
  switch (event.type) {
    case "intent.delivered":
      return { status: "delivered", deliveredAt: at };
    case "intent.acknowledged":
      return { status: "acknowledged", acknowledged: { at, by: event.body.by } };
    case "intent.waiting":
      return { status: "waiting", waitsOn: event.body.on };
    case "intent.completed": {
      const { by, data } = event.body;
      return { status: "completed", end: { status: "completed", at, by, data } };
    }
    case "intent.failed":
    case "intent.cancelled": {
      const status = event.type === "intent.failed" ? "failed" : "cancelled";
      return { status, end: { status, at, ...withoutChannel(event.body) } };
    }
    case "intent.timed_out": {
      const end = { status: "timed_out", at, by: "deadline", reason: "nobody answered in time" } as const;
      return { status: "timed_out", end };
    }
    default:
      throw new HoldpointError(
        "broken_rule",
        `"${event.type}" cannot happen to an intent that is ${state.status}.`,
      );
  }
}

function applyChange(state: LiveIntent, event: IntentEvent, at: number): LiveIntent {
  const change = changeBy(state, event, at);
  if (MOVES[state.status].includes(change.status)) return { ...state, ...change, changedAt: at };
  throw new HoldpointError(
    "broken_rule",
    `An intent that is ${state.status} cannot become ${change.status}.`,
  );
}

function evolveIntent(state: LiveIntent, event: IntentEvent, { at }: RecordedEvent): LiveIntent {
  if (event.type === "intent.refused") return withRefusal(state, event.body.by);
  if (event.type === "intent.awaited") return { ...state, waiters: [...state.waiters, event.body] };
  return applyChange(state, event, at);
}

export const intentFold: Fold<IntentState> = {
  version: 2,
  initial: { status: "none" },
  isOver: (state) => state.status !== "none" && !isIntentOpen(state),
  evolve(state, recorded) {
    const body = eventBody("An intent", recorded, INTENT_EVENTS);
    const event = { type: recorded.type, tv: 1, body } as unknown as IntentEvent;
    if (state.status !== "none") return evolveIntent(state, event, recorded);
    if (event.type === "intent.sent") return sentIntent(event.body, recorded.at);
    throw new HoldpointError("broken_rule", `"${event.type}" came before the intent was sent.`);
  },
};

function intentRow(intent: LiveIntent): JsonObject {
  const { status, intentType, toAgent, to, from, requestId, deadline, approval, waitsOn, end } = intent;
  return {
    status,
    lifecycleStatus: lifecycleStatus(status),
    ...{ intentType, toAgent, to, from, requestId, deadline, approval, waitsOn },
    payload: previewOf(intent.payload),
    sentAt: intent.sentAt,
    endedAt: end?.at ?? null,
  };
}

type ListedIntentState = IntentState;

const intentListRow = (bucketOf: (intent: LiveIntent) => string) => (_id: string, state: ListedIntentState) =>
  state.status === "none"
    ? undefined
    : { bucket: bucketOf(state), at: state.sentAt, due: null, data: intentRow(state) };

export const intentsView = {
  view: "intents",
  kind: "intent",
  version: 1,
  row: intentListRow(({ status }) => status),
} as const;

export const intentsToView = {
  view: "intents_to",
  kind: "intent",
  version: 1,
  row: intentListRow(({ to }) => to),
} as const;

export const intentsFromView = {
  view: "intents_from",
  kind: "intent",
  version: 1,
  row: intentListRow(({ from }) => from),
} as const;

/** Unacknowledged intents, by recipient. */
export const intentInboxView = {
  view: "intent_inbox",
  kind: "intent",
  version: 1,
  row(_id: string, state: ListedIntentState) {
    if (state.status === "none" || !isUnacknowledged(state)) return undefined;
    return { bucket: state.to, at: state.sentAt, due: null, data: {} };
  },
} as const;

/** Intents that time out without an answer. For people, the deadline of their approval counts. */
export const intentTimesView = {
  view: "intent_times",
  kind: "intent",
  version: 1,
  row(_id: string, state: ListedIntentState) {
    if (state.status === "none" || state.deadline === null || state.approval !== null) return undefined;
    return isIntentOpen(state)
      ? { bucket: "open", at: state.sentAt, due: state.deadline, data: {} }
      : undefined;
  },
} as const;
