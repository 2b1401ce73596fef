/**
 * Messages: one for each announced entry and each endpoint that subscribes to it.
 * - Its id is made of the entry's hash, the endpoint and the recipient: reading the entry again makes no second one.
 * - It ends once: delivered, dead or dropped. Only a person requeues a dead one. Retries: ten attempts in about three
 *   days.
 * - An attempt whose outcome another process recorded meanwhile does not count. A delivery always counts.
 * - Of several notifiers, the one that has read furthest stores its position.
 */
import { hash } from "node:crypto";
import { ID_RANDOM_BYTES, makeId } from "../../kernel/ids.ts";
import type { JsonObject } from "../../kernel/json.ts";
import { channelField, type Via } from "../../kernel/principal.ts";
import { endpointStream, messageStream, type NewEvent, streamName } from "../../kernel/stream.ts";
import type { Draft, Need } from "../../kernel/transaction.ts";
import type { LiveMessage, MessageSource, NotifierState } from "../stream.ts";

/** Of several processes, the one that has read furthest stores its position. */
export function moveNotifier(state: NotifierState, position: number): NewEvent[] {
  if (state.position !== null && state.position >= position) return [];
  return [{ type: "notifier.moved", tv: 1, body: { position } }];
}

/** Back-off between attempts: ten attempts within about three days. */
const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

const RETRY_DELAYS: readonly number[] = [
  5 * SECOND,
  30 * SECOND,
  2 * MINUTE,
  10 * MINUTE,
  HOUR,
  6 * HOUR,
  12 * HOUR,
  24 * HOUR,
  24 * HOUR,
];
/** Share of a delay that is random, so that messages that failed together are not retried together. */
const JITTER = 0.2;

export const MAX_SEND_ATTEMPTS = RETRY_DELAYS.length + 1;

/** Delay after this many attempts; null after the last. `chance` is from 0 to 1. */
export function retryDelay(attempts: number, chance: number): number | null {
  const wait = RETRY_DELAYS[attempts - 1];
  return wait === undefined ? null : Math.round(wait * (1 - JITTER / 2 + JITTER * chance));
}

/** An endpoint is switched off after this many dead messages in a row. */
export const MAX_MISSED = 5;

export type NewMessage = {
  readonly message: string;
  readonly endpoint: string;
  readonly type: string;
  readonly source: MessageSource;
  readonly to: string | null;
};

type AnnouncedEntry = { readonly hash: string; readonly at: number };

export function makeMessageId(entry: AnnouncedEntry, endpoint: string, to: string | null): string {
  const digest = hash("sha256", JSON.stringify([entry.hash, endpoint, to]), "buffer");
  return makeId("msg", entry.at, digest.subarray(0, ID_RANDOM_BYTES));
}

/** Makes those that do not exist yet and whose endpoint is on. Returns how many. */
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

export type SendOutcome =
  | { readonly kind: "delivered"; readonly status: number | null }
  | {
      readonly kind: "failed";
      readonly status: number | null;
      readonly problem: string;
      /** The receiver said when to try again: no attempt before. */
      readonly waitMs?: number;
    }
  /** The receiver wants no more: no further attempt, and the endpoint is switched off. */
  | { readonly kind: "gone"; readonly status: number; readonly problem: string };

type AttemptReport = {
  readonly message: string;
  /** 1-based attempt number. */
  readonly attempt: number;
  readonly outcome: SendOutcome;
  /** From 0 to 1: the random part of a delay. */
  readonly chance: number;
};

type AttemptRecorded = { readonly kind: "recorded" | "known" };

/** Records the outcome on the endpoint's own stream. */
function recordOnEndpoint(
  draft: Draft,
  { endpoint }: LiveMessage,
  outcome: SendOutcome,
  isDead: boolean,
): void {
  const ref = endpointStream(endpoint);
  const state = draft.state(ref);
  if (state.status === "none" || state.status === "removed") return;
  const append = (type: string, body: JsonObject) => draft.append(ref, [{ type, tv: 1, body }]);
  if (outcome.kind === "delivered" && state.missed > 0) append("endpoint.reached", {});
  if (!isDead) return;
  append("endpoint.missed", {});
  const isTooMuch = state.missed + 1 >= MAX_MISSED;
  if (state.status !== "on" || !(outcome.kind === "gone" || isTooMuch)) return;
  const reason =
    outcome.kind === "gone"
      ? "it answered that it is gone (410)"
      : `${state.missed + 1} messages in a row were given up`;
  append("endpoint.switched_off", { by: "holdpoint", reason });
}

/** The event of a failed attempt. */
function failedAttemptEvent(
  draft: Draft,
  { attempt, outcome, chance }: AttemptReport,
): { readonly type: string; readonly body: JsonObject } {
  const { status } = outcome;
  const problem = outcome.kind === "delivered" ? null : outcome.problem;
  const wait = outcome.kind === "gone" ? null : retryDelay(attempt, chance);
  const least = outcome.kind === "failed" ? (outcome.waitMs ?? 0) : 0;
  if (wait !== null)
    return { type: "message.tried", body: { status, problem, dueAt: draft.now + Math.max(wait, least) } };
  const reason =
    outcome.kind === "gone" ? "the receiver wants nothing more" : `it did not arrive in ${attempt} attempts`;
  return { type: "message.dead", body: { status, problem, reason } };
}

export function reportAttempt(draft: Draft, report: AttemptReport): Need | AttemptRecorded {
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
    : failedAttemptEvent(draft, report);
  draft.append(ref, [{ ...event, tv: 1 }]);
  recordOnEndpoint(draft, state, outcome, event.type === "message.dead");
  return { kind: "recorded" };
}

/** Stops sending a message whose subject or recipient no longer exists. */
export function dropMessage(
  draft: Draft,
  { message, reason }: { readonly message: string; readonly reason: string },
): Need | AttemptRecorded {
  const ref = messageStream(message);
  const more = draft.need({ write: [ref] });
  if (more !== undefined) return more;
  if (draft.state(ref).status !== "waiting") return { kind: "known" };
  draft.append(ref, [{ type: "message.dropped", tv: 1, body: { reason } }]);
  return { kind: "recorded" };
}

type RequeueAnswer =
  | { readonly kind: "requeued"; readonly state: LiveMessage }
  | { readonly kind: "unknown" | "removed" }
  | { readonly kind: "not_dead"; readonly status: string };

/** Retries a dead message from the first attempt. */
export function requeueMessage(
  draft: Draft,
  command: Via & { readonly message: string; readonly by: string },
): Need | RequeueAnswer {
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

/** While the process that requested a test sends it, no other process takes it. */
const TEST_LEAD_MS = 60_000;

type TestEndpointCommand = Pick<NewMessage, "message" | "endpoint" | "to"> & Via & { readonly by: string };
type TestEndpointAnswer = { readonly kind: "made" | "unknown" | "removed" };

/** A message that only says it is a test; the entry that it names is the endpoint's first. */
export function testEndpoint(draft: Draft, command: TestEndpointCommand): Need | TestEndpointAnswer {
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
