/**
 * An intent: its events, state and fold, and its lists: for people, for agents looking for their work, and for
 * deadlines.
 * - created, delivered, acknowledged, waiting; from acknowledged or waiting the recipient completes or fails it. It is
 *   timed out or cancelled from any status that is not an end. No other move exists.
 * - It ends once.
 */

import { previewOf } from "../../kernel/canonical-json.ts";
import type { Json, JsonObject } from "../../kernel/json.ts";
import { type Via, withoutChannel } from "../../kernel/principal.ts";
import { type WithRefusals, withRefusal } from "../../kernel/refusals.ts";
import { defineStream } from "../../kernel/stream.ts";
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

const OPEN = ["created", "delivered", "acknowledged", "waiting"] as const;
export const isIntentOpen = ({ status }: LiveIntent): boolean => OPEN.some((one) => one === status);

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

type By = Via & { readonly by: string };
type Reason = By & { readonly reason: string };

function send(body: IntentTerms & Via, at: number): LiveIntent {
  const fresh = { deliveredAt: null, acknowledged: null, waitsOn: null, waiters: [], end: null };
  return { ...withoutChannel(body), status: "created", sentAt: at, changedAt: at, ...fresh };
}

const endBy =
  (status: "failed" | "cancelled") =>
  (intent: LiveIntent, body: Reason, { at }: { readonly at: number }): LiveIntent => ({
    ...intent,
    ...{ status, changedAt: at, end: { status, at, ...withoutChannel(body) } },
  });

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

const { after, define } = defineStream<IntentState>();

const sentOrder = (view: string) => ({ view, version: 1, at: ({ sentAt }: LiveIntent) => sentAt });
const listBy = (view: string, bucket: (intent: LiveIntent) => string) => ({
  ...{ bucket, data: intentRow, orders: { sent: sentOrder(view) } },
});

export const intentKind = define("intent", {
  what: "An intent",
  version: 2,
  initial: { status: "none" },
  words: { none: "not sent" },
  isOver: (state) => state.status !== "none" && !isIntentOpen(state),
  events: {
    "intent.sent": after(
      ["none"],
      "an [intent](../guide/intents.md): its type, for whom (as written, and who that is), by whom, payload and its digest, request id, deadline, the intent or workflow it belongs to, and the approval that it is, where people are asked",
      (_, body: IntentTerms & Via, { at }) => send(body, at),
    ),
    "intent.delivered": after(
      ["created"],
      "it was handed to the recipient for the first time; later times are not journaled",
      (sent, _: { readonly to: string }, { at }) => ({
        ...sent,
        ...{ status: "delivered", changedAt: at, deliveredAt: at },
      }),
    ),
    "intent.acknowledged": after(["delivered"], "the recipient has it", (delivered, { by }: By, { at }) => ({
      ...delivered,
      ...{ status: "acknowledged", changedAt: at, acknowledged: { at, by } },
    })),
    "intent.waiting": after(
      ["acknowledged", "waiting"],
      "the recipient waits for something, such as another intent or an approval",
      (held, { on }: By & { readonly on: string }, { at }) => ({
        ...held,
        ...{ status: "waiting", changedAt: at, waitsOn: on },
      }),
    ),
    "intent.completed": after(
      ["acknowledged", "waiting"],
      "it is answered: by whom, with which data",
      (held, { by, data }: By & { readonly data: Json }, { at }) => ({
        ...held,
        ...{ status: "completed", changedAt: at, end: { status: "completed", at, by, data } },
      }),
    ),
    "intent.failed": after(
      ["acknowledged", "waiting"],
      "the recipient could not do it, and why",
      endBy("failed"),
    ),
    "intent.timed_out": after(
      OPEN,
      "its deadline passed without an answer",
      (open, _: { readonly deadline: number }, { at }) => ({
        ...open,
        ...{ status: "timed_out", changedAt: at },
        end: { status: "timed_out", at, by: "deadline", reason: "nobody answered in time" },
      }),
    ),
    "intent.cancelled": after(OPEN, "it was cancelled: by whom and why", endBy("cancelled")),
    "intent.awaited": after(
      INTENT_STATUSES,
      "a workflow waits for it, and is notified when it ends",
      (live, waiter: Lineage) => ({ ...live, waiters: [...live.waiters, waiter] }),
    ),
    "intent.refused": after(
      INTENT_STATUSES,
      "a principal asked for a move that is not theirs, or that its life cycle does not allow",
      (live, { by }: Reason & { readonly asked: string; readonly status: string }) => withRefusal(live, by),
    ),
  },
  lists: [
    listBy("intents", ({ status }) => status),
    listBy("intents_to", ({ to }) => to),
    listBy("intents_from", ({ from }) => from),
    /** Unacknowledged intents, by recipient. */
    {
      bucket: ({ to }) => to,
      data: () => ({}),
      orders: { inbox: { ...sentOrder("intent_inbox"), only: isUnacknowledged } },
      isFixed: true,
    },
    /** Intents that time out without an answer. For people, the deadline of their approval counts. */
    {
      bucket: () => "open",
      data: () => ({}),
      orders: {
        deadline: {
          ...sentOrder("intent_times"),
          only: (live) => live.deadline !== null && live.approval === null && isIntentOpen(live),
          due: ({ deadline }) => deadline,
        },
      },
      isFixed: true,
    },
  ],
});
