/**
 * Who is told what a workflow waits for, beside the instance's own listener: whoever started it here, or one above it.
 *
 * J1. A program that finds its workflow again is told again what that waits for: it may have died before it passed that on.
 */

import type { LiveWorkflow } from "../../core/workflow/state.ts";
import { outsideFrames } from "../../effects/call-context.ts";
import { approvalStream, workflowStream } from "../../kernel/stream.ts";
import type { Notice } from "../../runtime/notices.ts";
import type { Runtime } from "../../runtime/runtime.ts";
import { readState } from "../../runtime/store-access.ts";

import type { Listener } from "./dispatcher.ts";

export type Listeners = {
  readonly own: Map<string, Listener>;
  /** Workflows that were found again, with the approvals that were told about since. */
  readonly again: Map<string, Set<string>>;
};

export const noListeners = (): Listeners => ({ own: new Map(), again: new Map() });

/** A listener that fails is its author's own affair. */
function call(listener: Listener, notice: Notice): void {
  Promise.resolve()
    .then(() => outsideFrames(() => listener(notice)))
    .catch(() => undefined);
}

/** Those of the workflows above it, as far as they were started here. */
async function tellAbove(runtime: Runtime, { own }: Listeners, id: string, notice: Notice): Promise<void> {
  let state = await readState(runtime, workflowStream(id));
  while (state.status !== "none" && state.parent !== null) {
    const { workflow } = state.parent;
    const listener = own.get(workflow);
    if (listener !== undefined) call(listener, notice);
    state = await readState(runtime, workflowStream(workflow));
  }
}

/** The runtime as a run of this workflow has it. */
export function heard(runtime: Runtime, listeners: Listeners, id: string): Runtime {
  const notify = (notice: Notice) => {
    if (notice.kind === "waiting") listeners.again.get(id)?.add(notice.approval);
    runtime.notify(notice);
    const listener = listeners.own.get(id);
    if (listener !== undefined) call(listener, notice);
    if (listeners.own.size > 0) tellAbove(runtime, listeners, id, notice).catch(() => undefined);
  };
  return { ...runtime, notify };
}

function approvalsOf({ pending, waits }: LiveWorkflow): ReadonlySet<string> {
  const asked = waits.flatMap(({ kind, on }) => (kind === "approval" || kind === "question" ? on : []));
  return new Set(pending === null ? asked : [pending.approval, ...asked]);
}

async function tellOne(runtime: Runtime, id: string, approval: string): Promise<void> {
  const state = await readState(runtime, approvalStream(approval));
  if (state.status !== "pending") return;
  const { tool, decideBy } = state;
  const action = state.subject === undefined ? state.action : id;
  runtime.notify({ kind: "waiting", action, approval, tool, decideBy });
}

/** As soon as nobody runs it: what it waits for is known then. */
export async function tellAgain(runtime: Runtime, listeners: Listeners, id: string): Promise<void> {
  const told = listeners.again.get(id);
  if (told === undefined) return;
  const state = await readState(runtime, workflowStream(id));
  if (state.status === "none" || state.runner !== null || state.isReady) return;
  listeners.again.delete(id);
  for (const approval of approvalsOf(state))
    if (!told.has(approval)) await tellOne(heard(runtime, listeners, id), id, approval);
}
