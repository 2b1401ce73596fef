/** The inbox: one row per approval, by status, oldest first. */
import { nextAtDeadline } from "../core/approval/deadline.ts";
import { listedOf } from "../core/approval/listed.ts";
import { nextDue } from "../core/approval/reminders.ts";
import { type LiveApproval, votesNow } from "../core/approval/state.ts";
import { canonicalJson } from "../core/canonical-json.ts";
import type { JsonObject } from "../core/json.ts";
import { shortFirst } from "../core/short-first.ts";
import type { StateOf } from "../core/streams.ts";

const APPROVALS_VIEW = "approvals";
const PREVIEW_CHARACTERS = 200;

/** The whole of it, or the beginning. */
export function previewOf(value: unknown): string {
  const text = canonicalJson(value);
  return text.length <= PREVIEW_CHARACTERS
    ? text
    : `${shortFirst(value).slice(0, PREVIEW_CHARACTERS)}… (${text.length} characters)`;
}

function summary(approval: LiveApproval): JsonObject {
  return {
    status: approval.status,
    about: approval.subject?.kind ?? "action",
    action: approval.action,
    tool: approval.tool,
    agent: approval.agent,
    args: previewOf(approval.args),
    argsHash: approval.argsDigest.slice(0, 12),
    reason: approval.reason,
    votes: votesNow(approval).length,
    quorum: approval.approvers.quorum,
    stage: approval.stage,
    stages: approval.stages?.length ?? 1,
    from: approval.approvers.from,
    atDeadline: nextAtDeadline(approval),
    edit: approval.edit !== null,
    preview: approval.preview === undefined ? null : previewOf(approval.preview.value),
    previewFailed: approval.preview?.failed ?? false,
    requestedAt: approval.requestedAt,
    decideBy: approval.decideBy,
    decidedBy: approval.decided?.by ?? [],
    ...(listedOf(approval) as unknown as JsonObject),
    edited: approval.edited,
  };
}

export const approvalsView = {
  view: APPROVALS_VIEW,
  kind: "approval",
  version: 6,
  oldest: 4,
  row(_id: string, state: StateOf<"approval">) {
    if (state.status === "none") return undefined;
    return { bucket: state.status, at: state.requestedAt, due: nextDue(state), data: summary(state) };
  },
} as const;

/** What has no deadline comes after all that has: the last moment that a date can name. */
const NEVER = 8_640_000_000_000_000;

/** What waits, by its deadline: the soonest first, as a list of its own, since a view has one order. */
export const approvalsByDeadlineView = {
  view: "approvals_by_deadline",
  kind: "approval",
  version: 1,
  row(_id: string, state: StateOf<"approval">) {
    if (state.status !== "pending") return undefined;
    return { bucket: state.status, at: state.decideBy ?? NEVER, due: null, data: summary(state) };
  },
  isSame: (before: StateOf<"approval">, after: StateOf<"approval">) =>
    before.status !== "pending" && after.status !== "pending",
} as const;

const isOpen = ({ status }: StateOf<"approval">): boolean => status === "none" || status === "pending";

/** What was decided, by when it was: also what expired or was taken back. */
export const approvalsByDecisionView = {
  view: "approvals_by_decision",
  kind: "approval",
  version: 1,
  row(_id: string, state: StateOf<"approval">) {
    if (state.status === "none" || state.status === "pending") return undefined;
    const at = state.decided?.at ?? state.requestedAt;
    return { bucket: state.status, at, due: null, data: summary(state) };
  },
  isSame: (before: StateOf<"approval">, after: StateOf<"approval">) => isOpen(before) && isOpen(after),
} as const;
