/**
 * A person's decision.
 *
 * - The first terminal decision wins. The same person repeating the same decision gets the original answer.
 * - Any other late, second, stale or ineligible decision is refused and recorded.
 * - The deadline is checked here, on the store's clock, and never waits for a sweep.
 * - Only a person who could decide with an edit learns what is wrong with it. All others get the same refusal for every
 *   edit, and learn nothing about what it was compared with.
 */

import { digestOf } from "../../kernel/canonical-json.ts";
import type { Json } from "../../kernel/json.ts";
import { ROSTER } from "../../kernel/stream.ts";
import { type Draft, isNeed, type Need } from "../../kernel/transaction.ts";
import type { RosterState } from "../../people/stream.ts";
import type { Executor, Load } from "../../policy/rules/tool-rules.ts";
import type { ApprovalStatus, LiveApproval, OpenEdit, VoteBody } from "../state.ts";
import { againAfterEdit, bindingNow } from "./ask.ts";
import { isApprovalOverdue, passTime } from "./deadline.ts";
import {
  concludeVotes,
  delegationsIn,
  eligibleStages,
  isEligible,
  isHopeless,
  isNeededLater,
  stageField,
} from "./quorum.ts";
import {
  appendApprovalEvent,
  appendApprovalRefusal,
  type EditRefused,
  getLiveApproval,
  getSubjectPort,
  tellSubject,
  withAction,
} from "./subject.ts";

export type EditFlaw = "secret" | "misfit";

export type VoteCommand = Omit<VoteBody, "binding" | "stage" | "final"> & {
  readonly approval: string;
  /** Binding of what the voter saw. null: the current one. */
  readonly binding: string | null;
  /** The binding was current when the edit was written; the editor does not claim to have seen it. */
  readonly isAssumed?: true;
  /** A rejection after which the workflow must not try again. */
  readonly isFinal?: boolean;
  /** The complete arguments that the approver wants. */
  readonly edit: Json | undefined;
  /** Found before any review: the edit contains a secret's value, or does not match the stored schema. */
  readonly flaw?: EditFlaw;
  /** The tool, if this process has it. Otherwise an edit waits for a process that does. */
  readonly executor: Executor | null;
};

type Refusal = {
  readonly code: "decision_conflict" | "not_eligible" | "secret_transformed";
  readonly reason: string;
};

export type VoteAnswer =
  | {
      readonly kind: "recorded" | "same" | "edit_open";
      readonly status: ApprovalStatus;
      readonly approval: string;
    }
  | {
      readonly kind: "vote_refused";
      readonly code: Refusal["code"] | "edit_refused" | "invalid_args";
      readonly reason: string;
      readonly status: ApprovalStatus;
      readonly isRecorded: boolean;
      /** Only for an edit that was reviewed. */
      readonly edit?: EditRefused;
    }
  | { readonly kind: "unknown" };

const conflict = (reason: string): Refusal => ({ code: "decision_conflict", reason });
const notEligible = (reason: string): Refusal => ({ code: "not_eligible", reason });

const answered = (draft: Draft, id: string, kind: "recorded" | "same" | "edit_open"): VoteAnswer => ({
  kind,
  status: getLiveApproval(draft, id).status,
  approval: id,
});

function refuseVote(draft: Draft, command: VoteCommand, why: Refusal): VoteAnswer {
  const { approval: id, by, decision, via } = command;
  const isRecorded = appendApprovalRefusal(draft, id, "approval.vote_refused", { by, decision, via, ...why });
  return { kind: "vote_refused", ...why, status: getLiveApproval(draft, id).status, isRecorded };
}

function refuseFlawed(draft: Draft, command: VoteCommand, flaw: EditFlaw): VoteAnswer {
  const reason = "the edit contains a secret's value";
  if (flaw === "secret") return refuseVote(draft, command, { code: "secret_transformed", reason });
  const { status } = getLiveApproval(draft, command.approval);
  const why = { code: "invalid_args", reason: "the edit does not fit" } as const;
  return { kind: "vote_refused", ...why, status, isRecorded: false };
}

/** The same person made the same decision before, on the same terms. */
function isRepeat(approval: LiveApproval, roster: RosterState, command: VoteCommand): boolean {
  const { edit, by } = command;
  if (approval.edit?.by === by) return edit !== undefined && digestOf(edit) === approval.edit.argsDigest;
  const before = approval.votes.find((vote) => vote.by === by && vote.binding === approval.binding);
  const isSame = edit === undefined || digestOf(edit) === approval.argsDigest;
  if (before === undefined) {
    // An editor of a later stage has no vote yet: the edit restarted the first stage. Nor has an editor whose edit
    // changed the preview: sending the same edit again does not show that they saw it, unless they name the binding.
    const isNamed = command.isAssumed !== true && command.binding === approval.binding;
    const isUnseen = approval.preview !== undefined && !isNamed;
    const hasNoVote = isUnseen || !isEligible(approval, roster, by);
    return edit !== undefined && isSame && approval.editor === by && hasNoVote;
  }
  // An editor names the binding from before their edit.
  const isOfThat = edit !== undefined || command.binding === null || command.binding === before.binding;
  return before.decision === command.decision && isSame && isOfThat;
}

/** A person whose stage has ended is late. Any other was not asked, or not yet. */
function notAsked(approval: LiveApproval, roster: RosterState, by: string): Refusal {
  const { stage: now } = approval;
  const handed = delegationsIn(approval, now).find((one) => one.by === by);
  if (handed !== undefined) return notEligible(`${by} has handed their seat to ${handed.to}`);
  const stages = eligibleStages(approval, roster, by);
  const next = stages.find((stage) => stage > now);
  if (next !== undefined) return notEligible(`${by} is asked in stage ${next}; now it is stage ${now}`);
  const over = stages.at(-1);
  return over === undefined
    ? notEligible(`${by} may not decide this`)
    : conflict(`stage ${over} has ended, and ${by} is not asked in a later one`);
}

/** Another editor already made this edit, and it changed the preview: the voter is asked about the current one. */
const isUnseen = ({ showsOther, argsDigest }: LiveApproval, { edit }: VoteCommand): boolean =>
  showsOther && edit !== undefined && digestOf(edit) === argsDigest;

function whyNot(draft: Draft, approval: LiveApproval, command: VoteCommand): Refusal | undefined {
  const roster = draft.state(ROSTER);
  const { by } = command;
  const isApproving = command.decision === "approve";
  if (!isEligible(approval, roster, by)) return notAsked(approval, roster, by);
  if (approval.status !== "pending") return conflict(`it is ${approval.status} already`);
  if (command.binding !== null && command.binding !== approval.binding && !isUnseen(approval, command))
    return conflict("what was decided is not what is asked now");
  if (approval.votes.some((vote) => vote.by === by)) return conflict(`${by} has decided already`);
  if (approval.edit !== null && isApproving)
    return conflict(`an edit by ${approval.edit.by} is being reviewed`);
  return isApproving && isNeededLater(approval, roster, by)
    ? notEligible(`${by} is needed in a later stage, and decides once`)
    : undefined;
}

/** A vote for the current binding. */
export function recordVote(
  draft: Draft,
  id: string,
  said: Omit<VoteBody, "binding" | "stage" | "final"> & Pick<VoteCommand, "isFinal">,
): void {
  const { by, decision, note, via, shown, isFinal } = said;
  const approval = getLiveApproval(draft, id);
  const cast = { by, decision, note, via, binding: approval.binding };
  appendApprovalEvent(draft, id, "approval.voted", {
    ...cast,
    ...stageField(approval),
    ...(shown === undefined ? {} : { shown }),
    ...(isFinal === true ? { final: true } : {}),
  });
}

function castVote(draft: Draft, command: VoteCommand): VoteAnswer {
  const { approval: id, by, decision, note } = command;
  recordVote(draft, id, command);
  if (decision === "approve") concludeVotes(draft, id);
  else if (isHopeless(getLiveApproval(draft, id), draft.state(ROSTER)))
    appendApprovalEvent(draft, id, "approval.rejected", { by, reason: note ?? "no reason given" });
  return answered(draft, id, "recorded");
}

/** The editor's vote on the new binding, if they may decide in the current stage. */
export function agreeAgain(draft: Draft, id: string, edit: OpenEdit): void {
  const approval = getLiveApproval(draft, id);
  const roster = draft.state(ROSTER);
  if (!isEligible(approval, roster, edit.by) || isNeededLater(approval, roster, edit.by)) return;
  recordVote(draft, id, { ...edit, decision: "approve" });
  concludeVotes(draft, id);
}

/** An edit of a subject without a tool and a policy: accepted as written. */
function acceptEdit(draft: Draft, id: string, edit: OpenEdit): void {
  const approval = getLiveApproval(draft, id);
  const { args, argsDigest, by } = edit;
  if (argsDigest !== approval.argsDigest) {
    const change = { args, argsDigest, policy: approval.policy, nonce: approval.nonce };
    const asks = againAfterEdit(approval, draft.now);
    const binding = bindingNow(draft.tenant, approval, { ...change, ...asks.again });
    appendApprovalEvent(draft, id, "approval.revised", { by, ...change, binding, ...asks });
  }
  agreeAgain(draft, id, edit);
}

function openEdit(draft: Draft, command: VoteCommand, args: Json): Need | Load | VoteAnswer {
  const { by, note, via, shown, approval: id, executor } = command;
  const argsDigest = digestOf(args);
  const edit: OpenEdit = {
    by,
    args: draft.keep(args),
    argsDigest,
    note,
    via,
    ...(command.binding !== null && command.isAssumed !== true ? { seen: command.binding } : {}),
    ...(shown === undefined ? {} : { shown }),
  };
  appendApprovalEvent(draft, id, "approval.edited", edit);
  const { reviewEdit } = getSubjectPort(draft, getLiveApproval(draft, id));
  if (reviewEdit === null) {
    acceptEdit(draft, id, edit);
    return answered(draft, id, "recorded");
  }
  if (executor === null) return answered(draft, id, "edit_open");
  const loaded = new Map([...executor.loaded, [argsDigest, args]]);
  const answer = reviewEdit(draft, id, { ...executor, loaded });
  if (answer.kind === "need" || answer.kind === "load") return answer;
  if (answer.kind === "accepted")
    return { kind: "recorded", status: getLiveApproval(draft, id).status, approval: answer.approval };
  const why = { code: "edit_refused", reason: `${answer.reason} (${answer.rule})` } as const;
  return { kind: "vote_refused", ...why, isRecorded: true, status: "pending", edit: answer };
}

function cast(draft: Draft, approval: LiveApproval, command: VoteCommand): Need | Load | VoteAnswer {
  const { approval: id, edit, flaw } = command;
  if (isRepeat(approval, draft.state(ROSTER), command)) {
    // A voter who is back in good standing may have completed the quorum meanwhile.
    const isOpen =
      approval.status === "pending" && approval.edit === null && !isApprovalOverdue(approval, draft.now);
    if (isOpen) concludeVotes(draft, id);
    return answered(draft, id, "same");
  }
  const current = passTime(draft, id);
  const fault = whyNot(draft, current, command);
  if (fault !== undefined) return refuseVote(draft, command, fault);
  if (flaw !== undefined) return refuseFlawed(draft, command, flaw);
  return edit === undefined ? castVote(draft, command) : openEdit(draft, command, edit);
}

/** Notifies the approval's subject of the decision in the same commit. */
export function vote(draft: Draft, command: VoteCommand): Need | Load | VoteAnswer {
  const { approval: id } = command;
  const before = withAction(draft, id);
  if (isNeed(before)) return before;
  if (before.status === "none") return { kind: "unknown" };
  const answer = draft.need({ read: [ROSTER] }) ?? cast(draft, before, command);
  if (answer.kind === "need" || answer.kind === "load") return answer;
  const { status, edit } = getLiveApproval(draft, id);
  const isMoved = status !== before.status || edit?.by !== before.edit?.by;
  return (isMoved ? tellSubject(draft, id) : undefined) ?? answer;
}
