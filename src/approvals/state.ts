/**
 * An approval's state, the bodies of its events, and what is derived from a state.
 *
 * - pending → approved | modified | rejected | expired | cancelled | superseded, once. approved and modified → consumed
 *   | lapsed | revoked, once. There is no other transition.
 * - Votes count for one binding. A revision makes a new binding and voids them.
 * - A vote counts only in the stage in which it was cast. Each person has one.
 * - The binding is made of the original terms. `approvers`, `decideBy` and `executeBy` are the current ones: only
 *   recorded stages, half times and extensions change them. So votes stay valid, and only the journal can give more
 *   time.
 * - Comments are kept, and change nothing else.
 */
import type { Json } from "../kernel/json.ts";
import type { WithRefusals } from "../kernel/refusals.ts";
import { actionStream, intentStream, type StreamRef, workflowStream } from "../kernel/stream.ts";
import { type ApprovalTerms, listStageRules } from "../policy/rules/stages.ts";
import {
  ANY_ONE_PERSON,
  type ApproverRule,
  type OnTimeout,
  type RiskLevel,
  type VerdictNotes,
} from "../policy/rules/verdict.ts";

export const APPROVAL_STATUSES = [
  "pending",
  "approved",
  "modified",
  "rejected",
  "expired",
  "cancelled",
  "superseded",
  "consumed",
  "lapsed",
  "revoked",
] as const;
export type ApprovalStatus = (typeof APPROVAL_STATUSES)[number];

/** How a pending question ends: whether people decided it, and how statistics count it. */
export const QUESTION_ENDS = {
  approved: { isDecision: true, countsAs: "approved" },
  modified: { isDecision: true, countsAs: "modified" },
  rejected: { isDecision: true, countsAs: "rejected" },
  expired: { isDecision: false, countsAs: "expired" },
  cancelled: { isDecision: false, countsAs: "cancelled" },
  superseded: { isDecision: false, countsAs: "cancelled" },
} as const satisfies { readonly [status in ApprovalStatus]?: object };
export type QuestionEnd = keyof typeof QUESTION_ENDS;
export const isQuestionEnd = (status: string): status is QuestionEnd => Object.hasOwn(QUESTION_ENDS, status);
export const questionEnds = Object.keys(QUESTION_ENDS) as readonly QuestionEnd[];

/** Statuses by which a list can be filtered. `decided`: all that are not pending. */
export const LISTED_STATUSES = [...APPROVAL_STATUSES, "decided", "any"] as const;
export type ListedStatus = (typeof LISTED_STATUSES)[number];

/** Everything a person can do with an approval. `cancel` ends the question; `revoke` ends an unused decision. */
export const MOVES = [
  ...(["approve", "reject", "edit", "extend", "delegate"] as const),
  ...(["take_back", "cancel", "revoke", "comment"] as const),
] as const;
export type ApprovalMove = (typeof MOVES)[number];

/** Maximum number of decisions of one person in a batch. */
export const MOST_AT_ONCE = 100;

/**
 * By request time, or `deadline`: soonest first, those without one last; pending approvals only. `decided`: latest
 * decision first; decided approvals only.
 */
export const APPROVAL_ORDERS = ["oldest", "newest", "deadline", "decided"] as const;
export type ApprovalOrder = (typeof APPROVAL_ORDERS)[number];

/** Subject of a question that is not about an action: a checkpoint or question of a workflow, or an intent. */
export type Subject =
  | { readonly kind: "checkpoint" | "question"; readonly workflow: string; readonly op: string }
  | { readonly kind: "intent"; readonly intent: string; readonly op: string };

/** The tool's preview, or the text of its failure. */
export type ShownPreview = { readonly value: Json; readonly failed: boolean };
/** As a question stores it; a large value is a reference. */
export type Preview = ShownPreview & { readonly digest: string };

/** The undo call that the agent declares; large arguments are a reference. */
export type UndoRecord = { readonly tool: string; readonly args: Json; readonly argsDigest: string };

/** The policy that reviewed it. */
export type Versions = {
  /** Digest of everything that reviewed it, including code. Part of the binding. */
  readonly policy: string;
  /** Digests of the documents that reviewed it; absent if only code did. */
  readonly documents?: readonly string[];
};
export type UndoCall = Pick<UndoRecord, "tool" | "args">;
/** Whether people approved the undo for the arguments that ran. */
export type UndoSeen = "seen" | "unseen";

/** Deadlines of a question: when it expires undecided, and until when an approved action may start. */
export type Deadlines = { readonly decideBy: number | null; readonly executeBy: number | null };

/** The question, from which the binding is made. For a subject, `action` is the id of the workflow or intent. */
export type ApprovalQuestion = {
  readonly action: string;
  readonly tool: string;
  readonly schema: string;
  readonly effectClass: string;
  readonly args: Json;
  readonly argsDigest: string;
  readonly agent: string;
  readonly requester: readonly string[];
  /** The agent's explanation: untrusted text. */
  readonly says: string | null;
  /** Of the title of the action's tool; absent if it has none. Not bound. */
  readonly titleTemplate?: string;
  readonly reason: string;
  readonly rule: string;
  readonly approvers: ApproverRule;
  readonly nonce: string;
  readonly binding: string;
  /** What the tool showed; absent if it has no preview. */
  readonly preview?: Preview;
  readonly undo?: UndoRecord;
  readonly subject?: Subject;
  /** Poster and executor of the work; only if separation of duties excludes them. */
  readonly apart?: readonly string[];
  /** Workflow of the action, or null; absent in older entries and for a subject. Like the risk, it is not bound. */
  readonly workflow?: string | null;
  /** Risk level by the policy; absent if none scores. */
  readonly risk?: RiskLevel;
} & Versions &
  Deadlines &
  Pick<ApprovalTerms, "stages" | "onTimeout">;

/** 1-based stage that an entry belongs to; only if there are several. */
export type InStage = { readonly stage?: number };
export type DecidedBy = { readonly by: string; readonly via: string };
/** `shown`: digest of the card or list row that the person says they saw; absent if they name none. */
type DecisionBody = DecidedBy & { readonly note: string | null; readonly shown?: string };

export type VoteBody = DecisionBody &
  InStage & {
    readonly decision: "approve" | "reject";
    readonly binding: string;
    /** A rejection after which the workflow must not try again. */
    readonly final?: true;
  };
/** An edit that no process with the tool has reviewed yet. */
export type OpenEdit = DecisionBody & {
  readonly args: Json;
  readonly argsDigest: string;
  /** The binding that the editor says they saw; absent if they name none. */
  readonly seen?: string;
};
/** Why an edit was refused. If a policy refused it: which one, and its remarks. */
export type EditRefusal = {
  readonly by: string;
  readonly rule: string;
  readonly reason: string;
} & Partial<Versions> &
  Omit<VerdictNotes, "rule">;
export const COMMENT_CATEGORIES = ["question", "answer", "concern", "note"] as const;
/** A question or answer before the decision. `category` is absent if the author chose none. */
export type CommentBody = DecidedBy & {
  readonly text: string;
  readonly category?: (typeof COMMENT_CATEGORIES)[number] | undefined;
};
/** `by` is `deadline` if the policy extended it. */
export type ExtensionBody = DecidedBy & InStage & { readonly from: number; readonly decideBy: number };
export type DelegationBody = DecidedBy & InStage & { readonly to: string; readonly reason: string };

type At = { readonly at: number };
type Vote = VoteBody & At;
type Comment = CommentBody & At;
type Delegation = DelegationBody & At;
export type ApprovalEnding = At & { readonly by: readonly string[]; readonly reason: string };

export type LiveApproval = ApprovalQuestion &
  WithRefusals & {
    readonly status: ApprovalStatus;
    readonly requestedAt: number;
    /** The terms as first or last requested: the binding is made of these. */
    readonly asked: Deadlines & At & { readonly approvers: ApproverRule };
    /** 1-based number of the current stage. */
    readonly stage: number;
    /** Stages whose time ran out and whose votes do not count. */
    readonly handedOver: readonly number[];
    readonly extensions: readonly (ExtensionBody & At)[];
    /** When the current stage began, or was last extended. */
    readonly since: number;
    /** Reminders up to this timestamp were recorded, or are obsolete. */
    readonly remindedUpTo: number;
    /** Stages past half time, in which more people may decide. */
    readonly widened: readonly number[];
    /** Seats that are currently delegated. */
    readonly delegations: readonly Delegation[];
    readonly votes: readonly Vote[];
    /** Questions and answers before the decision. */
    readonly comments: readonly Comment[];
    readonly edit: OpenEdit | null;
    /** The latest refused edit, so that its author can be informed. */
    readonly editRefused: EditRefusal | null;
    /** A person edited it. */
    readonly edited: boolean;
    /** The last editor. */
    readonly editor: string | null;
    /** An edit has changed the preview since the question was opened. */
    readonly showsOther: boolean;
    readonly decided: ApprovalEnding | null;
    readonly ended: ApprovalEnding | null;
  };
export type ApprovalState = { readonly status: "none" } | LiveApproval;

/** Rule name for an edit that is not refused but counts as no vote: its arguments are already current. */
export const UNSEEN_PREVIEW = "preview";

/** There is a decision that has not been used. */
export const isGiven = ({ status }: ApprovalState): boolean => status === "approved" || status === "modified";

/** Stream of the approval's subject. Both are locked together. */
export function aboutOf({ subject, action }: Pick<ApprovalQuestion, "subject" | "action">): StreamRef {
  if (subject === undefined) return actionStream(action);
  return subject.kind === "intent" ? intentStream(action) : workflowStream(action);
}

/** Votes cast in the current stage. */
export const votesNow = <One extends { readonly stage?: number | undefined }>({
  votes,
  stage,
}: {
  readonly votes: readonly One[];
  readonly stage: number;
}): readonly One[] => votes.filter((vote) => (vote.stage ?? 1) === stage);

/** Notes of the approvers, or why it ended without approval. */
export function joinNotes(approval: LiveApproval): string {
  if (!isGiven(approval)) return approval.decided?.reason ?? "";
  return approval.votes.flatMap(({ note }) => note ?? []).join("\n");
}

type Staged = Pick<ApprovalQuestion, "stages"> & { readonly asked: Pick<ApprovalQuestion, "approvers"> };

/** Approver rules of all stages, in order, as requested. */
export const stageRules = ({ stages, asked }: Staged): readonly ApproverRule[] =>
  listStageRules({ approvers: asked.approvers, ...(stages === undefined ? {} : { stages }) });

/** A stage that does not exist is never met. */
const NOBODY: ApproverRule = { ...ANY_ONE_PERSON, quorum: Number.NaN, from: [] };

/** Rule of one stage, including the people added at half time. */
export function ruleIn(
  approval: Staged & { readonly widened: readonly number[] },
  stage: number,
): ApproverRule {
  const rule = stageRules(approval)[stage - 1] ?? NOBODY;
  if (rule.from === null || !approval.widened.includes(stage)) return rule;
  return { ...rule, from: [...rule.from, ...(rule.escalateAtHalf ?? [])] };
}

/**
 * `later`: once the stages before it have agreed. `handed_over`: its time ran out, and the next one is asked instead.
 * `ended`: the approval ended in it, without its agreement. `not_asked`: it ended before.
 */
export const STAGE_STATES = ["asked", "later", "met", "handed_over", "ended", "not_asked"] as const;

/** A seat in one stage, delegated from one person to another. */
export type Seat = Pick<Delegation, "by" | "to" | "stage">;

/** The part of an approval that determines who may decide it. */
export type Seated = Staged &
  Pick<LiveApproval, "requester" | "apart" | "stage" | "widened"> & { readonly delegations: readonly Seat[] };

/** All people who have decided, by a vote or by an edit under review. Each decides once. */
export const haveDecided = ({ votes, edit }: Pick<LiveApproval, "votes" | "edit">): readonly string[] => [
  ...votes.map(({ by }) => by),
  ...(edit === null ? [] : [edit.by]),
];

/** With the roster, this determines whom an approval waits for (`isWaitingFor`). */
export type PendingDeciders = Seated & { readonly decided: readonly string[] };

/** What a list needs to know without reading the stream: whom the approval waits for, and what is at stake. */
export type ListedApproval = {
  /** Workflow of the approval; absent if the approval is older than this field. */
  readonly workflow?: string | null;
  readonly effectClass: string;
  readonly risk: RiskLevel | null;
  readonly decidedAt: number | null;
  /** null once it is no longer pending. */
  readonly waiting: PendingDeciders | null;
};

function waitingIn(approval: LiveApproval): PendingDeciders | null {
  if (approval.status !== "pending") return null;
  const { requester, apart, stages, stage, widened, asked, delegations } = approval;
  return {
    requester,
    ...(apart === undefined ? {} : { apart }),
    ...(stages === undefined ? {} : { stages }),
    stage,
    widened,
    asked: { approvers: asked.approvers },
    delegations: delegations.map(({ reason: _, via: _via, at: _at, ...seat }) => seat),
    decided: haveDecided(approval),
  };
}

function workflowIn({ subject, workflow }: LiveApproval): Pick<ListedApproval, "workflow"> {
  if (subject === undefined) return workflow === undefined ? {} : { workflow };
  return { workflow: subject.kind === "intent" ? null : subject.workflow };
}

export const listApproval = (approval: LiveApproval): ListedApproval => ({
  ...workflowIn(approval),
  effectClass: approval.effectClass,
  risk: approval.risk ?? null,
  decidedAt: approval.decided?.at ?? null,
  waiting: waitingIn(approval),
});

/** A stage is extended automatically only once. */
function wasExtended({ extensions, stage: now }: Omit<Omit<LiveApproval, "says">, "says">): boolean {
  return extensions.some(({ by, stage = 1 }) => by === "deadline" && stage === now);
}

/** What the current deadline leads to if people do not decide. */
export function nextAtDeadline(approval: Omit<LiveApproval, "says">): OnTimeout {
  const { onTimeout, stage, stages } = approval;
  if (onTimeout === "extend") return wasExtended(approval) ? "expire" : "extend";
  return onTimeout === "escalate" && stage < (stages?.length ?? 1) ? "escalate" : "expire";
}

/**
 * When people are reminded of a pending question, and when more of them may decide.
 * - A reminder decides nothing. A sweep writes it once: late if no process swept in time, and not at all if the next
 *   one is also due.
 * - A period under a minute has no reminder. Times count from the stage's beginning or its last extension.
 */
export type Reminder = { readonly at: number; readonly why: "half_time" | "last_call" | "interval" };

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

const halfTime = (since: number, decideBy: number): number => since + Math.floor((decideBy - since) / 2);

/** A tenth of the time before the deadline, at least a minute and at most a day. */
function lastCall(since: number, decideBy: number): number {
  const before = Math.min(Math.max(Math.floor((decideBy - since) / 10), MINUTE_MS), DAY_MS);
  return decideBy - before;
}

/** If the last call would precede half time, it is the only one. If it would precede the beginning, only half time. */
function ofDeadline({ since, decideBy }: LiveApproval): readonly Reminder[] {
  if (decideBy === null || decideBy - since < MINUTE_MS) return [];
  const half = { at: halfTime(since, decideBy), why: "half_time" } as const;
  const call = { at: lastCall(since, decideBy), why: "last_call" } as const;
  if (call.at <= since) return [half];
  return half.at < call.at ? [half, call] : [call];
}

/** Reminders not sent yet, in order; the most informative of one timestamp is last. `turns`: the interval's number. */
function reminders(approval: LiveApproval, turns: (every: number) => number): readonly Reminder[] {
  const { since, decideBy, remindedUpTo, approvers } = approval;
  const { remindEveryMs: every } = approvers;
  const count = every === undefined ? 0 : turns(every);
  const interval =
    every === undefined || count < 1 ? [] : [{ at: since + count * every, why: "interval" } as const];
  return [...interval, ...ofDeadline(approval)]
    .filter(({ at }) => at > remindedUpTo && (decideBy === null || at < decideBy))
    .toSorted((a, b) => a.at - b.at);
}

/** The reminder to send now: the latest that is due. */
export function dueReminder(approval: LiveApproval, now: number): Reminder | undefined {
  const turns = (every: number) => Math.floor((now - approval.since) / every);
  return reminders(approval, turns).findLast(({ at }) => at <= now);
}

/** When more people may decide. undefined: they already may, or never will. */
export function wideningAt({ stage, widened, approvers, since, decideBy }: LiveApproval): number | undefined {
  if (approvers.escalateAtHalf === undefined || widened.includes(stage) || decideBy === null)
    return undefined;
  return halfTime(since, decideBy);
}

/** When a process must check it next. null: time changes nothing. */
export function nextDue(approval: LiveApproval): number | null {
  if (approval.status !== "pending") return null;
  const { since, remindedUpTo } = approval;
  const [next] = reminders(approval, (every) => Math.floor((remindedUpTo - since) / every) + 1);
  const moments = [approval.decideBy, next?.at, wideningAt(approval)];
  const known = moments.filter((at) => at !== undefined && at !== null);
  return known.length === 0 ? null : Math.min(...known);
}
