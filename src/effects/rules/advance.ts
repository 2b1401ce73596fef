/**
 * Moves an action as far as it can go: to people, to a refusal, or to a started effect. Called when the action is
 * proposed, and again when a process that has the tool returns to it. All checks of the proposal are repeated here.
 *
 * - A decision of people is used only while binding, tool, policy, deadline, preview and the voters' standing still
 *   hold.
 * - A policy that has changed since reviews the action again. A block overrides any approval.
 * - Once people have seen a preview that then changed, they must approve again, even if the policy would now allow it.
 * - A standing grant may replace the vote of its owner. Once people were asked, they decide.
 */

import { askedAgain, askPeople, bindingNow } from "../../approvals/rules/ask.ts";
import { passTime } from "../../approvals/rules/deadline.ts";
import { approvers, concludeVotes, isMet, wanted } from "../../approvals/rules/quorum.ts";
import { appendApprovalEvent, getLiveApproval } from "../../approvals/rules/subject.ts";
import { lapse } from "../../approvals/rules/withdraw.ts";
import { type LiveApproval, stageRules } from "../../approvals/state.ts";
import { findStandingGrant } from "../../grants/rules.ts";
import { digestOf } from "../../kernel/canonical-json.ts";
import { actionStream, approvalStream, ROSTER } from "../../kernel/stream.ts";
import { type Draft, isNeed, type Need } from "../../kernel/transaction.ts";
import type { RosterState } from "../../people/stream.ts";
import type { Review } from "../../policy/rules/review.ts";
import { listStageRules } from "../../policy/rules/stages.ts";
import type { Executor as Bringer, Load } from "../../policy/rules/tool-rules.ts";
import { checkPlacement, type Turned } from "../../workflows/rules/calls.ts";
import type { ActionIn, LiveAction, ReviewFacts } from "../state.ts";
import { appendActionEvent, getLiveAction } from "../stream.ts";
import { reviewEdit } from "./edit.ts";
import {
  apartOf,
  argsOf,
  askedFacts,
  isSamePreview,
  PREVIEW_MOVED,
  previewNow,
  review,
  reviewFacts,
  withPeople,
} from "./review.ts";
import {
  checkMayStart,
  type EffectStarted,
  type EpochEnded,
  type ExecutorWithArgs,
  type HeldAction,
  type RefusedAction,
  refuseAction,
  startByGrant,
  startByVerdict,
  startEffect,
  withdrawPendingApproval,
} from "./start.ts";

type WaitingForPeople = {
  readonly kind: "waiting";
  readonly approval: string;
  /** Changes with an edit: people then decide about something else. */
  readonly binding: string;
  readonly decideBy: number | null;
};
/** Nothing to move: it is running or has ended. */
type AlreadySettled = { readonly kind: "settled"; readonly state: LiveAction };
/** An edit was reviewed: call `advance` again. */
type EditReviewed = { readonly kind: "moved" };
export type Advanced =
  | EditReviewed
  | EffectStarted
  | WaitingForPeople
  | HeldAction
  | RefusedAction
  | EpochEnded
  | AlreadySettled
  | Turned;

type Undecided = ActionIn<"open" | "waiting">;
/** Who refuses an action whose approval or tool no longer fits. */
const DISPATCH = "dispatch check";

/** `approval`: the one that the review opens, or null. */
function recordReview(
  draft: Draft,
  id: string,
  answer: Review,
  { rules, approval }: Pick<ExecutorWithArgs, "rules"> & { readonly approval: string | null },
): void {
  for (const { args, reason, rule } of answer.revisions) {
    const body = { by: "policy", args: draft.keep(args), argsDigest: digestOf(args), reason, rule };
    appendActionEvent(draft, id, "action.revised", body);
  }
  const body = approval === null ? reviewFacts(answer, rules) : askedFacts(answer, rules);
  const isNews = answer.revisions.length > 0 || approval !== null || !isKnown(getLiveAction(draft, id), body);
  if (isNews) appendActionEvent(draft, id, "action.reviewed", { ...body, approval });
}

/** Allowed again for the same reason while held: not recorded, so calling in a loop does not grow the journal. */
function isKnown(state: LiveAction, facts: ReviewFacts): boolean {
  if (state.phase !== "open" || state.review === null || facts.verdict === "block") return false;
  return digestOf(state.review) === digestOf(facts);
}

/** undefined: no standing grant covers it. */
function followGrant(
  draft: Draft,
  id: string,
  answer: Review,
  executor: ExecutorWithArgs,
): Need | Load | Advanced | undefined {
  if (answer.verdict !== "escalate") return undefined;
  const state = getLiveAction(draft, id);
  const left = apartOf(draft, answer, state);
  if (isNeed(left)) return left;
  const asked = { state, review: answer, args: answer.args, now: draft.now, ...left };
  const fitting = findStandingGrant(draft, asked);
  if (fitting.kind === "none") return undefined;
  if (fitting.kind !== "fits") return fitting;
  recordReview(draft, id, answer, { rules: executor.rules, approval: null });
  return startByGrant(draft, id, answer, { fitting, executor });
}

function followReview(
  draft: Draft,
  id: string,
  answer: Review,
  executor: ExecutorWithArgs,
): Need | Load | Advanced {
  if (answer.verdict === "escalate") {
    const more = draft.need({ write: [approvalStream(executor.ids.approval)] });
    if (more !== undefined) return more;
  }
  const approval = answer.verdict === "escalate" ? executor.ids.approval : null;
  recordReview(draft, id, answer, { rules: executor.rules, approval });
  switch (answer.verdict) {
    case "block": {
      const code = answer.invalidRevision ? "invalid_revision" : "blocked";
      return refuseAction(draft, id, { code, by: `policy (${answer.rule})`, reason: answer.reason });
    }
    case "approve":
      return startByVerdict(draft, id, answer, executor);
    case "escalate": {
      const { approval } = executor.ids;
      const state = getLiveAction(draft, id);
      const apart = apartOf(draft, answer, state);
      if (isNeed(apart)) return apart;
      const shows = previewNow(draft, { action: id, args: answer.args, approval: null }, executor);
      if (shows.kind === "load") return shows;
      askPeople(draft, { action: id, state, review: answer, apart, preview: shows.preview }, executor);
      const { binding, decideBy } = getLiveApproval(draft, approval);
      return { kind: "waiting", approval, binding, decideBy };
    }
  }
}

/** Why an approval can no longer be used as it is. `again`: the policy reviews the action again. */
function unusable(
  draft: Draft,
  state: Undecided,
  approval: LiveApproval,
  executor: ExecutorWithArgs,
): { code: "lapsed" | "tool_changed" | "binding_broken" | "again"; reason: string } | undefined {
  const { rules } = executor;
  if (rules.schemaDigest !== state.schema)
    return { code: "tool_changed", reason: "the tool's input schema changed after the proposal" };
  if (rules.effectClass !== state.effectClass)
    return { code: "tool_changed", reason: "the tool's effect class changed after the proposal" };
  if (approval.executeBy !== null && draft.now >= approval.executeBy)
    return { code: "lapsed", reason: "it was approved but not started in time" };
  const { tool, schema, effectClass, requester } = state;
  const same = { tool, schema, effectClass, requester, argsDigest: digestOf(executor.args) };
  const found = state.undo === undefined ? same : { ...same, undo: state.undo };
  if (bindingNow(draft.tenant, approval, found) !== approval.binding)
    return { code: "binding_broken", reason: "the arguments or terms differ from those approved" };
  if (rules.policyDigest !== approval.policy)
    return { code: "again", reason: "the policy changed after the approval" };
  if (!haveStanding(approval, draft.state(ROSTER)))
    return { code: "again", reason: "an approver lost their standing" };
  return undefined;
}

/** Every counted voter still counts: in every stage, or the editor whose single vote was enough. */
function haveStanding(approval: LiveApproval, roster: RosterState): boolean {
  const given = approval.decided?.by.length ?? 0;
  if (approval.status === "modified" && given < wanted(approval))
    return approvers(approval, roster).length >= given;
  return isMet(approval, roster);
}

/** Whether the policy, on a second review, still accepts this approval. */
function standsBehind(draft: Draft, answer: Review, approval: LiveApproval): boolean {
  if (answer.verdict === "block" || answer.revisions.length > 0) return false;
  if (answer.verdict === "approve") return true;
  const same = digestOf(listStageRules(answer)) === digestOf(stageRules(approval));
  return same && isMet(approval, draft.state(ROSTER));
}

/** Compares the current preview with the one that people saw when they approved it. */
function lookAgain(
  draft: Draft,
  id: string,
  approvalId: string,
  executor: ExecutorWithArgs,
): Load | "same" | "moved" {
  const shows = previewNow(draft, { action: id, args: executor.args, approval: approvalId }, executor);
  if (shows.kind === "load") return shows;
  const { preview } = getLiveApproval(draft, approvalId);
  return isSamePreview(preview, shows.preview) ? "same" : "moved";
}

function useDecision(
  draft: Draft,
  id: string,
  approvalId: string,
  executor: ExecutorWithArgs,
): Need | Load | Advanced {
  const state = getLiveAction(draft, id) as Undecided;
  const approval = getLiveApproval(draft, approvalId);
  const fault = unusable(draft, state, approval, executor);
  if (fault !== undefined && fault.code !== "again") {
    lapse(draft, approvalId, fault.reason);
    return refuseAction(draft, id, { code: fault.code, by: DISPATCH, reason: fault.reason });
  }
  const answer = review(draft, id, executor.args, executor);
  if ("kind" in answer) return answer;
  // Even if the policy would now start it without people, the preview they saw must still be what it does.
  const isLookedAt = fault === undefined || answer.verdict === "approve";
  const sight =
    isLookedAt && standsBehind(draft, answer, approval)
      ? lookAgain(draft, id, approvalId, executor)
      : "not looked at";
  if (typeof sight === "object") return sight;
  if (sight === "same" && fault === undefined) return startByApproval(draft, id, approvalId, executor);
  const more = draft.need({ write: [approvalStream(executor.ids.approval)] });
  if (more !== undefined) return more;
  const isMoved = sight === "moved";
  const next = withPeople(draft, state, isMoved ? askedAgain(answer, approval, PREVIEW_MOVED) : answer);
  if ("kind" in next) return next;
  const otherwise = fault?.reason ?? "the policy no longer allows what was approved";
  lapse(draft, approvalId, isMoved ? PREVIEW_MOVED : otherwise);
  return followReview(draft, id, next, executor);
}

function startByApproval(
  draft: Draft,
  id: string,
  approvalId: string,
  executor: ExecutorWithArgs,
): Need | Load | Advanced {
  const approval = getLiveApproval(draft, approvalId);
  const notes = approval.votes.flatMap((vote) => (vote.note === null ? [] : [vote.note]));
  const grant = { kind: "approval", approval: approvalId, by: approval.decided?.by ?? [], notes } as const;
  const permit = { grant, binding: approval.binding, executeBy: approval.executeBy };
  const answer = startEffect(draft, id, executor, permit);
  if (answer.kind === "started") {
    appendApprovalEvent(draft, approvalId, "approval.consumed", { effect: answer.effect });
  }
  if (answer.kind === "refused") lapse(draft, approvalId, answer.refusal.reason);
  return answer;
}

function followApproval(
  draft: Draft,
  id: string,
  approvalId: string,
  executor: ExecutorWithArgs,
): Need | Load | Advanced {
  const ref = approvalStream(approvalId);
  const more = draft.need({ write: [ref], read: [ROSTER] });
  if (more !== undefined) return more;
  const approval = draft.state(ref);
  if (approval.status === "none")
    throw new TypeError("an action waits for an approval that was never requested");
  if (approval.status === "approved" || approval.status === "modified")
    return useDecision(draft, id, approvalId, executor);
  const current = passTime(draft, approvalId);
  if (current.status === "expired")
    return refuseAction(draft, id, { code: "expired", by: "deadline", reason: "nobody decided in time" });
  if (current.edit !== null) {
    const reviewed = reviewEdit(draft, approvalId, executor);
    if (reviewed.kind === "need" || reviewed.kind === "load") return reviewed;
    return { kind: "moved" };
  }
  // A voter may be in good standing again.
  concludeVotes(draft, approvalId);
  const after = getLiveApproval(draft, approvalId);
  if (after.status !== "pending") return { kind: "moved" };
  const { binding, decideBy } = after;
  return { kind: "waiting", approval: approvalId, binding, decideBy };
}

function refuseBroken(draft: Draft, id: string, state: Undecided): Need | RefusedAction {
  const why = { by: DISPATCH, reason: "the arguments differ from those proposed" };
  return (
    withdrawPendingApproval(draft, state, why) ?? refuseAction(draft, id, { code: "binding_broken", ...why })
  );
}

/** For an action without an approval so far. */
function reviewFirst(draft: Draft, id: string, executor: ExecutorWithArgs): Need | Load | Advanced {
  const said = review(draft, id, executor.args, executor);
  const answer = "kind" in said ? said : withPeople(draft, getLiveAction(draft, id), said);
  if ("kind" in answer) return answer;
  return followGrant(draft, id, answer, executor) ?? followReview(draft, id, answer, executor);
}

/** `isNew`: the arguments were digested in this decision. Otherwise their digest is compared with the recorded one. */
export function advance(draft: Draft, id: string, bringer: Bringer, isNew = false): Need | Load | Advanced {
  const more = draft.need({ write: [actionStream(id)] });
  if (more !== undefined) return more;
  const state = getLiveAction(draft, id);
  if (state.phase !== "open" && state.phase !== "waiting") return { kind: "settled", state };
  const stop = checkMayStart(draft, id, state, bringer.epoch);
  if (stop !== undefined) return stop;
  // A proposal has already checked this, in the same decision.
  const elsewhere =
    isNew || state.within === undefined
      ? undefined
      : checkPlacement(draft, state.within, bringer.epoch, state.agent);
  if (elsewhere !== undefined) return elsewhere;
  const args = argsOf(state, bringer.loaded);
  if (args.kind === "load") return args;
  const executor = { ...bringer, args: args.value };
  if (!isNew && digestOf(args.value) !== state.argsDigest) return refuseBroken(draft, id, state);
  if (state.phase === "waiting") return followApproval(draft, id, state.approval, executor);
  if (executor.rules.schemaDigest !== state.schema || executor.rules.effectClass !== state.effectClass) {
    const reason = "the tool changed after the proposal";
    return refuseAction(draft, id, { code: "tool_changed", by: DISPATCH, reason });
  }
  return reviewFirst(draft, id, executor);
}
