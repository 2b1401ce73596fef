/**
 * An edit by an approver is a new proposal: same tool, schema and policy again, new binding.
 *
 * D1. Earlier votes are void; the editor's own counts for the new binding when the approver rule stayed the same.
 * D2. A stricter or other rule opens a new approval. An edit that policy forbids is refused and the question stays open.
 * D3. An edit that changes nothing is a plain approval.
 */

import { keepPreview, previewNow } from "../action/preview.ts";
import { review } from "../action/review.ts";
import { argsOf, type Executor, type Load } from "../action/start.ts";
import type { LiveAction } from "../action/state.ts";
import { digestOf } from "../digest.ts";
import { type Draft, isNeed, type Need } from "../draft.ts";
import type { Json } from "../json.ts";
import type { Preview } from "../preview.ts";
import type { Review } from "../review.ts";
import { actionStream, approvalStream, ROSTER } from "../stream.ts";
import { withAction } from "./end.ts";
import { askPeople, type EscalateReview, questionBinding } from "./request.ts";
import { approvers, isEligible, type LiveApproval, type OpenEdit } from "./state.ts";

export type EditAnswer =
  | { readonly kind: "accepted"; readonly approval: string }
  | { readonly kind: "edit_refused"; readonly rule: string; readonly reason: string };

type Edited = {
  readonly edit: OpenEdit;
  readonly args: Json;
  readonly review: Review;
  /** Of the arguments as they would run now. */
  readonly preview: Preview | null;
};

function refuseEdit(
  draft: Draft,
  id: string,
  edit: OpenEdit,
  why: { rule: string; reason: string },
): EditAnswer {
  draft.append(approvalStream(id), [{ type: "approval.edit_refused", tv: 1, body: { by: edit.by, ...why } }]);
  return { kind: "edit_refused", ...why };
}

/** Approved once enough people stand behind the present binding. */
export function concludeVotes(draft: Draft, id: string): void {
  const approval = draft.state(approvalStream(id)) as LiveApproval;
  const by = approvers(approval, draft.state(ROSTER));
  if (!(by.length >= approval.approvers.quorum)) return;
  draft.append(approvalStream(id), [
    { type: approval.edited ? "approval.modified" : "approval.approved", tv: 1, body: { by: [...by] } },
  ]);
}

function voteOf(draft: Draft, id: string, edit: OpenEdit): void {
  const { binding } = draft.state(approvalStream(id)) as LiveApproval;
  const { by, note, via } = edit;
  draft.append(approvalStream(id), [
    { type: "approval.voted", tv: 1, body: { by, decision: "approve", binding, note, via } },
  ]);
}

function reviseAction(draft: Draft, approval: LiveApproval, edited: Edited): void {
  const ref = actionStream(approval.action);
  const revised = (by: string, args: Json, reason: string, rule: string) =>
    draft.append(ref, [
      {
        type: "action.revised",
        tv: 1,
        body: { by, args: draft.keep(args), argsDigest: digestOf(args), reason, rule },
      },
    ]);
  revised(edited.edit.by, edited.args, edited.edit.note ?? "edited by an approver", "person");
  for (const { args, reason, rule } of edited.review.revisions) revised("policy", args, reason, rule);
}

function sameRule(approval: LiveApproval, review: Review): boolean {
  return review.verdict !== "escalate" || digestOf(review.approvers) === digestOf(approval.approvers);
}

function recordVerdict(
  draft: Draft,
  approval: LiveApproval,
  review: Review,
  place: { policy: string; approval: string },
): void {
  const { rule, reason } = review;
  const body = { verdict: "escalate", rule, reason, ...place };
  draft.append(actionStream(approval.action), [{ type: "action.reviewed", tv: 1, body }]);
}

function reopen(
  draft: Draft,
  id: string,
  { review, preview }: Pick<Edited, "preview"> & { readonly review: EscalateReview },
  executor: Executor,
): EditAnswer {
  const approval = draft.state(approvalStream(id)) as LiveApproval;
  const policy = executor.rules.policyDigest;
  const { approval: fresh, nonce } = executor.ids;
  const body = { by: "policy", reason: `the edit falls under another approver rule; ${fresh} asks instead` };
  draft.append(approvalStream(id), [{ type: "approval.cancelled", tv: 1, body }]);
  recordVerdict(draft, approval, review, { policy, approval: fresh });
  const state = draft.state(actionStream(approval.action)) as LiveAction;
  askPeople(draft, {
    action: approval.action,
    state,
    review,
    policy,
    schemaText: executor.rules.schemaText,
    approval: fresh,
    nonce,
    preview,
  });
  return { kind: "accepted", approval: fresh };
}

function rebind(draft: Draft, id: string, { edit, review, preview }: Edited, executor: Executor): EditAnswer {
  const ref = approvalStream(id);
  const approval = draft.state(ref) as LiveApproval;
  const policy = executor.rules.policyDigest;
  const change = {
    args: draft.keep(review.args),
    argsDigest: digestOf(review.args),
    policy,
    nonce: executor.ids.nonce,
    ...keepPreview(draft, preview),
  };
  const { preview: _ofBefore, ...asked } = approval;
  const binding = questionBinding(draft.tenant, { ...asked, ...change });
  draft.append(ref, [{ type: "approval.revised", tv: 1, body: { by: edit.by, ...change, binding } }]);
  recordVerdict(draft, approval, review, { policy, approval: id });
  voteOf(draft, id, edit);
  if (review.verdict === "approve")
    draft.append(ref, [{ type: "approval.modified", tv: 1, body: { by: [edit.by] } }]);
  else concludeVotes(draft, id);
  return { kind: "accepted", approval: id };
}

function accept(draft: Draft, id: string, edited: Edited, executor: Executor): EditAnswer {
  const approval = draft.state(approvalStream(id)) as LiveApproval;
  const { edit, review, preview } = edited;
  if (digestOf(review.args) === approval.argsDigest) {
    voteOf(draft, id, edit);
    concludeVotes(draft, id);
    return { kind: "accepted", approval: id };
  }
  reviseAction(draft, approval, edited);
  if (review.verdict === "escalate" && !sameRule(approval, review))
    return reopen(draft, id, { review, preview }, executor);
  return rebind(draft, id, edited, executor);
}

/** An edit of what a workflow asks: it has no tool and no policy of its own, so it stands as it was written. */
export function acceptAnswer(draft: Draft, id: string): void {
  const ref = approvalStream(id);
  const approval = draft.state(ref) as LiveApproval;
  const { edit } = approval;
  if (edit === null) throw new TypeError("there is no open edit to accept");
  if (edit.argsDigest !== approval.argsDigest) {
    const { args, argsDigest } = edit;
    const change = { args, argsDigest, policy: approval.policy, nonce: approval.nonce };
    const binding = questionBinding(draft.tenant, { ...approval, ...change });
    draft.append(ref, [{ type: "approval.revised", tv: 1, body: { by: edit.by, ...change, binding } }]);
  }
  voteOf(draft, id, edit);
  concludeVotes(draft, id);
}

/** Reviews the open edit of a pending approval, by somebody who has the tool at hand. */
export function reviewEdit(draft: Draft, id: string, executor: Executor): Need | Load | EditAnswer {
  const approval = withAction(draft, id);
  if (isNeed(approval)) return approval;
  const more = draft.need({ write: [approvalStream(executor.ids.approval)], read: [ROSTER] });
  if (more !== undefined) return more;
  if (approval.status !== "pending" || approval.edit === null)
    throw new TypeError("there is no open edit to review");
  const { edit } = approval;
  const args = argsOf(edit, executor.loaded);
  if (args.kind === "load") return args;
  const { rules } = executor;
  if (rules.schemaDigest !== approval.schema)
    return refuseEdit(draft, id, edit, {
      rule: "schema",
      reason: "the tool's input schema changed after the proposal",
    });
  if (!isEligible(approval, draft.state(ROSTER), edit.by))
    return refuseEdit(draft, id, edit, { rule: "standing", reason: "the editor may not decide this" });
  const valid = rules.validate(JSON.parse(JSON.stringify(args.value)) as Json);
  if (!valid.ok) return refuseEdit(draft, id, edit, { rule: "schema", reason: valid.issues });
  const answer = review(draft, approval.action, valid.value, executor);
  if ("kind" in answer) return answer;
  if (answer.verdict === "block")
    return refuseEdit(draft, id, edit, { rule: answer.rule, reason: answer.reason });
  const shows = previewNow(draft, { action: approval.action, args: answer.args, approval: null }, executor);
  if (shows.kind === "load") return shows;
  const { preview } = shows;
  return accept(draft, id, { edit, args: valid.value, review: answer, preview }, executor);
}
