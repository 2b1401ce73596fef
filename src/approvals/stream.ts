/** The fold of an approval's stream. */

import { canonicalJson } from "../core/canonical-json.ts";
import { HoldpointError } from "../core/errors.ts";
import type { Fold, RecordedEvent } from "../core/event.ts";
import type { JsonObject } from "../core/json.ts";
import { withRefusal } from "../core/refusals.ts";
import { shortFirst } from "../core/short-first.ts";
import type { StateOf } from "../core/states.ts";
import { type Delegation, listedOf } from "./rules/seats.ts";
import { nextAtDeadline, nextDue } from "./rules/time.ts";
import {
  type ApprovalEvent,
  type ApprovalEventOf,
  type ApprovalQuestion,
  type ApprovalState,
  type ApprovalStatus,
  type Ending,
  type Extension,
  type LiveApproval,
  ruleIn,
  stageRules,
  votesNow,
} from "./state.ts";

const FROM: { readonly [type: string]: readonly ApprovalStatus[] } = {
  "approval.voted": ["pending"],
  "approval.edited": ["pending"],
  "approval.edit_refused": ["pending"],
  "approval.revised": ["pending"],
  "approval.stage_met": ["pending"],
  "approval.escalated": ["pending"],
  "approval.extended": ["pending"],
  "approval.reminded": ["pending"],
  "approval.widened": ["pending"],
  "approval.delegated": ["pending"],
  "approval.delegation_withdrawn": ["pending"],
  "approval.commented": ["pending"],
  "approval.approved": ["pending"],
  "approval.modified": ["pending"],
  "approval.rejected": ["pending"],
  "approval.expired": ["pending"],
  "approval.cancelled": ["pending"],
  "approval.consumed": ["approved", "modified"],
  "approval.lapsed": ["approved", "modified"],
  "approval.revoked": ["approved", "modified"],
};

function decide(state: LiveApproval, status: ApprovalStatus, ending: Ending): ApprovalState {
  return { ...state, status, decided: ending, edit: null };
}

/** Reminders are counted from here. */
const begins = (at: number): Pick<LiveApproval, "since" | "remindedUpTo"> => ({
  since: at,
  remindedUpTo: at,
});

function revise(
  state: LiveApproval,
  body: ApprovalEventOf<"approval.revised">["body"],
  at: number,
): ApprovalState {
  const { by: editor, again, ...question } = body;
  const { preview: shown, documents: _askedBefore, risk: _ofBefore, ...before } = state;
  const showsOther = state.showsOther || shown?.digest !== question.preview?.digest;
  const revised = {
    ...before,
    ...question,
    edit: null,
    editRefused: null,
    edited: true,
    showsOther,
    votes: [],
  };
  if (again === undefined) return { ...revised, editor };
  const asked = { ...state.asked, ...again, at };
  const { approvers: first, decideBy, executeBy } = asked;
  const fresh = { asked, approvers: first, decideBy, executeBy, stage: 1, handedOver: [], extensions: [] };
  return { ...revised, ...fresh, ...begins(at), widened: [], editor };
}

function nextStage(
  state: LiveApproval,
  { type, body }: ApprovalEventOf<"approval.stage_met"> | ApprovalEventOf<"approval.escalated">,
  at: number,
): ApprovalState {
  const next = stageRules(state)[body.stage];
  if (next === undefined || body.stage !== state.stage)
    throw new HoldpointError("broken_rule", `"${type}" of stage ${body.stage} came in stage ${state.stage}.`);
  const handedOver = type === "approval.escalated" ? [...state.handedOver, body.stage] : state.handedOver;
  const begun = begins(type === "approval.escalated" ? (state.decideBy ?? at) : at);
  return { ...state, ...begun, stage: body.stage + 1, approvers: next, decideBy: body.decideBy, handedOver };
}

/** What was given more time to be decided has as much more to be started. */
function extend(state: LiveApproval, extension: Extension): ApprovalState {
  const { from, decideBy, by, at } = extension;
  const executeBy = state.executeBy === null ? null : state.executeBy + (decideBy - from);
  const begun = begins(by === "deadline" ? from : at);
  return { ...state, ...begun, decideBy, executeBy, extensions: [...state.extensions, extension] };
}

function widen(state: LiveApproval): ApprovalState {
  const widened = [...state.widened, state.stage];
  return { ...state, widened, approvers: ruleIn({ ...state, widened }, state.stage) };
}

function handOver(state: LiveApproval, delegation: Delegation): ApprovalState {
  return { ...state, delegations: [...state.delegations, delegation] };
}

function takeBack(
  state: LiveApproval,
  { of, stage }: ApprovalEventOf<"approval.delegation_withdrawn">["body"],
): ApprovalState {
  const delegations = state.delegations.filter((one) => one.by !== of || one.stage !== stage);
  return { ...state, delegations };
}

function evolvePending(state: LiveApproval, event: ApprovalEvent, at: number): ApprovalState {
  switch (event.type) {
    case "approval.voted":
      return {
        ...state,
        votes: [...state.votes, { ...event.body, at }],
        edit: state.edit?.by === event.body.by ? null : state.edit,
      };
    case "approval.edited":
      return { ...state, edit: event.body, editRefused: null };
    case "approval.edit_refused":
      return { ...state, edit: null, editRefused: event.body };
    case "approval.revised":
      return revise(state, event.body, at);
    case "approval.stage_met":
    case "approval.escalated":
      return nextStage(state, event, at);
    case "approval.extended":
      return extend(state, { ...event.body, at });
    case "approval.reminded":
      return { ...state, remindedUpTo: event.body.due };
    case "approval.widened":
      return widen(state);
    case "approval.delegated":
      return handOver(state, { ...event.body, at });
    case "approval.delegation_withdrawn":
      return takeBack(state, event.body);
    case "approval.commented":
      return { ...state, comments: [...state.comments, { ...event.body, at }] };
    case "approval.approved":
    case "approval.modified":
      return decide(state, event.type === "approval.approved" ? "approved" : "modified", {
        at,
        by: event.body.by,
        reason: "",
      });
    case "approval.rejected":
    case "approval.cancelled": {
      const ending = { at, by: [event.body.by], reason: event.body.reason };
      return decide(state, event.type === "approval.rejected" ? "rejected" : "cancelled", ending);
    }
    case "approval.expired":
      return decide(state, "expired", { at, by: [], reason: "nobody decided in time" });
    default:
      throw new HoldpointError("broken_rule", `"${event.type}" cannot happen to a pending approval.`);
  }
}

function evolveDecided(state: LiveApproval, event: ApprovalEvent, at: number): ApprovalState {
  switch (event.type) {
    case "approval.consumed":
      return { ...state, status: "consumed", ended: { at, by: [event.body.effect], reason: "" } };
    case "approval.lapsed":
      return { ...state, status: "lapsed", ended: { at, by: [], reason: event.body.reason } };
    case "approval.revoked":
      return { ...state, status: "revoked", ended: { at, by: [event.body.by], reason: event.body.reason } };
    default:
      throw new HoldpointError(
        "broken_rule",
        `"${event.type}" cannot happen to an approval that is ${state.status}.`,
      );
  }
}

function requested(question: ApprovalQuestion, at: number): ApprovalState {
  const { approvers: first, decideBy, executeBy } = question;
  return {
    ...question,
    status: "pending",
    requestedAt: at,
    asked: { approvers: first, decideBy, executeBy, at },
    stage: 1,
    handedOver: [],
    extensions: [],
    ...begins(at),
    widened: [],
    delegations: [],
    votes: [],
    comments: [],
    edit: null,
    editRefused: null,
    edited: false,
    editor: null,
    showsOther: false,
    decided: null,
    ended: null,
  };
}

/** Recorded and counted, and changing nothing else. */
const REFUSALS = [
  "approval.vote_refused",
  "approval.extend_refused",
  "approval.delegate_refused",
  "approval.comment_refused",
] as const;
type Refusal = ApprovalEventOf<(typeof REFUSALS)[number]>;
const isRefusal = (event: ApprovalEvent): event is Refusal => REFUSALS.some((type) => type === event.type);

function known(recorded: RecordedEvent): ApprovalEvent {
  const types = ["approval.requested", ...REFUSALS, ...Object.keys(FROM)];
  if (!types.includes(recorded.type) || recorded.tv !== 1) {
    throw new HoldpointError(
      "unknown_event",
      `An approval met the event "${recorded.type}" version ${recorded.tv}.`,
    );
  }
  if (recorded.body === null)
    throw new HoldpointError("body_erased", `The body of entry ${recorded.seq} is gone.`);
  return recorded as unknown as ApprovalEvent;
}

export const approvalFold: Fold<ApprovalState> = {
  version: 7,
  initial: { status: "none" },
  evolve(state, recorded) {
    const event = known(recorded);
    if (event.type === "approval.requested" && state.status === "none")
      return requested(event.body, recorded.at);
    if (state.status === "none")
      throw new HoldpointError("broken_rule", `"${event.type}" came before the approval was requested.`);
    if (isRefusal(event)) return withRefusal(state, event.body.by);
    if (!FROM[event.type]?.includes(state.status)) {
      throw new HoldpointError(
        "broken_rule",
        `"${event.type}" cannot happen to an approval that is ${state.status}.`,
      );
    }
    return state.status === "pending"
      ? evolvePending(state, event, recorded.at)
      : evolveDecided(state, event, recorded.at);
  },
};

/** The inbox: one row per approval, by status, oldest first. */

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
