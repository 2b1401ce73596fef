/**
 * An edit by an approver is a new proposal: same tool, schema and policy again, new binding.
 *
 * D1. Earlier votes are void; the editor's own counts for the new binding when the approver rule stayed the same, and the
 *     tool shows of it what the editor was shown. What nobody has seen yet everybody is asked about, the editor too.
 * D2. A stricter or other rule opens a new approval. An edit that policy forbids is refused and the question stays open.
 * D3. An edit that changes nothing is a plain approval. Where another edit came to the same before, and the tool shows
 *     something else since, only of somebody who names what is shown now; anybody else is asked about it.
 * D4. Stages begin again with the first, and with their time; an editor who is not of the first agrees when theirs comes.
 *     If the policy now lets it through without asking, the editor's word is enough, in whichever stage it was given, and
 *     under the same condition.
 */
import { isSamePreview, keepPreview, previewNow } from "../../core/action/preview.ts";
import { review, withPeople } from "../../core/action/review.ts";
import { askedFacts, remarksIn, versionsOf } from "../../core/action/review-facts.ts";
import type { LiveAction } from "../../core/action/state.ts";
import { digestOf } from "../../core/digest.ts";
import { type Draft, isNeed, type Need } from "../../core/draft.ts";
import { argsOf, type Executor, type Load } from "../../core/executor.ts";
import type { Json } from "../../core/json.ts";
import type { Review } from "../../core/review.ts";
import { rulesOf } from "../../core/stages.ts";
import { actionStream, approvalStream, ROSTER } from "../../core/stream.ts";
import {
  type EditRefusal,
  type LiveApproval,
  type OpenEdit,
  type Preview,
  stageRules,
  UNSEEN_PREVIEW,
} from "../state.ts";
import { againAfterEdit, askPeople, bindingNow, type EscalateReview, riskIn } from "./ask.ts";
import { withAction } from "./end.ts";
import { concludeVotes, isNeededLater } from "./quorum.ts";
import { isEligible } from "./seats.ts";
import { stageField } from "./time.ts";

/** `schema`: it does not fit; `standing`: it is not theirs; `block`, `revise`: what policy says of it. */
export type EditFault = "schema" | "standing" | "block" | "revise";

export type EditRefused = {
  readonly kind: "edit_refused";
  readonly fault: EditFault;
  readonly rule: string;
  readonly reason: string;
  /** As the policy would have it, where it would change it. */
  readonly args?: Json;
};

export type EditAnswer = { readonly kind: "accepted"; readonly approval: string } | EditRefused;

type Edited = {
  readonly edit: OpenEdit;
  readonly args: Json;
  readonly review: Review;
  /** Of the arguments as they would run now. */
  readonly preview: Preview | null;
};

type Refusing = Omit<EditRefusal, "by"> & Pick<EditRefused, "fault" | "args">;

function refuseEdit(draft: Draft, id: string, edit: OpenEdit, refusing: Refusing): EditAnswer {
  const { fault, args, ...why } = refusing;
  const { rule, reason } = why;
  draft.append(approvalStream(id), [{ type: "approval.edit_refused", tv: 1, body: { by: edit.by, ...why } }]);
  return { kind: "edit_refused", fault, rule, reason, ...(args === undefined ? {} : { args }) };
}

/** What the policy says of an edit that it does not let stand; undefined where it does. */
function refusalBy(answer: Review, { rules }: Pick<Executor, "rules">): Refusing | undefined {
  const asked = { ...versionsOf(rules), ...remarksIn(answer) };
  if (answer.verdict === "block")
    return { fault: "block", rule: answer.rule, reason: answer.reason, ...asked };
  const [change] = answer.revisions;
  if (change === undefined) return undefined;
  // Nobody has agreed to what the policy would make of it: whoever edits writes it that way, and sees it.
  const reason = `the policy would change it (${change.reason})`;
  return { fault: "revise", args: answer.args, rule: change.rule, reason, ...asked };
}

function voteOf(draft: Draft, id: string, edit: OpenEdit): void {
  const approval = draft.state(approvalStream(id)) as LiveApproval;
  const { by, note, via, shown } = edit;
  const said = { by, decision: "approve", binding: approval.binding, note, via };
  const body = { ...said, ...stageField(approval), ...(shown === undefined ? {} : { shown }) };
  draft.append(approvalStream(id), [{ type: "approval.voted", tv: 1, body }]);
}

/** The editor's word on the new binding, where the stage that is asked now is theirs to decide. */
function agreeAgain(draft: Draft, id: string, edit: OpenEdit): void {
  const approval = draft.state(approvalStream(id)) as LiveApproval;
  const roster = draft.state(ROSTER);
  if (!isEligible(approval, roster, edit.by) || isNeededLater(approval, roster, edit.by)) return;
  voteOf(draft, id, edit);
  concludeVotes(draft, id);
}

function reviseAction(draft: Draft, approval: LiveApproval, edited: Edited): void {
  const { edit, args } = edited;
  const reason = edit.note ?? "edited by an approver";
  const kept = { args: draft.keep(args), argsDigest: digestOf(args) };
  const body = { by: edit.by, ...kept, reason, rule: "person" };
  draft.append(actionStream(approval.action), [{ type: "action.revised", tv: 1, body }]);
}

function sameRule(approval: LiveApproval, review: Review): boolean {
  return review.verdict !== "escalate" || digestOf(rulesOf(review)) === digestOf(stageRules(approval));
}

/** `asked` is the approval that the action waits for. */
function recordVerdict(
  draft: Draft,
  { action }: LiveApproval,
  review: Review,
  { rules, asked }: Pick<Executor, "rules"> & { readonly asked: string },
): void {
  const body = { ...askedFacts(review, rules), approval: asked };
  draft.append(actionStream(action), [{ type: "action.reviewed", tv: 1, body }]);
}

function reopen(
  draft: Draft,
  id: string,
  { review, preview }: Pick<Edited, "preview"> & { readonly review: EscalateReview },
  executor: Executor,
): EditAnswer {
  const approval = draft.state(approvalStream(id)) as LiveApproval;
  const { approval: fresh, nonce } = executor.ids;
  const body = { by: "policy", reason: `the edit falls under another approver rule; ${fresh} asks instead` };
  draft.append(approvalStream(id), [{ type: "approval.cancelled", tv: 1, body }]);
  recordVerdict(draft, approval, review, { rules: executor.rules, asked: fresh });
  const state = draft.state(actionStream(approval.action)) as LiveAction;
  askPeople(draft, {
    action: approval.action,
    state,
    review,
    versions: versionsOf(executor.rules),
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
  const body = { by: edit.by, ...change, binding, ...asks };
  draft.append(ref, [{ type: "approval.revised", tv: 1, body }]);
  recordVerdict(draft, approval, review, { rules: executor.rules, asked: id });
  if (isEnough) {
    voteOf(draft, id, edit);
    draft.append(ref, [{ type: "approval.modified", tv: 1, body: { by: [edit.by] } }]);
  } else if (isSeen) agreeAgain(draft, id, edit);
  return { kind: "accepted", approval: id };
}

/** What they ask for stands already; what the tool shows of it they have not said that they saw. */
function askEditor(draft: Draft, id: string, { by }: OpenEdit): EditAnswer {
  const reason = "it stands already, and the tool shows something else of it now: look at that, and decide";
  draft.append(approvalStream(id), [
    { type: "approval.edit_refused", tv: 1, body: { by, rule: UNSEEN_PREVIEW, reason } },
  ]);
  return { kind: "accepted", approval: id };
}

function accept(draft: Draft, id: string, edited: Edited, executor: Executor): EditAnswer {
  const approval = draft.state(approvalStream(id)) as LiveApproval;
  const { edit, review, preview } = edited;
  if (digestOf(review.args) === approval.argsDigest) {
    if (approval.showsOther && edit.seen !== approval.binding) return askEditor(draft, id, edit);
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
    const asks = againAfterEdit(approval, draft.now);
    const binding = bindingNow(draft.tenant, approval, { ...change, ...asks.again });
    const body = { by: edit.by, ...change, binding, ...asks };
    draft.append(ref, [{ type: "approval.revised", tv: 1, body }]);
  }
  agreeAgain(draft, id, edit);
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
      fault: "schema",
      rule: "schema",
      reason: "the tool's input schema changed after the proposal",
    });
  if (!isEligible(approval, draft.state(ROSTER), edit.by))
    return refuseEdit(draft, id, edit, {
      fault: "standing",
      rule: "standing",
      reason: "the editor may not decide this",
    });
  const valid = rules.validate(JSON.parse(JSON.stringify(args.value)) as Json);
  if (!valid.ok)
    return refuseEdit(draft, id, edit, { fault: "schema", rule: "schema", reason: valid.issues });
  const said = review(draft, approval.action, valid.value, executor);
  if ("kind" in said) return said;
  const state = draft.state(actionStream(approval.action)) as LiveAction;
  const answer = sameRule(approval, said) ? said : withPeople(draft, state, said);
  if ("kind" in answer) return answer;
  const refused = refusalBy(answer, executor);
  if (refused !== undefined) return refuseEdit(draft, id, edit, refused);
  const shows = previewNow(draft, { action: approval.action, args: answer.args, approval: null }, executor);
  if (shows.kind === "load") return shows;
  const { preview } = shows;
  return accept(draft, id, { edit, args: valid.value, review: answer, preview }, executor);
}
