/** The end of a workflow: completed, failed, or cancelled by somebody. A move that the states do not allow is recorded. */

import type { Json } from "../../kernel/json.ts";
import { channelField, type Via } from "../../kernel/principal.ts";
import { type NewEvent, workflowStream } from "../../kernel/stream.ts";
import { appendRefusal, type Draft, type Need } from "../../kernel/transaction.ts";

import type { Turned } from "./call.ts";
import type { RollbackReport } from "./events.ts";
import { type Failure, failWorkflow, lockParent, tellParent } from "./fail.ts";
import { heldBy, lockWorkflow, type Runner } from "./run.ts";
import { type LiveWorkflow, mayMove, type WorkflowStatus } from "./state.ts";

export type Ended = { readonly kind: "ended" } | Turned;

export function completeWorkflow(
  draft: Draft,
  runner: Runner,
  { result, before }: { readonly result: Json; readonly before: readonly NewEvent[] },
): Need | Ended {
  const state = heldBy(draft, runner, "run");
  if ("kind" in state) return state;
  if (state.status !== "executing") return { kind: "turned" };
  const more = lockParent(draft, state);
  if (more !== undefined) return more;
  const kept = draft.keep(result);
  draft.append(workflowStream(runner.workflow), [
    ...before,
    { type: "workflow.settling", tv: 1, body: { operations: state.operations } },
    { type: "workflow.completed", tv: 1, body: { result: kept } },
  ]);
  tellParent(draft, runner.workflow, { status: "completed", result: kept, reason: "" });
  return { kind: "ended" };
}

/** A definition that failed, where nothing is rolled back. */
export function failRun(
  draft: Draft,
  runner: Runner,
  { failure, before }: { readonly failure: Failure; readonly before: readonly NewEvent[] },
): Need | Ended {
  const state = lockWorkflow(draft, runner.workflow);
  if (state === undefined) return { kind: "turned" };
  if ("kind" in state) return state;
  if (state.runner !== runner.epoch || !mayMove(state.status, "failed")) return { kind: "turned" };
  draft.append(workflowStream(runner.workflow), before);
  return failWorkflow(draft, runner.workflow, failure) ?? { kind: "ended" };
}

export type Command = Via & { readonly workflow: string; readonly by: string; readonly reason: string };
export type RefusedMove = {
  readonly kind: "refused";
  readonly status: WorkflowStatus;
  readonly reason: string;
  readonly isRecorded: boolean;
};
export type Asked =
  | { readonly kind: "done"; readonly status: WorkflowStatus }
  | RefusedMove
  | { readonly kind: "unknown" };

export function refuseMove(
  draft: Draft,
  { by, workflow, status }: Command & { readonly status: WorkflowStatus },
  asked: string,
  reason: string,
): RefusedMove {
  const ref = workflowStream(workflow);
  const event = { type: "workflow.refused", tv: 1, body: { asked, by, status, reason } };
  const isRecorded = appendRefusal(draft, ref, draft.state(ref) as LiveWorkflow, event);
  return { kind: "refused", status, reason, isRecorded };
}

/** What a rollback had come to that is broken off; only where `seq` is still the last entry. */
export type BrokenOff = { readonly seq: number; readonly report: RollbackReport };

/** What was done stays done. Whoever wants it undone rolls back first. `back` is said of one that rolls back. */
export function cancelWorkflow(
  draft: Draft,
  command: Command & { readonly back?: BrokenOff },
): Need | Asked | { readonly kind: "moved" } {
  const state = lockWorkflow(draft, command.workflow);
  if (state === undefined) return { kind: "unknown" };
  if ("kind" in state) return state;
  if (state.end?.status === "failed" && state.end.code === "cancelled")
    return { kind: "done", status: "failed" };
  if (!mayMove(state.status, "failed"))
    return refuseMove(draft, { ...command, status: state.status }, "cancel", `it is ${state.status} already`);
  const { by, reason, workflow, back } = command;
  if (back !== undefined && back.seq !== state.seq) return { kind: "moved" };
  const report = back?.report ?? null;
  const more = failWorkflow(draft, workflow, {
    ...{ code: "cancelled", reason, by, report },
    ...channelField(command),
  });
  return more ?? { kind: "done", status: "failed" };
}

/** What it had begun was withdrawn: nothing of it is open any more but what ends by itself. */
export function closeWorkflow(draft: Draft, workflow: string): Need | { readonly kind: "closed" } {
  const state = lockWorkflow(draft, workflow);
  if (state !== undefined && "kind" in state) return state;
  if (state?.closing === true)
    draft.append(workflowStream(workflow), [{ type: "workflow.closed", tv: 1, body: {} }]);
  return { kind: "closed" };
}
