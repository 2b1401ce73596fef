/** The inbox: one row per approval, by status, oldest first. */
import { nextAtDeadline } from "../core/approval/deadline.ts";
import { listedOf } from "../core/approval/listed.ts";
import { nextDue } from "../core/approval/reminders.ts";
import { type LiveApproval, votesNow } from "../core/approval/state.ts";
import { canonicalJson } from "../core/canonical-json.ts";
import type { JsonObject } from "../core/json.ts";
import type { StateOf } from "../core/streams.ts";

const APPROVALS_VIEW = "approvals";
const PREVIEW_CHARACTERS = 200;

/** A field that is longer comes after those that are not: a mail's recipient before its text. */
const SHORT_CHARACTERS = 60;

function shortFirst(value: unknown): string {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return canonicalJson(value);
  const fields = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  const texts = fields.map(([name, field]) => canonicalJson({ [name]: field }).slice(1, -1));
  const isShort = (text: string): boolean => text.length <= SHORT_CHARACTERS;
  return `{${[...texts.filter(isShort), ...texts.filter((text) => !isShort(text))].join(",")}}`;
}

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
  version: 5,
  oldest: 4,
  row(_id: string, state: StateOf<"approval">) {
    if (state.status === "none") return undefined;
    return { bucket: state.status, at: state.requestedAt, due: nextDue(state), data: summary(state) };
  },
} as const;
