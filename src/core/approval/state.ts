/**
 * An approval's state: the fold of its stream.
 *
 * A1. pending → approved | modified | rejected | expired | cancelled, once; approved and modified → consumed | lapsed |
 *     revoked, once. No other move exists.
 * A2. Votes count for one binding; a revision makes a new binding and voids them.
 */
import { HoldpointError } from "../errors.ts";
import type { Fold, RecordedEvent } from "../event.ts";
import type { Json } from "../json.ts";
import type { RosterState } from "../roster.ts";
import type { ApprovalEvent, ApprovalQuestion, VoteBody } from "./events.ts";

export const APPROVAL_STATUSES = [
  "pending",
  "approved",
  "modified",
  "rejected",
  "expired",
  "cancelled",
  "consumed",
  "lapsed",
  "revoked",
] as const;
export type ApprovalStatus = (typeof APPROVAL_STATUSES)[number];

export type Vote = VoteBody & { readonly at: number };
export type OpenEdit = {
  readonly by: string;
  readonly args: Json;
  readonly argsDigest: string;
  readonly note: string | null;
  readonly via: string;
};
export type Ending = { readonly at: number; readonly by: readonly string[]; readonly reason: string };

export type LiveApproval = ApprovalQuestion & {
  readonly status: ApprovalStatus;
  readonly requestedAt: number;
  readonly votes: readonly Vote[];
  /** An edit that no process with the tool at hand has reviewed yet. */
  readonly edit: OpenEdit | null;
  /** The latest edit that was refused, so that its author can be told. */
  readonly editRefused: { readonly by: string; readonly rule: string; readonly reason: string } | null;
  /** A person changed what was asked. */
  readonly edited: boolean;
  readonly decided: Ending | null;
  readonly ended: Ending | null;
};
export type ApprovalState = { readonly status: "none" } | LiveApproval;

/** People whose approving votes for the present binding count: distinct, eligible, in good standing. */
export function approvers(approval: LiveApproval, roster: RosterState): readonly string[] {
  const counted = approval.votes.filter(
    (vote) => vote.decision === "approve" && vote.binding === approval.binding,
  );
  return [...new Set(counted.map((vote) => vote.by))].filter((person) =>
    isEligible(approval, roster, person),
  );
}

export function isEligible(approval: LiveApproval, roster: RosterState, person: string): boolean {
  if (
    !person.startsWith("person:") ||
    approval.requester.includes(person) ||
    roster.suspended.includes(person)
  )
    return false;
  return approval.approvers.from === null || approval.approvers.from.includes(person);
}

const FROM: { readonly [type: string]: readonly ApprovalStatus[] } = {
  "approval.voted": ["pending"],
  "approval.edited": ["pending"],
  "approval.edit_refused": ["pending"],
  "approval.revised": ["pending"],
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
    case "approval.revised": {
      const { by: _editor, ...question } = event.body;
      const { preview: _ofBefore, ...asked } = state;
      return { ...asked, ...question, edit: null, editRefused: null, edited: true, votes: [] };
    }
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
  return {
    ...question,
    status: "pending",
    requestedAt: at,
    votes: [],
    edit: null,
    editRefused: null,
    edited: false,
    decided: null,
    ended: null,
  };
}

function known(recorded: RecordedEvent): ApprovalEvent {
  const types = ["approval.requested", "approval.vote_refused", ...Object.keys(FROM)];
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
  version: 3,
  initial: { status: "none" },
  evolve(state, recorded) {
    const event = known(recorded);
    if (event.type === "approval.requested" && state.status === "none")
      return requested(event.body, recorded.at);
    if (state.status === "none")
      throw new HoldpointError("broken_rule", `"${event.type}" came before the approval was requested.`);
    if (event.type === "approval.vote_refused") return state;
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
