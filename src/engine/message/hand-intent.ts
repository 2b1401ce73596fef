/**
 * An intent that reaches the agent it is for by its own webhook.
 *
 * G1. An endpoint whose owner is an agent hears of that agent's intents alone: those for it, and those that it sent. Those that
 *     people are to approve are approvals too, and as such no other agent hears of them either.
 * G2. What is for it is told again until it says that it has it: a webhook that answers has not said so yet.
 */
import { markDelivered } from "../../agents/intents/rules/answer.ts";
import { isUnacknowledged } from "../../agents/intents/stream.ts";

import type { LiveEndpoint } from "../../core/message/endpoint-state.ts";
import type { Outcome } from "../../core/message/message.ts";
import type { LiveMessage } from "../../core/message/message-state.ts";
import { approvalStream, intentStream, type StreamRef } from "../../kernel/stream.ts";
import type { Runtime } from "../../runtime/runtime.ts";
import { readState, runCommand } from "../../runtime/store-access.ts";

type Place = Pick<Runtime, "store" | "tenant" | "clock">;

const NOT_ACKNOWLEDGED = "not_acknowledged";

/** The intent that a stream is about, by itself or as the question that it is. */
async function intentIn(place: Place, ref: StreamRef): Promise<string | undefined> {
  if (ref.kind === "intent") return ref.id;
  if (ref.kind !== "approval") return undefined;
  const asked = await readState(place, approvalStream(ref.id));
  return asked.status !== "none" && asked.subject?.kind === "intent" ? asked.subject.intent : undefined;
}

/** Whether an endpoint hears of the stream at all. */
export async function isMeant(place: Place, owner: string, ref: StreamRef): Promise<boolean> {
  if (!owner.startsWith("agent:")) return true;
  const intent = await intentIn(place, ref);
  if (intent === undefined) return true;
  const state = await readState(place, intentStream(intent));
  return state.status !== "none" && (state.to === owner || state.from === owner);
}

async function isWanted(place: Place, { owner }: LiveEndpoint, ref: StreamRef): Promise<boolean | undefined> {
  const state = await readState(place, intentStream(ref.id));
  if (state.status === "none" || state.to !== owner || state.approval !== null) return undefined;
  return isUnacknowledged(state);
}

type Hand = { readonly endpoint: LiveEndpoint; readonly message: LiveMessage; readonly ref: StreamRef };
export type Taken = Outcome | { readonly kind: "dropped"; readonly reason: string };

/** Sends it where that is still wanted. Anything but an intent for the owner is sent as it is. */
export async function handOver(place: Place, hand: Hand, send: () => Promise<Outcome>): Promise<Taken> {
  const { endpoint, message, ref } = hand;
  const before = message.type === "intent.sent" ? await isWanted(place, endpoint, ref) : undefined;
  if (before === undefined) return send();
  if (!before) {
    const { last } = message;
    if (last?.problem === NOT_ACKNOWLEDGED) return { kind: "delivered", status: last.status };
    return { kind: "dropped", reason: "the agent has it already, or it is over" };
  }
  const outcome = await send();
  if (outcome.kind !== "delivered") return outcome;
  await runCommand(place, { write: [intentStream(ref.id)] }, (draft) => markDelivered(draft, ref.id));
  const isLeft = await isWanted(place, endpoint, ref);
  return isLeft === true ? { kind: "failed", status: outcome.status, problem: NOT_ACKNOWLEDGED } : outcome;
}
