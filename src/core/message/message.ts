/**
 * Messages: one for each entry that is told of, and each endpoint that wants to hear of it.
 *
 * Q1. Its id is made of the entry's hash, the endpoint and the receiver: whoever reads the entry again makes no second one.
 * Q2. It ends once: delivered, dead or dropped. Only a person puts a dead one back.
 * Q3. An attempt whose outcome was recorded meanwhile, by whoever took it over, counts for nothing; that it arrived always counts.
 */
import { hash } from "node:crypto";
import { ID_RANDOM_BYTES, makeId } from "../../kernel/ids.ts";
import type { JsonObject } from "../../kernel/json.ts";
import { channelField, type Via } from "../../kernel/principal.ts";
import { endpointStream, messageStream, streamName } from "../../kernel/stream.ts";
import type { Draft, Need } from "../../kernel/transaction.ts";

import { waitAfter } from "./back-off.ts";
import type { LiveMessage, Source } from "./message-state.ts";

/** An endpoint is switched off after so many messages in a row that were given up. */
export const MOST_MISSED = 5;

export type NewMessage = {
  readonly message: string;
  readonly endpoint: string;
  readonly type: string;
  readonly source: Source;
  readonly to: string | null;
};

export type Announced = { readonly hash: string; readonly at: number };

export function messageId(entry: Announced, endpoint: string, to: string | null): string {
  const digest = hash("sha256", JSON.stringify([entry.hash, endpoint, to]), "buffer");
  return makeId("msg", entry.at, digest.subarray(0, ID_RANDOM_BYTES));
}

/** Those that are not there yet, and whose endpoint is on. Answers how many. */
export function makeMessages(
  draft: Draft,
  messages: readonly NewMessage[],
): Need | { readonly kind: "made"; readonly count: number } {
  const more = draft.need({
    write: messages.map(({ message }) => messageStream(message)),
    read: messages.map(({ endpoint }) => endpointStream(endpoint)),
  });
  if (more !== undefined) return more;
  let count = 0;
  for (const { message, ...body } of messages) {
    const ref = messageStream(message);
    if (draft.state(ref).status !== "none" || draft.state(endpointStream(body.endpoint)).status !== "on")
      continue;
    draft.append(ref, [{ type: "message.made", tv: 1, body: { ...body, dueAt: draft.now } }]);
    count++;
  }
  return { kind: "made", count };
}

export type Outcome =
  | { readonly kind: "delivered"; readonly status: number | null }
  | { readonly kind: "failed"; readonly status: number | null; readonly problem: string }
  /** The receiver wants nothing more: no other attempt, and the endpoint is switched off. */
  | { readonly kind: "gone"; readonly status: number; readonly problem: string };

export type Report = {
  readonly message: string;
  /** The number of the attempt, from 1 on. */
  readonly attempt: number;
  readonly outcome: Outcome;
  /** From 0 to 1: how much of a wait is left to chance. */
  readonly chance: number;
};

export type Reported = { readonly kind: "recorded" | "known" };

/** What the endpoint's own stream says of it. */
function told(draft: Draft, { endpoint }: LiveMessage, outcome: Outcome, isDead: boolean): void {
  const ref = endpointStream(endpoint);
  const state = draft.state(ref);
  if (state.status === "none" || state.status === "removed") return;
  const append = (type: string, body: JsonObject) => draft.append(ref, [{ type, tv: 1, body }]);
  if (outcome.kind === "delivered" && state.missed > 0) append("endpoint.reached", {});
  if (!isDead) return;
  append("endpoint.missed", {});
  const isTooMuch = state.missed + 1 >= MOST_MISSED;
  if (state.status !== "on" || !(outcome.kind === "gone" || isTooMuch)) return;
  const reason =
    outcome.kind === "gone"
      ? "it answered that it is gone (410)"
      : `${state.missed + 1} messages in a row were given up`;
  append("endpoint.switched_off", { by: "holdpoint", reason });
}

/** The event of an attempt that did not arrive. */
function failed(
  draft: Draft,
  { attempt, outcome, chance }: Report,
): { readonly type: string; readonly body: JsonObject } {
  const { status } = outcome;
  const problem = outcome.kind === "delivered" ? null : outcome.problem;
  const wait = outcome.kind === "gone" ? null : waitAfter(attempt, chance);
  if (wait !== null) return { type: "message.tried", body: { status, problem, dueAt: draft.now + wait } };
  const reason =
    outcome.kind === "gone" ? "the receiver wants nothing more" : `it did not arrive in ${attempt} attempts`;
  return { type: "message.dead", body: { status, problem, reason } };
}

export function reportAttempt(draft: Draft, report: Report): Need | Reported {
  const ref = messageStream(report.message);
  const more = draft.need({ write: [ref] });
  if (more !== undefined) return more;
  const state = draft.state(ref);
  if (state.status !== "waiting") return { kind: "known" };
  const { outcome, attempt } = report;
  const isArrived = outcome.kind === "delivered";
  if (!isArrived && state.attempts + 1 !== attempt) return { kind: "known" };
  const missing = draft.need({ write: [endpointStream(state.endpoint)] });
  if (missing !== undefined) return missing;
  const event = isArrived
    ? { type: "message.delivered", body: { status: outcome.status } }
    : failed(draft, report);
  draft.append(ref, [{ ...event, tv: 1 }]);
  told(draft, state, outcome, event.type === "message.dead");
  return { kind: "recorded" };
}

/** It is not sent any more: what it is about, or whom it is for, is gone. */
export function dropMessage(
  draft: Draft,
  { message, reason }: { readonly message: string; readonly reason: string },
): Need | Reported {
  const ref = messageStream(message);
  const more = draft.need({ write: [ref] });
  if (more !== undefined) return more;
  if (draft.state(ref).status !== "waiting") return { kind: "known" };
  draft.append(ref, [{ type: "message.dropped", tv: 1, body: { reason } }]);
  return { kind: "recorded" };
}

export type Requeued =
  | { readonly kind: "requeued"; readonly state: LiveMessage }
  | { readonly kind: "unknown" | "removed" }
  | { readonly kind: "not_dead"; readonly status: string };

/** A dead one is tried again from the beginning. */
export function requeueMessage(
  draft: Draft,
  command: Via & { readonly message: string; readonly by: string },
): Need | Requeued {
  const { message, by } = command;
  const ref = messageStream(message);
  const more = draft.need({ write: [ref] });
  if (more !== undefined) return more;
  const state = draft.state(ref);
  if (state.status === "none") return { kind: "unknown" };
  if (state.status !== "dead") return { kind: "not_dead", status: state.status };
  const endpoint = endpointStream(state.endpoint);
  const missing = draft.need({ read: [endpoint] });
  if (missing !== undefined) return missing;
  if (draft.state(endpoint).status === "removed") return { kind: "removed" };
  draft.append(ref, [{ type: "message.requeued", tv: 1, body: { by, ...channelField(command) } }]);
  return { kind: "requeued", state: draft.state(ref) as LiveMessage };
}

/** While whoever asked for a test sends it, nobody else takes it. */
const TEST_LEAD_MS = 60_000;

export type Testing = Pick<NewMessage, "message" | "endpoint" | "to"> & Via & { readonly by: string };
export type Tested = { readonly kind: "made" | "unknown" | "removed" };

/** A message that says only that it is one; the entry that it names is the endpoint's first. */
export function testEndpoint(draft: Draft, command: Testing): Need | Tested {
  const { endpoint, message, by, to } = command;
  const [ref, own] = [messageStream(message), endpointStream(endpoint)];
  const more = draft.need({ write: [ref, own] });
  if (more !== undefined) return more;
  const { status } = draft.state(own);
  if (status === "none") return { kind: "unknown" };
  if (status === "removed") return { kind: "removed" };
  if (draft.state(ref).status !== "none") return { kind: "made" };
  const source = { stream: streamName(own), seq: 1 };
  const body = { endpoint, type: "endpoint.tested", source, to, dueAt: draft.now + TEST_LEAD_MS };
  draft.append(own, [{ type: "endpoint.tested", tv: 1, body: { by, message, ...channelField(command) } }]);
  draft.append(ref, [{ type: "message.made", tv: 1, body }]);
  return { kind: "made" };
}
