/**
 * An intent's state: the fold of its stream.
 *
 * I1. created → delivered → acknowledged → waiting; from acknowledged or waiting it is completed or failed by whoever it is
 *     for; it is timed out or cancelled from wherever it is not over. No other move exists.
 * I2. It ends once.
 */
import { HoldpointError } from "../../kernel/errors.ts";
import type { Json } from "../../kernel/json.ts";
import { type Via, withoutChannel } from "../../kernel/principal.ts";
import { type WithRefusals, withRefusal } from "../../kernel/refusals.ts";
import { eventBody, type Fold, type RecordedEvent } from "../../kernel/stream.ts";

import type { Lineage } from "../../workflows/events.ts";
import { INTENT_EVENTS, type IntentEvent, type IntentTerms } from "./events.ts";

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

export const isOpen = ({ status }: LiveIntent): boolean => OPEN.includes(status);

/** Nobody has said yet that they have it. */
export const isUntaken = ({ status }: LiveIntent): boolean => status === "created" || status === "delivered";

/** People's time is that of their approval, which may be given more. */
export function isOverdue(intent: LiveIntent, now: number): boolean {
  const { deadline, approval } = intent;
  return approval === null && deadline !== null && now >= deadline && isOpen(intent);
}

/** As people and programs are shown it. */
export type LifecycleStatus =
  | "CREATED"
  | "DELIVERED"
  | "ACKNOWLEDGED"
  | "WAITING"
  | "COMPLETED"
  | "FAILED"
  | "TIMED_OUT"
  | "CANCELED";

export function lifecycleOf(status: IntentStatus): LifecycleStatus {
  return status === "cancelled" ? "CANCELED" : (status.toUpperCase() as LifecycleStatus);
}

function sent(body: IntentTerms & Via, at: number): LiveIntent {
  const terms = withoutChannel(body);
  const fresh = { deliveredAt: null, acknowledged: null, waitsOn: null, waiters: [], end: null };
  return { ...terms, status: "created", sentAt: at, changedAt: at, ...fresh };
}

function after(
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

function moved(state: LiveIntent, event: IntentEvent, at: number): LiveIntent {
  const change = after(state, event, at);
  if (MOVES[state.status].includes(change.status)) return { ...state, ...change, changedAt: at };
  throw new HoldpointError(
    "broken_rule",
    `An intent that is ${state.status} cannot become ${change.status}.`,
  );
}

function evolve(state: LiveIntent, event: IntentEvent, { at }: RecordedEvent): LiveIntent {
  if (event.type === "intent.refused") return withRefusal(state, event.body.by);
  if (event.type === "intent.awaited") return { ...state, waiters: [...state.waiters, event.body] };
  return moved(state, event, at);
}

export const intentFold: Fold<IntentState> = {
  version: 2,
  initial: { status: "none" },
  isOver: (state) => state.status !== "none" && !isOpen(state),
  evolve(state, recorded) {
    const body = eventBody("An intent", recorded, INTENT_EVENTS);
    const event = { type: recorded.type, tv: 1, body } as unknown as IntentEvent;
    if (state.status !== "none") return evolve(state, event, recorded);
    if (event.type === "intent.sent") return sent(event.body, recorded.at);
    throw new HoldpointError("broken_rule", `"${event.type}" came before the intent was sent.`);
  },
};
