/** Ends of an approval that are not votes: its deadline, a withdrawal, a revocation, a permission that no longer fits. */
import { type Refused, refuse, type Why } from "../../core/action/refuse.ts";
import { type Draft, isNeed, type Need } from "../../core/draft.ts";
import { refusal } from "../../core/refusal.ts";
import { actionStream, approvalStream, ROSTER } from "../../core/stream.ts";
import { type Via, viaField } from "../../core/via.ts";
import { tellWorkflow } from "../../core/workflow/tell.ts";
import { type ApprovalState, aboutOf, type LiveApproval } from "../state.ts";
import { isOverdue, passTime } from "./time.ts";

/** The approval has just expired. */
export function refuseExpired(draft: Draft, approval: LiveApproval): Refused {
  return refuseSubject(draft, approval, {
    code: "expired",
    by: "deadline",
    reason: "nobody decided in time",
  });
}

/** The action that was asked about is refused; a workflow is told on its own terms. */
export function refuseSubject(draft: Draft, approval: LiveApproval, why: Why): Refused {
  if (approval.subject === undefined) return refuse(draft, actionStream(approval.action), why);
  return { kind: "refused", refusal: refusal(why.code, why.by, why.reason) };
}

export function lapse(draft: Draft, id: string, reason: string): void {
  draft.append(approvalStream(id), [{ type: "approval.lapsed", tv: 1, body: { reason } }]);
}

export type EndAnswer =
  | { readonly kind: "ended"; readonly status: ApprovalState["status"] }
  | { readonly kind: "not_possible"; readonly status: ApprovalState["status"] };

/** Locks an approval and what it is about together. */
export function withAction(draft: Draft, id: string): Need | ApprovalState {
  const ref = approvalStream(id);
  const more = draft.need({ write: [ref] });
  if (more !== undefined) return more;
  const state = draft.state(ref);
  if (state.status === "none") return state;
  return draft.need({ write: [aboutOf(state)] }) ?? state;
}

/** What people do to an approval beside deciding it: by the roster, after whatever the time that passed has brought about. */
export function actOn<Answer>(
  draft: Draft,
  id: string,
  act: (approval: LiveApproval) => Answer,
): Need | Answer | { readonly kind: "unknown" } {
  const before = withAction(draft, id);
  if (isNeed(before)) return before;
  if (before.status === "none") return { kind: "unknown" };
  const more = draft.need({ read: [ROSTER] });
  if (more !== undefined) return more;
  const approval = passTime(draft, id);
  const isOver = before.status === "pending" && approval.status !== "pending";
  if (isOver) refuseExpired(draft, approval);
  const answer = act(approval);
  return (isOver ? tellWorkflow(draft, id) : undefined) ?? answer;
}

/** Announces that a deadline has passed: it expired, or another stage is asked, or there is more time. */
export function expireIfDue(
  draft: Draft,
  id: string,
): Need | EndAnswer | { readonly kind: "moved"; readonly status: "pending" } {
  const state = withAction(draft, id);
  if ("kind" in state) return state;
  if (state.status === "none" || !isOverdue(state, draft.now))
    return { kind: "not_possible", status: state.status };
  const approval = passTime(draft, id);
  if (approval.status === "pending") return { kind: "moved", status: "pending" };
  refuseExpired(draft, approval);
  return tellWorkflow(draft, id) ?? { kind: "ended", status: "expired" };
}

export type Withdrawal = Via & { readonly approval: string; readonly by: string; readonly reason: string };

/** Takes a pending question back; the caller knows that this may be done. Saying it twice answers the same twice. */
export function cancel(draft: Draft, command: Withdrawal): Need | EndAnswer {
  const state = withAction(draft, command.approval);
  if ("kind" in state) return state;
  const { by, reason } = command;
  if (state.status === "cancelled" && state.decided?.by.includes(by))
    return { kind: "ended", status: "cancelled" };
  if (state.status !== "pending") return { kind: "not_possible", status: state.status };
  const current = passTime(draft, command.approval);
  if (current.status === "expired") {
    refuseExpired(draft, current);
    return tellWorkflow(draft, command.approval) ?? { kind: "not_possible", status: "expired" };
  }
  draft.append(approvalStream(command.approval), [
    { type: "approval.cancelled", tv: 1, body: { by, reason, ...viaField(command) } },
  ]);
  refuseSubject(draft, state, { code: "cancelled", by, reason });
  return tellWorkflow(draft, command.approval) ?? { kind: "ended", status: "cancelled" };
}

/** Whether there is a decision that was not used yet. */
export const isGiven = ({ status }: ApprovalState): boolean => status === "approved" || status === "modified";

/** Takes a decision back before it was used. Saying it twice answers the same twice. */
export function revoke(draft: Draft, command: Withdrawal): Need | EndAnswer {
  const state = withAction(draft, command.approval);
  if ("kind" in state) return state;
  const { by, reason } = command;
  if (state.status === "revoked" && state.ended?.by.includes(by)) return { kind: "ended", status: "revoked" };
  if (state.status === "none" || !isGiven(state)) return { kind: "not_possible", status: state.status };
  const body = { by, reason, ...viaField(command) };
  draft.append(approvalStream(command.approval), [{ type: "approval.revoked", tv: 1, body }]);
  refuseSubject(draft, state, { code: "revoked", by, reason });
  return tellWorkflow(draft, command.approval) ?? { kind: "ended", status: "revoked" };
}
