/**
 * An approval's state: the fold of its stream.
 *
 * A1. pending → approved | modified | rejected | expired | cancelled, once; approved and modified → consumed | lapsed |
 *     revoked, once. No other move exists.
 * A2. Votes count for one binding; a revision makes a new binding and voids them.
 * A3. A vote counts in the stage in which it was cast, and in no other; each person has one.
 * A4. The binding is made of what was asked. `approvers`, `decideBy` and `executeBy` are those of now: only recorded stages,
 *     half times and extensions move them, so votes stay valid and nothing but the journal can give more time.
 * A5. Comments are kept, and change nothing else.
 */
import { isWordOf } from "../deciders.ts";
import { HoldpointError } from "../errors.ts";
import type { Fold, RecordedEvent } from "../event.ts";
import type { Json } from "../json.ts";
import { type Refused, withRefusal } from "../refusals.ts";
import type { RosterState } from "../roster.ts";
import { isEligible } from "./eligible.ts";
import type {
  ApprovalEvent,
  ApprovalEventOf,
  ApprovalQuestion,
  CommentBody,
  EditRefusal,
  Shown,
  VoteBody,
} from "./events.ts";
import { ruleIn, stageRules } from "./rule-in.ts";
import type { Delegation } from "./seats.ts";

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
export type Comment = CommentBody & { readonly at: number };
export type OpenEdit = {
  readonly by: string;
  readonly args: Json;
  readonly argsDigest: string;
  readonly note: string | null;
  readonly via: string;
  /** The binding that the editor says they were shown. */
  readonly seen?: string;
} & Shown;
export type Ending = { readonly at: number; readonly by: readonly string[]; readonly reason: string };

export type Extension = ApprovalEventOf<"approval.extended">["body"] & { readonly at: number };
/** The terms as they were asked, or asked again: what the binding is made of. */
export type Asked = Pick<ApprovalQuestion, "approvers" | "decideBy" | "executeBy"> & { readonly at: number };

export type LiveApproval = ApprovalQuestion &
  Refused & {
    readonly status: ApprovalStatus;
    readonly requestedAt: number;
    readonly asked: Asked;
    /** Which of the stages is asked now, from 1 on. */
    readonly stage: number;
    /** Stages whose time was up and whose votes count for nothing. */
    readonly handedOver: readonly number[];
    readonly extensions: readonly Extension[];
    /** When the present stage began, or was last given time. */
    readonly since: number;
    /** Reminders up to this moment were written, or are not worth it any more. */
    readonly remindedUpTo: number;
    /** Stages whose half time has come, and in which more people may decide since. */
    readonly widened: readonly number[];
    /** Seats that are handed over now. */
    readonly delegations: readonly Delegation[];
    readonly votes: readonly Vote[];
    /** What was asked and answered before it was decided. */
    readonly comments: readonly Comment[];
    /** An edit that no process with the tool at hand has reviewed yet. */
    readonly edit: OpenEdit | null;
    /** The latest edit that was refused, so that its author can be told. */
    readonly editRefused: EditRefusal | null;
    /** A person changed what was asked. */
    readonly edited: boolean;
    /** Who did so last. */
    readonly editor: string | null;
    /** Since it was asked, an edit has made the tool show something else. */
    readonly showsOther: boolean;
    readonly decided: Ending | null;
    readonly ended: Ending | null;
  };
export type ApprovalState = { readonly status: "none" } | LiveApproval;

/** People whose approving votes in a stage count for the present binding: distinct, eligible, in good standing. */
export function agreedIn(approval: LiveApproval, roster: RosterState, stage: number): readonly string[] {
  const counted = approval.votes.filter(
    (vote) => vote.decision === "approve" && vote.binding === approval.binding && (vote.stage ?? 1) === stage,
  );
  const theirs = counted.filter(({ by, at }) => isWordOf(roster, by, at));
  return [...new Set(theirs.map((vote) => vote.by))].filter((person) =>
    isEligible(approval, roster, person, stage),
  );
}

/** Enough of them; under separation of duties somebody beside the one who edited it. */
export function isStageMet(approval: LiveApproval, roster: RosterState, stage: number): boolean {
  const { quorum, separate } = ruleIn(approval, stage);
  const agreed = agreedIn(approval, roster, stage);
  if (!(agreed.length >= quorum)) return false;
  return !(separate === true && agreed.every((person) => person === approval.editor));
}

/** Those that were cast in the present stage. */
export const votesNow = ({ votes, stage }: LiveApproval): readonly Vote[] =>
  votes.filter((vote) => (vote.stage ?? 1) === stage);

const countingStages = (approval: LiveApproval): readonly number[] =>
  stageRules(approval).flatMap((_, index) => (approval.handedOver.includes(index + 1) ? [] : [index + 1]));

/** Everybody behind the present binding, in every stage that counts. */
export function approvers(approval: LiveApproval, roster: RosterState): readonly string[] {
  return countingStages(approval).flatMap((stage) => agreedIn(approval, roster, stage));
}

/** Every stage that counts has its quorum. */
export function isMet(approval: LiveApproval, roster: RosterState): boolean {
  return countingStages(approval).every((stage) => isStageMet(approval, roster, stage));
}

/** How many people the stages that count ask for together. */
export function wanted(approval: LiveApproval): number {
  const rules = stageRules(approval);
  return countingStages(approval).reduce((sum, stage) => sum + (rules[stage - 1]?.quorum ?? Number.NaN), 0);
}

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
