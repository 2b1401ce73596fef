/** Every fact that an intent's stream can hold. */
import type { Json } from "../../kernel/json.ts";
import type { Via } from "../../kernel/principal.ts";

import type { Lineage } from "../../workflows/events.ts";

/** What somebody asks of somebody else, as it was sent. */
export type IntentTerms = {
  readonly intentType: string;
  /** As the sender wrote it: `agent://…`. */
  readonly toAgent: string;
  /** Who that is: a principal, or a role or group where people are asked. */
  readonly to: string;
  readonly from: string;
  readonly payload: Json;
  readonly payloadDigest: string;
  readonly requestId: string | null;
  /** The intent's own; whoever waits for it may stop earlier. */
  readonly deadline: number | null;
  /** The intent for whose sake this one was sent. */
  readonly parent: string | null;
  readonly correlation: string | null;
  /** The operation of the workflow that sent it. */
  readonly within: Lineage | null;
  /** The question to people that it is; null: an agent answers. */
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
  /** A workflow waits for it, and is told when it is over. */
  | Fact<"intent.awaited", Lineage>
  /** Asked for by somebody who may not, or where its life cycle does not allow it. */
  | Fact<
      "intent.refused",
      Via & { readonly asked: string; readonly by: string; readonly status: string; readonly reason: string }
    >;

export const INTENT_EVENTS: readonly string[] = [
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
