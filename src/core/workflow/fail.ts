/**
 * The failure of a workflow.
 *
 * E1. It ends once; its parent is told in the same commit.
 * E2. Nobody is left with a question about a workflow that is over.
 */
import { withdrawApproval } from "../../approvals/rules/end.ts";
import type { Json } from "../../kernel/json.ts";
import type { Via } from "../../kernel/principal.ts";
import { approvalStream, workflowStream } from "../../kernel/stream.ts";
import type { Draft, Need } from "../../kernel/transaction.ts";

import type { FailureCode, Irreversible, RollbackReport } from "./events.ts";
import type { LiveWorkflow } from "./state.ts";

export type Failure = Via & {
  readonly code: FailureCode;
  readonly reason: string;
  readonly by: string;
  readonly report: RollbackReport | null;
};

export function tellParent(
  draft: Draft,
  id: string,
  end: { status: "completed" | "failed"; result: Json; reason: string },
) {
  const state = draft.state(workflowStream(id)) as LiveWorkflow;
  if (state.parent === null) return;
  const { workflow, op } = state.parent;
  draft.append(workflowStream(workflow), [{ type: "child.ended", tv: 1, body: { op, child: id, ...end } }]);
}

export function lockParent(draft: Draft, state: LiveWorkflow): Need | undefined {
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

/** Each action once: what earlier rollbacks left behind, then what this one did. */
function together(before: readonly Irreversible[], now: readonly Irreversible[]): readonly Irreversible[] {
  const known = new Set(before.map(({ action }) => action));
  return [...before, ...now.filter(({ action }) => !known.has(action))];
}

/** With what earlier rollbacks could not undo; null where nothing was ever rolled back. */
function fullReport({ irreversible }: LiveWorkflow, report: RollbackReport | null): RollbackReport | null {
  if (irreversible.length === 0) return report;
  const own = report ?? { undone: [], notUndone: [], irreversible: [] };
  return { ...own, irreversible: together(irreversible, own.irreversible) };
}

/** The caller has made sure that the workflow may fail now. */
export function failWorkflow(draft: Draft, id: string, failure: Failure): Need | undefined {
  const ref = workflowStream(id);
  const state = draft.state(ref) as LiveWorkflow;
  const more = lockParent(draft, state) ?? withdrawQuestion(draft, state, failure.by, failure.reason);
  if (more !== undefined) return more;
  const body = { ...failure, report: fullReport(state, failure.report) };
  draft.append(ref, [{ type: "workflow.failed", tv: 1, body }]);
  tellParent(draft, id, { status: "failed", result: null, reason: failure.reason });
  return undefined;
}
