/**
 * A stream is one journal in a tenant: every fact about one action, one approval, one budget and so on.
 * Its name in an entry's header is `kind/id`.
 */
import { HoldpointError } from "./errors.ts";

export const STREAM_KINDS = [
  "action",
  "alert",
  "answer",
  "approval",
  "budget",
  "endpoint",
  "epoch",
  "grant",
  "intent",
  "key",
  "login",
  "message",
  "monitor",
  "notifier",
  "policy",
  "roster",
  "session",
  "store",
  "switch",
  "tenant",
  "workflow",
] as const;
export type StreamKind = (typeof STREAM_KINDS)[number];

declare const folded: unique symbol;
/** Known to the compiler alone: the state that a reference leads to. */
export type Folded<State> = { readonly [folded]?: State };

export type StreamRef<K extends StreamKind = StreamKind, State = unknown> = Folded<State> & {
  readonly kind: K;
  readonly id: string;
};

/** All streams that an index lists under one key, for example the grants of one tool. */
export type IndexKey = { readonly view: string; readonly key: string };

export function streamName(ref: StreamRef): string {
  return `${ref.kind}/${ref.id}`;
}

/** Undefined for a kind that only a newer program knows. */
export function knownStream(name: string): StreamRef | undefined {
  const slash = name.indexOf("/");
  const kind = STREAM_KINDS.find((known) => known === name.slice(0, slash));
  return kind === undefined ? undefined : { kind, id: name.slice(slash + 1) };
}

export function streamRef(name: string): StreamRef {
  const ref = knownStream(name);
  if (ref !== undefined) return ref;
  throw new HoldpointError("unknown_event", `The stream "${name}" is of a kind that is not known here.`);
}

export const actionStream = (id: string): StreamRef<"action"> => ({ kind: "action", id });
export const alertStream = (id: string): StreamRef<"alert"> => ({ kind: "alert", id });
export const answerStream = (id: string): StreamRef<"answer"> => ({ kind: "answer", id });
export const approvalStream = (id: string): StreamRef<"approval"> => ({ kind: "approval", id });
export const budgetStream = (id: string): StreamRef<"budget"> => ({ kind: "budget", id });
export const endpointStream = (id: string): StreamRef<"endpoint"> => ({ kind: "endpoint", id });
export const epochStream = (id: string): StreamRef<"epoch"> => ({ kind: "epoch", id });
export const grantStream = (id: string): StreamRef<"grant"> => ({ kind: "grant", id });
export const intentStream = (id: string): StreamRef<"intent"> => ({ kind: "intent", id });
export const keyStream = (id: string): StreamRef<"key"> => ({ kind: "key", id });
export const loginStream = (id: string): StreamRef<"login"> => ({ kind: "login", id });
export const messageStream = (id: string): StreamRef<"message"> => ({ kind: "message", id });
export const monitorStream = (name: string): StreamRef<"monitor"> => ({ kind: "monitor", id: name });
export const policyStream = (name: string): StreamRef<"policy"> => ({ kind: "policy", id: name });
export const sessionStream = (id: string): StreamRef<"session"> => ({ kind: "session", id });
export const switchStream = (scope: string): StreamRef<"switch"> => ({ kind: "switch", id: scope });
export const tenantStream = (name: string): StreamRef<"tenant"> => ({ kind: "tenant", id: name });
export const workflowStream = (id: string): StreamRef<"workflow"> => ({ kind: "workflow", id });
/** The one reader that makes messages of entries. */
export const NOTIFIER: StreamRef<"notifier"> = { kind: "notifier", id: "outbox" };
/** The one list of the people of a tenant: what they are there for, and whose standing was taken away. */
export const ROSTER: StreamRef<"roster"> = { kind: "roster", id: "people" };
/** The one stream about the store itself. */
export const HISTORY: StreamRef<"store"> = { kind: "store", id: "history" };
