/**
 * The end of a workflow: completed, failed, or cancelled by somebody.
 *
 * E1. It ends once; its parent is told in the same commit. A move that the states do not allow is refused and recorded.
 * E2. Nobody is left with a question about a workflow that is over.
 */
import { withdrawApproval } from "../approval/withdraw.ts";
import type { Draft, Need } from "../draft.ts";
import type { NewEvent } from "../event.ts";
import type { Json } from "../json.ts";
import { approvalStream, workflowStream } from "../stream.ts";
import type { Turned } from "./call.ts";
import type { FailureCode, RollbackReport } from "./events.ts";
import { heldBy, lockWorkflow, type Runner } from "./run.ts";
import { type LiveWorkflow, mayMove, type WorkflowStatus } from "./state.ts";

export type Failure = {
  readonly code: FailureCode;
  readonly reason: string;
  readonly by: string;
  readonly report: RollbackReport | null;
};

function tellParent(
  draft: Draft,
  id: string,
  end: { status: "completed" | "failed"; result: Json; reason: string },
) {
  const state = draft.state(workflowStream(id)) as LiveWorkflow;
  if (state.parent === null) return;
  const { workflow, op } = state.parent;
  draft.append(workflowStream(workflow), [{ type: "child.ended", tv: 1, body: { op, child: id, ...end } }]);
}

function lockParent(draft: Draft, state: LiveWorkflow): Need | undefined {
  return state.parent === null ? undefined : draft.need({ write: [workflowStream(state.parent.workflow)] });
}

/** Takes back the question that a checkpoint asked. */
export function withdrawQuestion(
  draft: Draft,
  state: LiveWorkflow,
  by: string,
  reason: string,
): Need | undefined {
  if (state.pending === null) return undefined;
  const ref = approvalStream(state.pending.approval);
  const more = draft.need({ write: [ref] });
  if (more !== undefined) return more;
  withdrawApproval(draft, state.pending.approval, { by, reason });
  return undefined;
}

/** The caller has made sure that the workflow may fail now. */
export function failWorkflow(draft: Draft, id: string, failure: Failure): Need | undefined {
  const ref = workflowStream(id);
  const state = draft.state(ref) as LiveWorkflow;
  const more = lockParent(draft, state) ?? withdrawQuestion(draft, state, failure.by, failure.reason);
  if (more !== undefined) return more;
  draft.append(ref, [{ type: "workflow.failed", tv: 1, body: failure }]);
  tellParent(draft, id, { status: "failed", result: null, reason: failure.reason });
  return undefined;
}

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

export type Command = { readonly workflow: string; readonly by: string; readonly reason: string };
export type Asked =
  | { readonly kind: "done"; readonly status: WorkflowStatus }
  | { readonly kind: "refused"; readonly status: WorkflowStatus; readonly reason: string }
  | { readonly kind: "unknown" };

export function refuseMove(
  draft: Draft,
  { by, workflow, status }: Command & { readonly status: WorkflowStatus },
  asked: string,
  reason: string,
): Asked {
  const body = { asked, by, status, reason };
  draft.append(workflowStream(workflow), [{ type: "workflow.refused", tv: 1, body }]);
  return { kind: "refused", status, reason };
}

/** What was done stays done. Whoever wants it undone rolls back first. */
export function cancelWorkflow(draft: Draft, command: Command): Need | Asked {
  const state = lockWorkflow(draft, command.workflow);
  if (state === undefined) return { kind: "unknown" };
  if ("kind" in state) return state;
  if (state.end?.status === "failed" && state.end.code === "cancelled")
    return { kind: "done", status: "failed" };
  if (!mayMove(state.status, "failed"))
    return refuseMove(draft, { ...command, status: state.status }, "cancel", `it is ${state.status} already`);
  const { by, reason, workflow } = command;
  const more = failWorkflow(draft, workflow, { code: "cancelled", reason, by, report: null });
  return more ?? { kind: "done", status: "failed" };
}
