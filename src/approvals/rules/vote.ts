/**
 * A person's decision.
 *
 * O1. The first terminal decision wins; the same person saying the same again gets the original answer.
 * O2. Any other late, second, stale or ineligible decision is refused and recorded.
 * O3. The deadline is checked here, on the store's clock; it never waits for a sweeper.
 * O4. What is wrong with an edit is said only to somebody who could decide with it: anybody else is refused the same whatever
 *     they wrote, and learns nothing of what it was compared with.
 */

import { digestOf } from "../../core/digest.ts";
import { type Draft, isNeed, type Need } from "../../core/draft.ts";
import type { Executor, Load } from "../../core/executor.ts";
import type { Json } from "../../core/json.ts";
import { recordRefusal } from "../../core/record-refusal.ts";
import type { RosterState } from "../../core/roster.ts";
import { approvalStream, ROSTER } from "../../core/stream.ts";
import { tellWorkflow } from "../../core/workflow/tell.ts";
import { type ApprovalState, type ApprovalStatus, type LiveApproval, stageRules } from "../state.ts";
import { acceptAnswer, type EditRefused, reviewEdit } from "./edit.ts";
import { refuseExpired, refuseSubject, withAction } from "./end.ts";
import { concludeVotes, isHopeless, isNeededLater } from "./quorum.ts";
import { delegationsIn, isEligible } from "./seats.ts";
import { isOverdue, passTime, stageField } from "./time.ts";

export type EditFlaw = "secret" | "misfit";

export type VoteCommand = {
  readonly approval: string;
  readonly by: string;
  readonly decision: "approve" | "reject";
  /** The binding of what the voter saw; null trusts what stands now. */
  readonly binding: string | null;
  /** The binding is of what stood when the edit was written, and nobody says that they saw it. */
  readonly isAssumed?: true;
  readonly note: string | null;
  readonly via: string;
  /** Digest of the card, or of the row of a list, that the voter saw; recorded, and never compared. */
  readonly shown?: string;
  /** A rejection after which a workflow is not to try again. */
  readonly isFinal?: boolean;
  /** The arguments as the approver wants them, whole. */
  readonly edit: Json | undefined;
  /** Of the edit, before any review: a secret's value stands in it, or it does not fit what the journal kept. */
  readonly flaw?: EditFlaw;
  /** The tool, where this process has it; otherwise an edit waits for a process that does. */
  readonly executor: Executor | null;
};

export type VoteAnswer =
  | { readonly kind: "recorded" | "same"; readonly status: ApprovalStatus; readonly approval: string }
  | { readonly kind: "edit_open"; readonly status: ApprovalStatus; readonly approval: string }
  | {
      readonly kind: "vote_refused";
      readonly code: Refusal["code"] | "edit_refused" | "invalid_args";
      readonly reason: string;
      readonly status: ApprovalStatus;
      readonly isRecorded: boolean;
      /** Only of an edit that was reviewed. */
      readonly edit?: EditRefused;
    }
  | { readonly kind: "unknown" };

type Refusal = {
  readonly code: "decision_conflict" | "not_eligible" | "secret_transformed";
  readonly reason: string;
};

const SECRET_IN_CLEAR: Refusal = {
  code: "secret_transformed",
  reason: "a secret's value stands in the edit in clear",
};

function statusNow(draft: Draft, id: string): ApprovalStatus {
  return (draft.state(approvalStream(id)) as LiveApproval).status;
}

function refuseVote(draft: Draft, command: VoteCommand, why: Refusal): VoteAnswer {
  const { by, decision, via } = command;
  const ref = approvalStream(command.approval);
  const state = draft.state(ref) as LiveApproval;
  const body = { by, decision, via, ...why };
  const isRecorded = recordRefusal(draft, ref, state, { type: "approval.vote_refused", tv: 1, body });
  return { kind: "vote_refused", ...why, status: state.status, isRecorded };
}

function refuseFlawed(draft: Draft, command: VoteCommand, flaw: EditFlaw): VoteAnswer {
  if (flaw === "secret") return refuseVote(draft, command, SECRET_IN_CLEAR);
  const status = statusNow(draft, command.approval);
  const why = { code: "invalid_args", reason: "the edit does not fit" } as const;
  return { kind: "vote_refused", ...why, status, isRecorded: false };
}

/** The same person decided the same before, on the same terms. */
function isRepeat(approval: LiveApproval, roster: RosterState, command: VoteCommand): boolean {
  const { edit, by } = command;
  if (approval.edit?.by === by) return edit !== undefined && digestOf(edit) === approval.edit.argsDigest;
  const before = approval.votes.find((vote) => vote.by === by && vote.binding === approval.binding);
  const isSame = edit === undefined || digestOf(edit) === approval.argsDigest;
  if (before === undefined) {
    // An editor of a later stage has no vote yet: the edit had the first stage asked again. Nor has one whose edit the tool
    // shows something else of: whoever sends the same once more has not seen that, unless they name it.
    const isNamed = command.isAssumed !== true && command.binding === approval.binding;
    const isUnseen = approval.preview !== undefined && !isNamed;
    const hasNoVote = isUnseen || !isEligible(approval, roster, by);
    return edit !== undefined && isSame && approval.editor === by && hasNoVote;
  }
  // Whoever edits names what stood before their edit.
  const isOfThat = edit !== undefined || command.binding === null || command.binding === before.binding;
  return before.decision === command.decision && isSame && isOfThat;
}

/** Somebody whose stage is over is late; anybody else was not asked, or not yet. */
function notAsked(approval: LiveApproval, roster: RosterState, by: string): Refusal {
  const handed = delegationsIn(approval, approval.stage).find((one) => one.by === by);
  if (handed !== undefined)
    return { code: "not_eligible", reason: `${by} has handed their seat to ${handed.to}` };
  const rules = stageRules(approval);
  const stages = rules.flatMap((_, index) =>
    isEligible(approval, roster, by, index + 1) ? [index + 1] : [],
  );
  const next = stages.find((stage) => stage > approval.stage);
  if (next !== undefined)
    return {
      code: "not_eligible",
      reason: `${by} is asked in stage ${next}; now it is stage ${approval.stage}`,
    };
  const over = stages.at(-1);
  return over === undefined
    ? { code: "not_eligible", reason: `${by} may not decide this` }
    : { code: "decision_conflict", reason: `stage ${over} is over, and ${by} is not asked after it` };
}

/** Wants what another editor has made of it already, as it was shown before that: they are asked about what is shown now. */
const isUnseen = ({ showsOther, argsDigest }: LiveApproval, { edit }: VoteCommand): boolean =>
  showsOther && edit !== undefined && digestOf(edit) === argsDigest;

function whyNot(draft: Draft, approval: LiveApproval, command: VoteCommand): Refusal | undefined {
  const roster = draft.state(ROSTER);
  if (!isEligible(approval, roster, command.by)) return notAsked(approval, roster, command.by);
  if (approval.status !== "pending")
    return { code: "decision_conflict", reason: `it is ${approval.status} already` };
  if (command.binding !== null && command.binding !== approval.binding && !isUnseen(approval, command))
    return { code: "decision_conflict", reason: "what was decided is not what is asked now" };
  if (approval.votes.some((vote) => vote.by === command.by))
    return { code: "decision_conflict", reason: `${command.by} has decided already` };
  if (approval.edit !== null && command.decision === "approve")
    return { code: "decision_conflict", reason: `an edit by ${approval.edit.by} is being reviewed` };
  if (command.decision === "approve" && isNeededLater(approval, roster, command.by))
    return { code: "not_eligible", reason: `${command.by} is needed in a later stage, and decides once` };
  return undefined;
}

const shownField = ({ shown }: VoteCommand) => (shown === undefined ? {} : { shown });

function castVote(draft: Draft, approval: LiveApproval, command: VoteCommand): VoteAnswer {
  const ref = approvalStream(command.approval);
  const { by, decision, note, via } = command;
  const final = command.isFinal === true ? { final: true } : {};
  const said = { by, decision, note, via, ...stageField(approval), ...shownField(command) };
  draft.append(ref, [
    { type: "approval.voted", tv: 1, body: { ...said, binding: approval.binding, ...final } },
  ]);
  if (decision === "approve") concludeVotes(draft, command.approval);
  else if (isHopeless(draft.state(ref) as LiveApproval, draft.state(ROSTER))) {
    const reason = note ?? "no reason given";
    draft.append(ref, [{ type: "approval.rejected", tv: 1, body: { by, reason } }]);
    refuseSubject(draft, approval, { code: "rejected", by, reason });
  }
  return { kind: "recorded", status: statusNow(draft, command.approval), approval: command.approval };
}

function openEdit(draft: Draft, command: VoteCommand, args: Json): Need | Load | VoteAnswer {
  const { by, note, via, approval: id } = command;
  const isNamed = command.binding !== null && command.isAssumed !== true;
  const seen = { ...(isNamed ? { seen: command.binding } : {}), ...shownField(command) };
  const body = { by, args: draft.keep(args), argsDigest: digestOf(args), note, via, ...seen };
  draft.append(approvalStream(id), [{ type: "approval.edited", tv: 1, body }]);
  const { subject } = draft.state(approvalStream(id)) as LiveApproval;
  if (subject !== undefined) {
    acceptAnswer(draft, id);
    return { kind: "recorded", status: statusNow(draft, id), approval: id };
  }
  if (command.executor === null) return { kind: "edit_open", status: "pending", approval: id };
  const executor = {
    ...command.executor,
    loaded: new Map([...command.executor.loaded, [body.argsDigest, args]]),
  };
  const answer = reviewEdit(draft, id, executor);
  if (answer.kind === "need" || answer.kind === "load") return answer;
  if (answer.kind === "accepted")
    return { kind: "recorded", status: statusNow(draft, id), approval: answer.approval };
  return {
    kind: "vote_refused",
    code: "edit_refused",
    reason: `${answer.reason} (${answer.rule})`,
    isRecorded: true,
    status: "pending",
    edit: answer,
  };
}

/** A workflow hears of what its approval came to, in the same commit. */
export function vote(draft: Draft, command: VoteCommand): Need | Load | VoteAnswer {
  const ref = approvalStream(command.approval);
  const more = draft.need({ write: [ref] });
  if (more !== undefined) return more;
  const before = standing(draft.state(ref));
  const answer = cast(draft, command);
  if (answer.kind === "need" || answer.kind === "load" || answer.kind === "unknown") return answer;
  return (
    (standing(draft.state(ref)) === before ? undefined : tellWorkflow(draft, command.approval)) ?? answer
  );
}

function standing(approval: ApprovalState): string {
  return approval.status === "none" ? "" : `${approval.status} ${approval.edit?.by ?? ""}`;
}

function cast(draft: Draft, command: VoteCommand): Need | Load | VoteAnswer {
  const approval = withAction(draft, command.approval);
  if (isNeed(approval)) return approval;
  if (approval.status === "none") return { kind: "unknown" };
  const more = draft.need({ read: [ROSTER] });
  if (more !== undefined) return more;
  if (isRepeat(approval, draft.state(ROSTER), command)) {
    // A voter who is back in good standing may have completed the quorum meanwhile.
    const isOpen = approval.status === "pending" && approval.edit === null && !isOverdue(approval, draft.now);
    if (isOpen) concludeVotes(draft, command.approval);
    return { kind: "same", status: statusNow(draft, command.approval), approval: command.approval };
  }
  const current = passTime(draft, command.approval);
  if (approval.status === "pending" && current.status === "expired") refuseExpired(draft, current);
  const fault = whyNot(draft, current, command);
  if (fault !== undefined) return refuseVote(draft, command, fault);
  if (command.flaw !== undefined) return refuseFlawed(draft, command, command.flaw);
  return command.edit === undefined
    ? castVote(draft, current, command)
    : openEdit(draft, command, command.edit);
}
