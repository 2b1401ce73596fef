/**
 * Delivery of intents to their recipients, and waiting for their answers.
 * - Unacknowledged intents are delivered, oldest first, and again until they are acknowledged. The first delivery is
 *   journaled; later ones are only counted.
 * - A wait sees what was decided before it began: the watch is made before the state is read.
 * - A wait that times out says so, and the intent goes on; the wait can be repeated, in any process.
 * - A waiting process records an expired deadline itself; a sweep announces those of intents without a waiter.
 */

import { expireIfDue, isApprovalOverdue } from "../../approvals/rules/deadline.ts";
import { HoldpointError } from "../../kernel/errors.ts";
import type { Json } from "../../kernel/json.ts";
import { approvalStream, intentStream } from "../../kernel/stream.ts";
import { eachRow, forEachReadable } from "../../runtime/lists.ts";
import type { Runtime } from "../../runtime/runtime.ts";
import { readState, readStateAt, runCommand } from "../../runtime/store-access.ts";
import type { WaitLimit } from "../../runtime/waker.ts";
import type { TenantStore, ViewRow } from "../../stores/store.ts";
import type { Intent } from "./contract.ts";
import { markDelivered, timeOutIntentIfDue } from "./rules/answer.ts";
import { getIntent, type IntentWaitOptions, loadAnswerData, unknownIntent } from "./send-and-answer.ts";
import { isIntentOverdue, type LiveIntent } from "./stream.ts";

export type IntentDelivery = {
  readonly intent: Intent;
  /** How often this listener has delivered it. */
  readonly times: number;
};

type TenantStoreAndClock = Pick<Runtime, "store" | "tenant" | "clock">;
type Cursor = { readonly at: number; readonly stream: string };

const PAGE = 100;
/** Payload bytes per batch: the intent that reaches this limit is the last one. */
const MOST_BYTES = 4 * 1024 * 1024;
const AGAIN_MS = 30_000;

function queryInbox(
  { store, tenant }: TenantStoreAndClock,
  agent: string,
  after: Cursor | undefined,
): Promise<readonly ViewRow[]> {
  const query = { view: "intent_inbox", bucket: agent, order: "oldest", limit: PAGE } as const;
  return store.query(tenant, { ...query, ...(after === undefined ? {} : { after }) });
}

const cursorAt = ({ at, stream }: ViewRow): Cursor => ({ at, stream: `intent/${stream.id}` });

/** undefined: it was acknowledged in the meantime, or has ended. */
async function handOverIntent(place: TenantStoreAndClock, id: string): Promise<Intent | undefined> {
  const { status } = await runCommand(place, { write: [intentStream(id)] }, (draft) =>
    markDelivered(draft, id),
  );
  return status === "delivered" ? getIntent(place, id) : undefined;
}

/** Unacknowledged intents after a cursor. */
async function listDeliverable(
  place: TenantStoreAndClock,
  agent: string,
  after?: Cursor,
): Promise<{ readonly items: readonly Intent[]; readonly next: Cursor | null }> {
  const rows = await queryInbox(place, agent, after);
  const items: Intent[] = [];
  let bytes = 0;
  for (const row of rows) {
    const intent = await handOverIntent(place, row.stream.id);
    if (intent === undefined) continue;
    items.push(intent);
    bytes += Buffer.byteLength(JSON.stringify(intent.payload));
    if (bytes >= MOST_BYTES) return { items, next: cursorAt(row) };
  }
  const last = rows.at(-1);
  return { items, next: rows.length === PAGE && last !== undefined ? cursorAt(last) : null };
}

type HandOverRecord = { times: number; at: number };

async function* eachInboxId(place: TenantStoreAndClock, agent: string): AsyncGenerator<string> {
  for await (const { stream } of eachRow(place, { view: "intent_inbox", bucket: agent })) yield stream.id;
}

/** Everything due for delivery now. */
async function* dueDeliveries(
  place: TenantStoreAndClock,
  agent: string,
  handed: Map<string, HandOverRecord>,
): AsyncGenerator<IntentDelivery> {
  const open = new Set<string>();
  for await (const id of eachInboxId(place, agent)) {
    open.add(id);
    const { times, at } = handed.get(id) ?? { times: 0, at: Number.NEGATIVE_INFINITY };
    const intent = place.clock.now() < at + AGAIN_MS ? undefined : await handOverIntent(place, id);
    if (intent === undefined) continue;
    handed.set(id, { times: times + 1, at: place.clock.now() });
    yield { intent, times: times + 1 };
  }
  for (const id of handed.keys()) if (!open.has(id)) handed.delete(id);
}

/** Time until the first redelivery; null if nothing was delivered. */
function untilRedelivery({ clock }: Runtime, handed: ReadonlyMap<string, HandOverRecord>): number | null {
  if (handed.size === 0) return null;
  return Math.min(...[...handed.values()].map(({ at }) => at + AGAIN_MS)) - clock.now();
}

/** Unacknowledged intents; if there are none, the next one that arrives within the time. */
export async function nextIntentsFor(
  runtime: Runtime,
  agent: string,
  { holdMs, signal }: WaitLimit,
): Promise<readonly Intent[]> {
  const { items } = await listDeliverable(runtime, agent);
  if (items.length > 0 || holdMs <= 0) return items;
  const over = new AbortController();
  void runtime.clock.sleep(holdMs, over.signal).then(() => over.abort());
  try {
    const until = AbortSignal.any([signal, over.signal]);
    for await (const { intent } of deliverIntentsTo(runtime, agent, until)) return [intent];
    return [];
  } finally {
    over.abort();
  }
}

/** Ends when the signal aborts, or the instance closes. */
export async function* deliverIntentsTo(
  runtime: Runtime,
  agent: string,
  signal: AbortSignal,
): AsyncGenerator<IntentDelivery> {
  const over = AbortSignal.any([signal, runtime.closing]);
  const handed = new Map<string, HandOverRecord>();
  const watch = await runtime.waker.watch("intent");
  const stop = () => watch.close();
  over.addEventListener("abort", stop, { once: true });
  try {
    while (!over.aborted) {
      for await (const delivery of dueDeliveries(runtime, agent, handed)) {
        if (over.aborted) return;
        yield delivery;
      }
      if (!over.aborted) await watch.moved(untilRedelivery(runtime, handed));
    }
  } finally {
    over.removeEventListener("abort", stop);
    watch.close();
  }
}

export type Waited =
  | { readonly status: "completed"; readonly intent: string; readonly data: Json }
  | {
      readonly status: "failed" | "timed_out" | "cancelled";
      readonly intent: string;
      readonly reason: string;
    }
  /** The wait has timed out, and the intent goes on: wait again. */
  | { readonly status: "timed_out_waiting"; readonly intent: string };

type CurrentIntent = { readonly state: LiveIntent; readonly now: number; readonly dueAt: number | null };

async function dueTime(place: TenantStoreAndClock, { approval, deadline }: LiveIntent, now: number) {
  if (approval === null) return { dueAt: deadline, isDue: false };
  const asked = await readState(place, approvalStream(approval));
  if (asked.status === "none") return { dueAt: null, isDue: false };
  return { dueAt: asked.decideBy, isDue: isApprovalOverdue(asked, now) };
}

/** The intent, with deadlines applied by the store's clock. */
async function bringIntentUpToDate(place: TenantStoreAndClock, id: string): Promise<CurrentIntent> {
  for (;;) {
    const { state, now } = await readStateAt(place, intentStream(id));
    if (state.status === "none") throw unknownIntent(id);
    if (state.end !== null) return { state, now, dueAt: null };
    const { dueAt, isDue } = await dueTime(place, state, now);
    const { approval } = state;
    if (approval !== null && isDue)
      await runCommand(place, { write: [approvalStream(approval)] }, (draft) => expireIfDue(draft, approval));
    else if (isIntentOverdue(state, now))
      await runCommand(place, { write: [intentStream(id)] }, (draft) => timeOutIntentIfDue(draft, id));
    else return { state, now, dueAt };
  }
}

async function waitResult(place: TenantStore, intent: string, state: LiveIntent): Promise<Waited> {
  const { end, approval } = state;
  if (end === null) return { status: "timed_out_waiting", intent };
  if (end.status !== "completed") return { status: end.status, intent, reason: end.reason };
  const data = await loadAnswerData(place, end.data, approval);
  return { status: "completed", intent, data: structuredClone(data) };
}

const closedWhileWaiting = () => new HoldpointError("closed", "This instance was closed while it waited.");

/** Longest sleep; null: until something changes. */
function sleepTime(until: number | null, here: number, { dueAt, now }: CurrentIntent): number | null {
  const own = until === null ? [] : [until - here];
  const due = dueAt === null ? [] : [Math.max(dueAt - now, 1)];
  const all = [...own, ...due];
  return all.length === 0 ? null : Math.min(...all);
}

type WaitLimits = {
  /** By the clock of this process; null: no limit. */
  readonly until: number | null;
  /** Aborting one ends the wait, after a last look. */
  readonly signals: readonly AbortSignal[];
  /** Whether to return the current state now; may throw instead. */
  readonly isEnough: () => boolean;
};

/** Holds no thread and no timer of more than a day. */
async function waitUntil(
  runtime: Runtime,
  id: string,
  { until, signals, isEnough }: WaitLimits,
): Promise<Waited> {
  const { clock } = runtime;
  const watch = await runtime.waker.watch([intentStream(id)]);
  const stop = () => watch.close();
  for (const signal of signals) signal.addEventListener("abort", stop, { once: true });
  try {
    for (;;) {
      const enough = isEnough();
      const standing = await bringIntentUpToDate(runtime, id);
      const isUp = enough || (until !== null && clock.now() >= until);
      if (standing.state.end !== null || isUp) return await waitResult(runtime, id, standing.state);
      await watch.moved(sleepTime(until, clock.now(), standing));
    }
  } finally {
    for (const signal of signals) signal.removeEventListener("abort", stop);
    watch.close();
  }
}

export function waitForIntent(
  runtime: Runtime,
  id: string,
  options: IntentWaitOptions = {},
): Promise<Waited> {
  const { timeoutSeconds, signal } = options;
  const until = timeoutSeconds === undefined ? null : runtime.clock.now() + timeoutSeconds * 1_000;
  return waitUntil(runtime, id, {
    until,
    signals: signal === undefined ? [] : [signal],
    isEnough() {
      signal?.throwIfAborted();
      if (runtime.closing.aborted) throw closedWhileWaiting();
      return false;
    },
  });
}

/** A short wait: if it ends early for any reason, it returns the current state. */
export function longPollIntent(runtime: Runtime, id: string, { holdMs, signal }: WaitLimit): Promise<Waited> {
  return waitUntil(runtime, id, {
    until: runtime.clock.now() + holdMs,
    signals: [signal],
    isEnough: () => signal.aborted || runtime.closing.aborted,
  });
}

const MOST_AT_ONCE = 200;
/** One process announces each deadline; if it dies, another one does after this lease. */
const LEASE_MS = 10_000;

export async function sweepOverdueIntents(
  runtime: Pick<Runtime, "store" | "tenant" | "clock">,
): Promise<void> {
  const due = { view: "intent_times", bucket: "open", dueBy: runtime.clock.now(), limit: MOST_AT_ONCE };
  const rows = await runtime.store.claim(runtime.tenant, { ...due, leaseMs: LEASE_MS });
  await forEachReadable(rows, ({ stream: { id } }) =>
    runCommand(runtime, { write: [intentStream(id)] }, (draft) => timeOutIntentIfDue(draft, id)),
  );
}
