/**
 * An edit by an approver is a new proposal: same tool, schema and policy again, new binding.
 *
 * - Earlier votes are void. The editor's own vote counts for the new binding if the approver rule is unchanged and the
 *   preview is the one the editor saw. A preview that no approver has seen goes to all of them, the editor included.
 * - A stricter or different rule opens a new approval. An edit that the policy forbids is refused; the question stays
 *   open.
 * - An edit that changes nothing is a plain approval. If an earlier edit led to the same arguments and changed the
 *   preview, it counts only if the editor names the current binding. Otherwise the editor is asked to review it.
 * - Stages begin again with the first, with new deadlines. An editor of a later stage agrees when that stage comes.
 * - If the policy now allows it without approval, the editor's vote is enough in any stage, if they saw the preview.
 */
import {
  againAfterEdit,
  askPeople,
  bindingNow,
  type EscalateReview,
  keepPreview,
  riskIn,
  versionsOf,
} from "../../approvals/rules/ask.ts";
import { concludeVotes, isEligible } from "../../approvals/rules/quorum.ts";
import {
  appendApprovalEvent,
  type EditAnswer,
  type EditRefused,
  getLiveApproval,
  withAction,
} from "../../approvals/rules/subject.ts";
import { agreeAgain, recordVote } from "../../approvals/rules/vote.ts";
import {
  type EditRefusal,
  type LiveApproval,
  type OpenEdit,
  type Preview,
  stageRules,
  UNSEEN_PREVIEW,
} from "../../approvals/state.ts";
import { digestOf } from "../../kernel/canonical-json.ts";
import type { Json } from "../../kernel/json.ts";
import { approvalStream, ROSTER } from "../../kernel/stream.ts";
import { type Draft, isNeed, type Need } from "../../kernel/transaction.ts";
import type { Review } from "../../policy/rules/review.ts";
import { listStageRules } from "../../policy/rules/stages.ts";
import type { Executor, Load } from "../../policy/rules/tool-rules.ts";
import { appendActionEvent, getLiveAction } from "../stream.ts";
import {
  apartOf,
  argsOf,
  askedFacts,
  isSamePreview,
  previewNow,
  remarksIn,
  review,
  withPeople,
} from "./review.ts";

type Edited = {
  readonly edit: OpenEdit;
  readonly args: Json;
  readonly review: Review;
  /** Of the arguments that would run now. */
  readonly preview: Preview | null;
};

type Refusing = Omit<EditRefusal, "by"> & Pick<EditRefused, "fault" | "args">;

function refuseEdit(draft: Draft, id: string, edit: OpenEdit, refusing: Refusing): EditAnswer {
  const { fault, args, ...why } = refusing;
  const { rule, reason } = why;
  appendApprovalEvent(draft, id, "approval.edit_refused", { by: edit.by, ...why });
  return { kind: "edit_refused", fault, rule, reason, ...(args === undefined ? {} : { args }) };
}

/** Why an edit cannot be reviewed. */
function whyNot(draft: Draft, approval: LiveApproval, by: string, executor: Executor): Refusing | undefined {
  if (executor.rules.schemaDigest !== approval.schema) {
    const reason = "the tool's input schema changed after the proposal";
    return { fault: "schema", rule: "schema", reason };
  }
  return isEligible(approval, draft.state(ROSTER), by)
    ? undefined
    : { fault: "standing", rule: "standing", reason: "the editor may not decide this" };
}

/** Why the policy does not accept an edit. undefined: it does. */
function refusalBy(answer: Review, { rules }: Executor): Refusing | undefined {
  const asked = { ...versionsOf(rules), ...remarksIn(answer) };
  if (answer.verdict === "block")
    return { fault: "block", rule: answer.rule, reason: answer.reason, ...asked };
  const [change] = answer.revisions;
  if (change === undefined) return undefined;
  // No person has agreed to the policy's version. The editor has to write it that way, and thereby sees it.
  const reason = `the policy would change it (${change.reason})`;
  return { fault: "revise", args: answer.args, rule: change.rule, reason, ...asked };
}

function reviseAction(draft: Draft, { action }: LiveApproval, { edit, args }: Edited): void {
  const kept = { args: draft.keep(args), argsDigest: digestOf(args) };
  const body = { by: edit.by, ...kept, reason: edit.note ?? "edited by an approver", rule: "person" };
  appendActionEvent(draft, action, "action.revised", body);
}

function sameRule(approval: LiveApproval, review: Review): boolean {
  return review.verdict !== "escalate" || digestOf(listStageRules(review)) === digestOf(stageRules(approval));
}

function reopen(
  draft: Draft,
  id: string,
  { review, preview }: Pick<Edited, "preview"> & { readonly review: EscalateReview },
  executor: Executor,
): Need | EditAnswer {
  const { action } = getLiveApproval(draft, id);
  const { approval: fresh } = executor.ids;
  const reason = `the edit falls under another approver rule; ${fresh} asks instead`;
  appendApprovalEvent(draft, id, "approval.superseded", { by: "policy", reason, approval: fresh });
  const facts = askedFacts(review, executor.rules);
  appendActionEvent(draft, action, "action.reviewed", { ...facts, approval: fresh });
  const state = getLiveAction(draft, action);
  const apart = apartOf(draft, review, state);
  if (isNeed(apart)) return apart;
  askPeople(draft, { action, state, review, apart, preview }, executor);
  return { kind: "accepted", approval: fresh };
}

function rebind(draft: Draft, id: string, { edit, review, preview }: Edited, executor: Executor): EditAnswer {
  const approval = getLiveApproval(draft, id);
  const { by } = edit;
  const change = {
    args: draft.keep(review.args),
    argsDigest: digestOf(review.args),
    ...versionsOf(executor.rules),
    nonce: executor.ids.nonce,
    ...keepPreview(draft, preview),
    ...riskIn(review),
  };
  const isSeen = preview === null || isSamePreview(approval.preview, preview);
  const isEnough = isSeen && review.verdict === "approve";
  const asks = isEnough ? {} : againAfterEdit(approval, draft.now);
  const { preview: _ofBefore, ...before } = approval;
  const binding = bindingNow(draft.tenant, before, { ...change, ...asks.again });
  appendApprovalEvent(draft, id, "approval.revised", { by, ...change, binding, ...asks });
  const facts = askedFacts(review, executor.rules);
  appendActionEvent(draft, approval.action, "action.reviewed", { ...facts, approval: id });
  if (isEnough) {
    recordVote(draft, id, { ...edit, decision: "approve" });
    appendApprovalEvent(draft, id, "approval.modified", { by: [by] });
  } else if (isSeen) agreeAgain(draft, id, edit);
  return { kind: "accepted", approval: id };
}

/** The edit is already in effect. If the preview has changed since, the editor must have seen the new one. */
function agree(draft: Draft, id: string, edit: OpenEdit): EditAnswer {
  const approval = getLiveApproval(draft, id);
  if (approval.showsOther && edit.seen !== approval.binding) {
    const reason = "the edit is accepted, but the preview changed: review it, then decide";
    appendApprovalEvent(draft, id, "approval.edit_refused", { by: edit.by, rule: UNSEEN_PREVIEW, reason });
  } else {
    recordVote(draft, id, { ...edit, decision: "approve" });
    concludeVotes(draft, id);
  }
  return { kind: "accepted", approval: id };
}

function accept(draft: Draft, id: string, edited: Edited, executor: Executor): Need | EditAnswer {
  const approval = getLiveApproval(draft, id);
  const { edit, review, preview } = edited;
  if (digestOf(review.args) === approval.argsDigest) return agree(draft, id, edit);
  reviseAction(draft, approval, edited);
  if (review.verdict === "escalate" && !sameRule(approval, review))
    return reopen(draft, id, { review, preview }, executor);
  return rebind(draft, id, edited, executor);
}

/** Reviews the open edit of a pending approval. The executor has the tool. */
export function reviewEdit(draft: Draft, id: string, executor: Executor): Need | Load | EditAnswer {
  const approval = withAction(draft, id);
  if (isNeed(approval)) return approval;
  const more = draft.need({ write: [approvalStream(executor.ids.approval)], read: [ROSTER] });
  if (more !== undefined) return more;
  if (approval.status !== "pending" || approval.edit === null)
    throw new TypeError("there is no open edit to review");
  const { edit, action } = approval;
  const args = argsOf(edit, executor.loaded);
  if (args.kind === "load") return args;
  const fault = whyNot(draft, approval, edit.by, executor);
  if (fault !== undefined) return refuseEdit(draft, id, edit, fault);
  const valid = executor.rules.validate(JSON.parse(JSON.stringify(args.value)) as Json);
  if (!valid.ok)
    return refuseEdit(draft, id, edit, { fault: "schema", rule: "schema", reason: valid.issues });
  const first = review(draft, action, valid.value, executor);
  if ("kind" in first) return first;
  const answer = sameRule(approval, first) ? first : withPeople(draft, getLiveAction(draft, action), first);
  if ("kind" in answer) return answer;
  const refused = refusalBy(answer, executor);
  if (refused !== undefined) return refuseEdit(draft, id, edit, refused);
  const shows = previewNow(draft, { action, args: answer.args, approval: null }, executor);
  if (shows.kind === "load") return shows;
  return accept(draft, id, { edit, args: valid.value, review: answer, preview: shows.preview }, executor);
}
