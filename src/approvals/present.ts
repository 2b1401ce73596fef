/** Builds the views of approvals (`views.ts`) from the library's results. */

import { actionStream } from "../kernel/stream.ts";
import type { ApproverRule } from "../policy/rules/verdict.ts";
import { skipUnreadable } from "../runtime/lists.ts";
import { readState } from "../runtime/store-access.ts";
import type { TenantStore } from "../stores/store.ts";
import type { Approval, ApprovalSummary } from "./contract.ts";
import { type ListedApproval, type LiveApproval, ruleIn, stageRules, type Vote } from "./state.ts";
import type { ApprovalView, StageState, StagesView, SummaryView } from "./views.ts";

type Subject = Pick<SummaryView, "about" | "action" | "workflow" | "intent">;

/** The workflow in which the approval was requested. For an action, its state names it. */
async function workflowAsking(
  place: TenantStore,
  about: Subject["about"],
  id: string,
): Promise<string | null> {
  if (about !== "action") return about === "intent" ? null : id;
  // An action written by a newer server must not hide that an approval is pending.
  const state = await skipUnreadable(readState(place, actionStream(id)));
  return state === undefined || state.phase === "none" ? null : (state.within?.workflow ?? null);
}

/** `id`: of the action, the workflow or the intent. `known`: the workflow, if the approval names it. */
async function presentSubject(
  place: TenantStore,
  about: Subject["about"],
  { id, known }: { readonly id: string; readonly known: string | null | undefined },
): Promise<Subject> {
  return {
    about,
    action: about === "action" ? id : null,
    workflow: known === undefined ? await workflowAsking(place, about, id) : known,
    intent: about === "intent" ? id : null,
  };
}

export const approvalSubject = (
  place: TenantStore,
  { subject, action, workflow }: Approval,
): Promise<Subject> => presentSubject(place, subject?.kind ?? "action", { id: action, known: workflow });

function presentApprovers({ quorum, from, veto, separate, ...rule }: ApproverRule) {
  const { escalateAtHalf = [], remindEveryMs } = rule;
  const remindEverySeconds = remindEveryMs === undefined ? null : remindEveryMs / 1_000;
  return { quorum, from, veto, separate: separate === true, escalateAtHalf, remindEverySeconds };
}

const AGREED = new Set<LiveApproval["status"]>(["approved", "modified", "consumed", "lapsed", "revoked"]);

function stageState(
  { stage, handedOver, status }: Omit<Omit<LiveApproval, "says">, "says">,
  number: number,
): StageState {
  if (handedOver.includes(number)) return "handed_over";
  if (number < stage) return "met";
  if (number > stage) return status === "pending" ? "later" : "not_asked";
  if (status === "pending") return "asked";
  return AGREED.has(status) ? "met" : "ended";
}

/** All stages with their approvers, including those added at half time, and the delegated seats. */
export const presentStages = (approval: Omit<LiveApproval, "says">): StagesView => ({
  allStages: stageRules(approval).map((_, index) => ({
    stage: index + 1,
    state: stageState(approval, index + 1),
    approvers: presentApprovers(ruleIn(approval, index + 1)),
  })),
  delegations: approval.delegations.map(({ by, to, stage = 1, reason, at }) => ({
    from: by,
    to,
    stage,
    reason,
    at,
  })),
});

const presentVote = ({ by, decision, note, via, at, stage = 1, shown }: Vote) => ({
  by,
  decision,
  note,
  via,
  stage,
  shown: shown ?? null,
  at,
});

export async function presentApproval(place: TenantStore, approval: Approval): Promise<ApprovalView> {
  const { preview, undo } = approval;
  return {
    id: approval.id,
    status: approval.status,
    ...(await approvalSubject(place, approval)),
    name: approval.tool,
    title: approval.title,
    effectClass: approval.effectClass,
    args: approval.args,
    argsHash: approval.argsDigest.slice(0, 12),
    answerSchema: approval.answerSchema ?? null,
    preview: preview?.value ?? null,
    previewFailed: preview?.failed ?? false,
    undo: undo === undefined ? null : { tool: undo.tool, args: undo.args },
    agent: approval.agent,
    requester: approval.requester,
    rationale: approval.rationale,
    reason: approval.reason,
    rule: approval.rule,
    policy: approval.policy,
    binding: approval.binding,
    documents: approval.documents ?? [],
    approvers: presentApprovers(approval.approvers),
    stage: approval.stage,
    stages: approval.stages?.length ?? 1,
    ...presentStages(approval),
    votes: approval.votes.map(presentVote),
    comments: approval.comments,
    edited: approval.edited,
    createdAt: approval.requestedAt,
    decideBy: approval.decideBy,
    executeBy: approval.executeBy,
    decided: approval.decided,
    ended: approval.ended,
  };
}

/** A row of the list, as stored. Rows that an older process wrote lack `edited`. */
type Row = Omit<SummaryView, "name" | "createdAt" | "edited" | "action" | "workflow" | "intent"> &
  Pick<ListedApproval, "workflow"> & {
    readonly action: string;
    readonly tool: string;
    readonly requestedAt: number;
    readonly edited?: boolean;
  };

export async function presentSummary(place: TenantStore, summary: ApprovalSummary): Promise<SummaryView> {
  const row = summary as unknown as Row;
  return {
    id: row.id,
    status: row.status,
    ...(await presentSubject(place, row.about, { id: row.action, known: row.workflow })),
    name: row.tool,
    title: row.title,
    agent: row.agent,
    args: row.args,
    argsHash: row.argsHash,
    reason: row.reason,
    votes: row.votes,
    quorum: row.quorum,
    stage: row.stage,
    stages: row.stages,
    effectClass: row.effectClass,
    risk: row.risk,
    isIrreversible: row.isIrreversible,
    isMine: row.isMine,
    createdAt: row.requestedAt,
    decideBy: row.decideBy,
    decidedAt: row.decidedAt,
    decidedBy: row.decidedBy,
    edited: row.edited ?? false,
  };
}
