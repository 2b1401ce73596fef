/**
 * Waiting for an intent.
 *
 * A1. What was decided before the wait began is seen at once: the watch is made before the state is read.
 * A2. Running out of time is an answer of its own, and the intent goes on. Waiting again, in any process, goes on too.
 * A3. Time that is over is written down by whoever waits, whether anybody sweeps or not.
 */

import { expireIfDue, isApprovalOverdue } from "../../approvals/rules/end.ts";
import { passIntentTime } from "../../core/intent/end.ts";
import { isOverdue, type LiveIntent } from "../../core/intent/state.ts";
import { HoldpointError } from "../../kernel/errors.ts";
import type { Json } from "../../kernel/json.ts";
import { approvalStream, intentStream } from "../../kernel/stream.ts";
import type { Runtime } from "../../runtime/runtime.ts";
import { readState, readStateAt, runCommand } from "../../runtime/store-access.ts";
import type { WaitLimit } from "../../runtime/waker.ts";

import type { WaitOptions } from "./check-intent.ts";
import { loadData, unknownIntent } from "./intents.ts";

export type Waited =
  | { readonly status: "completed"; readonly intent: string; readonly data: Json }
  | {
      readonly status: "failed" | "timed_out" | "cancelled";
      readonly intent: string;
      readonly reason: string;
    }
  /** The wait is over, and the intent goes on: wait again. */
  | { readonly status: "timed_out_waiting"; readonly intent: string };

type Place = Pick<Runtime, "store" | "tenant" | "clock">;
type Standing = { readonly state: LiveIntent; readonly now: number; readonly dueAt: number | null };

async function dueOf(place: Place, { approval, deadline }: LiveIntent, now: number) {
  if (approval === null) return { dueAt: deadline, isDue: false };
  const asked = await readState(place, approvalStream(approval));
  if (asked.status === "none") return { dueAt: null, isDue: false };
  return { dueAt: asked.decideBy, isDue: isApprovalOverdue(asked, now) };
}

/** The intent, brought up to the store's time. */
export async function standingOf(place: Place, id: string): Promise<Standing> {
  for (;;) {
    const { state, now } = await readStateAt(place, intentStream(id));
    if (state.status === "none") throw unknownIntent(id);
    if (state.end !== null) return { state, now, dueAt: null };
    const { dueAt, isDue } = await dueOf(place, state, now);
    const { approval } = state;
    if (approval !== null && isDue)
      await runCommand(place, { write: [approvalStream(approval)] }, (draft) => expireIfDue(draft, approval));
    else if (isOverdue(state, now))
      await runCommand(place, { write: [intentStream(id)] }, (draft) => passIntentTime(draft, id));
    else return { state, now, dueAt };
  }
}

export async function waitedOf(
  place: Pick<Runtime, "store" | "tenant">,
  intent: string,
  state: LiveIntent,
): Promise<Waited> {
  const { end, approval } = state;
  if (end === null) return { status: "timed_out_waiting", intent };
  if (end.status !== "completed") return { status: end.status, intent, reason: end.reason };
  const data = await loadData(place, end.data, approval);
  return { status: "completed", intent, data: structuredClone(data) };
}

const closed = () => new HoldpointError("closed", "This instance was closed while it waited.");

/** How long to sleep at most; null: until something moves. */
function patience(until: number | null, here: number, { dueAt, now }: Standing): number | null {
  const own = until === null ? [] : [until - here];
  const due = dueAt === null ? [] : [Math.max(dueAt - now, 1)];
  const all = [...own, ...due];
  return all.length === 0 ? null : Math.min(...all);
}

type Patience = {
  /** By the clock of this process; null: for ever. */
  readonly until: number | null;
  /** Whoever waits is let go: then it is looked at a last time. */
  readonly signals: readonly AbortSignal[];
  /** Thrown, or answered as it stands. */
  readonly isEnough: () => boolean;
};

/** Holds no thread and no timer of more than a day. */
async function wait(runtime: Runtime, id: string, { until, signals, isEnough }: Patience): Promise<Waited> {
  const { clock } = runtime;
  const watch = await runtime.waker.watch([intentStream(id)]);
  const stop = () => watch.close();
  for (const signal of signals) signal.addEventListener("abort", stop, { once: true });
  try {
    for (;;) {
      const enough = isEnough();
      const standing = await standingOf(runtime, id);
      const isUp = enough || (until !== null && clock.now() >= until);
      if (standing.state.end !== null || isUp) return await waitedOf(runtime, id, standing.state);
      await watch.moved(patience(until, clock.now(), standing));
    }
  } finally {
    for (const signal of signals) signal.removeEventListener("abort", stop);
    watch.close();
  }
}

export function waitForIntent(runtime: Runtime, id: string, options: WaitOptions = {}): Promise<Waited> {
  const { timeoutSeconds, signal } = options;
  const until = timeoutSeconds === undefined ? null : runtime.clock.now() + timeoutSeconds * 1_000;
  return wait(runtime, id, {
    until,
    signals: signal === undefined ? [] : [signal],
    isEnough() {
      signal?.throwIfAborted();
      if (runtime.closing.aborted) throw closed();
      return false;
    },
  });
}

/** The same for a moment: whatever ends it early, it is answered as it stands. */
export function holdForIntent(runtime: Runtime, id: string, { holdMs, signal }: WaitLimit): Promise<Waited> {
  return wait(runtime, id, {
    until: runtime.clock.now() + holdMs,
    signals: [signal],
    isEnough: () => signal.aborted || runtime.closing.aborted,
  });
}
