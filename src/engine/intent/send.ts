/** Sends an intent: it is durable when this answers. */

import { HUMAN_APPROVAL } from "../../core/intent/address.ts";
import { intentName, type PeopleAsked, type Sending, sendIntent } from "../../core/intent/send.ts";
import { plainJson } from "../../effects/arguments.ts";
import { HoldpointError } from "../../kernel/errors.ts";
import { isJsonObject, type Json } from "../../kernel/json.ts";
import { channelField, type Via } from "../../kernel/principal.ts";
import { approvalStream, intentStream, ROSTER } from "../../kernel/stream.ts";
import { freshId, type Runtime } from "../../runtime/runtime.ts";
import { runCommand } from "../../runtime/store-access.ts";
import type { Lineage } from "../../workflows/events.ts";

import type { OutgoingIntent } from "./check-intent.ts";

export type SentIntent = {
  readonly id: string;
  /** The question to people that it is. */
  readonly approval: string | null;
  /** It was sent before, under the same request id. */
  readonly isKnown: boolean;
};

/** What the agent says of itself: its words, which nobody has checked. */
function saysOf(payload: Json): string | null {
  if (!isJsonObject(payload)) return null;
  const { task, risk_level: risk } = payload;
  const parts = [
    typeof task === "string" ? task : "",
    typeof risk === "string" ? `(risk level: ${risk})` : "",
  ].filter((part) => part !== "");
  return parts.length === 0 ? null : parts.join(" ").slice(0, 10_000).toWellFormed();
}

export type Origin = {
  readonly from: string;
  readonly requester: readonly string[];
  readonly within: Lineage | null;
  /** Whom separation of duties leaves out; null: it is not asked for. */
  readonly apart: readonly string[] | null;
};

/** What is handed to the rules; for people, with the question that it is. */
export function sendingOf(
  runtime: Runtime,
  given: OutgoingIntent & { readonly to: string },
  { from, requester, within, apart }: Origin,
): Sending {
  const payload = plainJson(given.payload);
  const ask: PeopleAsked | null =
    given.intentType === HUMAN_APPROVAL
      ? {
          approval: freshId(runtime, "apr"),
          nonce: freshId(runtime, "non"),
          says: saysOf(payload),
          requester,
          apart,
        }
      : null;
  const { intentType, toAgent, to, requestId = null, withinMs = null } = given;
  const { parent = null, correlation = null } = given;
  const terms = { intentType, toAgent, to, from, payload, requestId, withinMs, parent, correlation };
  return { ...terms, intent: freshId(runtime, "int"), within, ask };
}

export function unmeetable(to: string, reason: string): HoldpointError {
  return new HoldpointError("unsatisfiable_quorum", `Nobody could decide what is sent to ${to}: ${reason}.`);
}

export function tellAsked(runtime: Runtime, sending: Sending, now: number): void {
  const { ask, intent, intentType, withinMs } = sending;
  if (ask === null) return;
  const decideBy = withinMs === null ? null : now + withinMs;
  runtime.notify({ kind: "waiting", action: intent, approval: ask.approval, tool: intentType, decideBy });
}

export async function sendNow(
  runtime: Runtime,
  given: OutgoingIntent & Via & { readonly to: string },
): Promise<SentIntent> {
  const from = given.from ?? runtime.agent;
  const requester = from === runtime.agent ? runtime.requester : [from];
  const apart = runtime.separate === true ? [] : null;
  const terms = sendingOf(runtime, given, { from, requester, within: null, apart });
  const sending = { ...terms, ...channelField(given) };
  const { ask, intent, requestId, to } = sending;
  const needs = {
    write: [intentStream(intent), ...(ask === null ? [] : [approvalStream(ask.approval)])],
    read: ask === null ? [] : [ROSTER],
    names: requestId === null ? [] : [intentName(requestId)],
  };
  const answer = await runCommand(runtime, needs, (draft) => sendIntent(draft, sending));
  if (answer.kind === "unmeetable") throw unmeetable(to, answer.reason);
  if (answer.kind === "conflict")
    throw new HoldpointError(
      "request_conflict",
      `The request id "${requestId}" was used for another intent, ${answer.intent}.`,
      {
        data: "Nothing was written.",
        next: "Use a new request id for a new intent.",
        details: { intent: answer.intent },
      },
    );
  if (answer.kind === "sent") tellAsked(runtime, sending, runtime.clock.now());
  return { id: answer.intent, approval: answer.approval, isKnown: answer.kind === "existing" };
}
