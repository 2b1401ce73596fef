/**
 * Calls and intents of a workflow, as its own stream records them. A call's proposal and outcome are in the action's
 * stream; in the same commit the workflow's stream records that it was made and how it ended. Likewise the end of an
 * intent reaches the workflows that wait for it, and the one that sent it, in the same commit.
 * Nothing starts for a workflow that is not executing, for a process that no longer runs it, or for an agent that does
 * not drive it; a compensation starts only while the workflow rolls back.
 */

import type { LiveIntent } from "../../agents/intents/stream.ts";
import { settledAnswer } from "../../effects/rules/receipt.ts";
import type { LiveAction, Within } from "../../effects/state.ts";
import { actionStream, type NewEvent, workflowStream } from "../../kernel/stream.ts";
import type { Draft, Need } from "../../kernel/transaction.ts";
import type { CallUndo, Lineage } from "../events.ts";
import type { LiveWorkflow } from "../state.ts";

/** The workflow has moved on in the meantime: nothing was proposed. */
export type Turned = { readonly kind: "turned" };

/** What the process that runs the workflow adds to the call. */
export type Placement = Within & {
  readonly epoch: string;
  /** Undone automatically when the workflow fails. */
  readonly rollback: boolean;
  /** How it is undone, if a remote agent drives the workflow: there is no definition to look it up in. */
  readonly undo?: CallUndo;
};

function isHere(state: LiveWorkflow, within: Within, epoch: string): boolean {
  return state.runner === epoch && state.status === (within.undoes === null ? "executing" : "rolling_back");
}

/** Locks the workflow and checks that the call still belongs there. */
export function checkPlacement(
  draft: Draft,
  within: Within,
  process: string,
  agent: string,
): Need | Turned | undefined {
  const ref = workflowStream(within.workflow);
  const more = draft.need({ write: [ref] });
  if (more !== undefined) return more;
  const state = draft.state(ref);
  if (state.status === "none") return { kind: "turned" };
  const epoch = state.isOutside === true ? agent : process;
  return isHere(state, within, epoch) ? undefined : { kind: "turned" };
}

/** A new call must also belong to the current attempt: a run that was sent back may still be making calls. */
export function checkNewPlacement(draft: Draft, within: Placement, agent: string): Need | Turned | undefined {
  const elsewhere = checkPlacement(draft, within, within.epoch, agent);
  if (elsewhere !== undefined || within.undoes !== null) return elsewhere;
  const state = draft.state(workflowStream(within.workflow)) as LiveWorkflow;
  return within.op.startsWith(`${within.workflow}/${state.generation}/`) ? undefined : { kind: "turned" };
}

const undoField = (undo: CallUndo | undefined) => (undo === undefined ? {} : { undo });

export function placeCall(
  draft: Draft,
  { workflow, op, undoes, rollback, undo }: Placement,
  call: { readonly action: string; readonly tool: string; readonly argsDigest: string },
): void {
  const { action, tool, argsDigest } = call;
  const made: NewEvent =
    undoes === null
      ? { type: "call.made", tv: 1, body: { op, action, tool, argsDigest, rollback, ...undoField(undo) } }
      : { type: "compensation.made", tv: 1, body: { op, action, undoes, tool } };
  draft.append(workflowStream(workflow), [made]);
}

function settledEvent(draft: Draft, action: string, state: LiveAction, within: Within): NewEvent | undefined {
  const answer = settledAnswer(draft.tenant, action, state);
  if (answer === undefined || (answer.executed === "in_doubt" && !within.goesOn)) return undefined;
  const { op, undoes } = within;
  if (undoes === null) return { type: "call.settled", tv: 1, body: { op, action, answer } };
  const reason = answer.executed === true ? "" : answer.reason;
  const status = answer.executed === true ? "undone" : "not_undone";
  return { type: "compensation.settled", tv: 1, body: { action, undoes, status, reason } };
}

/** Records the call's outcome in the workflow. A call in doubt stays open, unless the workflow goes on regardless. */
export function settleCall(draft: Draft, action: string): Need | undefined {
  const state = draft.state(actionStream(action));
  if (state.phase === "none" || state.within === undefined) return undefined;
  const ref = workflowStream(state.within.workflow);
  const more = draft.need({ write: [ref] });
  if (more !== undefined) return more;
  const event = settledEvent(draft, action, state, state.within);
  if (event !== undefined && draft.state(ref).status !== "none") draft.append(ref, [event]);
  return undefined;
}

/** A parent undoes what its child did, and waits for the child's calls in doubt: wake it when one is resolved. */
export function wakeParents(draft: Draft, action: string): Need | undefined {
  const state = draft.state(actionStream(action));
  if (state.phase === "none" || state.within === undefined) return undefined;
  let flow = draft.state(workflowStream(state.within.workflow));
  while (flow.status !== "none" && flow.parent !== null) {
    const { workflow, above = [] } = flow.parent;
    const ref = workflowStream(workflow);
    // Request all ancestors at once, because a decision has few rounds.
    const more = draft.need({ write: [ref, ...above.map(workflowStream)] });
    if (more !== undefined) return more;
    flow = draft.state(ref);
    if (flow.status === "rolling_back")
      draft.append(ref, [{ type: "workflow.woken", tv: 1, body: { by: action } }]);
  }
  return undefined;
}

/** The caller has locked the workflow, and the intent has ended. */
export function notifyIntentWaiter(draft: Draft, intent: string, { end }: LiveIntent, waiter: Lineage): void {
  const ref = workflowStream(waiter.workflow);
  const flow = draft.state(ref);
  if (end === null || flow.status === "none" || flow.end !== null) return;
  const said =
    end.status === "completed" ? { data: end.data, reason: "" } : { data: null, reason: end.reason };
  const body = { op: waiter.op, intent, status: end.status, ...said };
  draft.append(ref, [{ type: "wait.ended", tv: 1, body }]);
}

/** The sender has one open operation less. */
export function notifyIntentSender(draft: Draft, intent: string, { end }: LiveIntent, sender: Lineage): void {
  const ref = workflowStream(sender.workflow);
  const flow = draft.state(ref);
  if (end === null || flow.status === "none" || !flow.open.includes(intent)) return;
  draft.append(ref, [{ type: "send.ended", tv: 1, body: { op: sender.op, intent, status: end.status } }]);
}
