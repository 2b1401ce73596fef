/**
 * Waiting for something to be over, a moment at a time.
 *
 * U1. What was over before the wait began is answered at once: the watch is made before the state is read.
 * U2. Nothing of a wait is kept: whoever asks again, of any process, goes on waiting.
 * U3. An approval's time that is over is written down by whoever waits for it, whether anybody sweeps or not.
 */

import type { Approval } from "../approvals/contract.ts";
import { getApproval } from "../approvals/decide.ts";
import { expireIfDue, isApprovalOverdue } from "../approvals/rules/end.ts";
import { type Action, findAction, getAction } from "../effects/actions.ts";
import { actionStream, approvalStream, type StreamRef, workflowStream } from "../kernel/stream.ts";
import type { Runtime } from "../runtime/runtime.ts";
import { readStateAt, runCommand } from "../runtime/store-access.ts";
import type { WaitLimit } from "../runtime/waker.ts";

import { getWorkflow, type WorkflowDetails } from "../workflows/read.ts";

export type Stood<State> = { readonly isOver: boolean; readonly state: State };
/** `dueInMs`: when it has to be looked at again though nobody moved it. */
type Look<State> = Stood<State> & { readonly dueInMs: number | null };

async function hold<State>(
  runtime: Runtime,
  stream: StreamRef,
  { holdMs, signal }: WaitLimit,
  look: () => Promise<Look<State>>,
): Promise<Stood<State>> {
  const { clock, waker, closing } = runtime;
  const until = clock.now() + holdMs;
  const watch = await waker.watch([stream]);
  const over = AbortSignal.any([signal, closing]);
  const stop = () => watch.close();
  over.addEventListener("abort", stop, { once: true });
  try {
    for (;;) {
      const { dueInMs, ...stood } = await look();
      const left = until - clock.now();
      if (stood.isOver || left <= 0 || over.aborted) return stood;
      await watch.moved(Math.min(left, Math.max(dueInMs ?? left, 1)));
    }
  } finally {
    over.removeEventListener("abort", stop);
    watch.close();
  }
}

/** Brought up to the store's time. Answers how long it can still wait. */
async function timeLeft(runtime: Runtime, id: string): Promise<number | null> {
  for (;;) {
    const { state, now } = await readStateAt(runtime, approvalStream(id));
    if (state.status !== "pending" || state.decideBy === null) return null;
    if (!isApprovalOverdue(state, now)) return state.decideBy - now;
    await runCommand(runtime, { write: [approvalStream(id)] }, (draft) => expireIfDue(draft, id));
  }
}

/** Until people have decided, or their time is over. */
export function waitForApproval(runtime: Runtime, id: string, how: WaitLimit): Promise<Stood<Approval>> {
  return hold(runtime, approvalStream(id), how, async () => {
    const found = await getApproval(runtime, id);
    if (found.status !== "pending") return { isOver: true, state: found, dueInMs: null };
    const dueInMs = await timeLeft(runtime, id);
    const state = dueInMs === null ? await getApproval(runtime, id) : found;
    return { isOver: state.status !== "pending", state, dueInMs };
  });
}

const UNDER_WAY = new Set<Action["phase"]>(["open", "waiting", "running"]);

/** Until it has an outcome, or was refused. */
export async function waitForAction(runtime: Runtime, id: string, how: WaitLimit): Promise<Stood<Action>> {
  const action = await findAction(runtime, id);
  return hold(runtime, actionStream(action), how, async () => {
    const state = await getAction(runtime, action);
    return { isOver: !UNDER_WAY.has(state.phase), state, dueInMs: null };
  });
}

/** Until it has ended. */
export function waitForWorkflow(
  runtime: Runtime,
  id: string,
  how: WaitLimit,
): Promise<Stood<WorkflowDetails>> {
  return hold(runtime, workflowStream(id), how, async () => {
    const state = await getWorkflow(runtime, id);
    return { isOver: state.end !== null, state, dueInMs: null };
  });
}
