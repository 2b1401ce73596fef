/**
 * An approval's state, the bodies of its events, and what is read off a state.
 *
 * A1. pending → approved | modified | rejected | expired | cancelled | superseded, once; approved and modified → consumed | lapsed |
 *     revoked, once. No other move exists.
 * A2. Votes count for one binding; a revision makes a new binding and voids them.
 * A3. A vote counts in the stage in which it was cast, and in no other; each person has one.
 * A4. The binding is made of what was asked. `approvers`, `decideBy` and `executeBy` are those of now: only recorded stages,
 *     half times and extensions move them, so votes stay valid and nothing but the journal can give more time.
 * A5. Comments are kept, and change nothing else.
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

/** What a list of approvals can be asked for; `decided` is everything that is not pending. */
/** How a pending question ends: whether people decided it, and what figures count it as. */
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

export const LISTED_STATUSES = [...APPROVAL_STATUSES, "decided", "any"] as const;
export type ListedStatus = (typeof LISTED_STATUSES)[number];

/** All that a person can do with an approval. `cancel` ends the question; `revoke` ends a decision that was not used yet. */
export const MOVES = [
  ...(["approve", "reject", "edit", "extend", "delegate"] as const),
  ...(["take_back", "cancel", "revoke", "comment"] as const),
] as const;
export type ApprovalMove = (typeof MOVES)[number];

/** How many decisions of one person are taken together. */
export const MOST_AT_ONCE = 100;

/**
 * By when it was asked, or: `deadline`, the soonest first, and last what has none; only of what is pending. `decided`, what was
 * decided last first; only of what is not.
 */
export const APPROVAL_ORDERS = ["oldest", "newest", "deadline", "decided"] as const;
export type ApprovalOrder = (typeof APPROVAL_ORDERS)[number];

/** A question that is not about an action: a checkpoint of a workflow, or one that the workflow asks; or an intent. */
export type Subject =
  | { readonly kind: "checkpoint" | "question"; readonly workflow: string; readonly op: string }
  | { readonly kind: "intent"; readonly intent: string; readonly op: string };

/** What the tool answered when it was asked for a preview, or the text of its failure. */
export type ShownPreview = { readonly value: Json; readonly failed: boolean };
/** As a question holds it; large ones as a reference. */
export type Preview = ShownPreview & { readonly digest: string };

/** The call by which the agent says it would take the action back; large arguments as a reference. */
export type UndoRecord = { readonly tool: string; readonly args: Json; readonly argsDigest: string };

/** Which policy was asked. */
export type Versions = {
  /** Of everything that was asked, code included: what a binding binds. */
  readonly policy: string;
  /** Digests of the documents that were asked; absent where only code was. */
  readonly documents?: readonly string[];
};
export type UndoCall = Pick<UndoRecord, "tool" | "args">;
/** Whether people agreed to the undo, for the arguments that ran. */
export type UndoSeen = "seen" | "unseen";

/** Deadlines of a question: when it expires undecided, and until when what was approved may start. */
export type Deadlines = { readonly decideBy: number | null; readonly executeBy: number | null };

/** What people are asked, and what the binding is made of. For a subject, `action` is the id of the workflow or intent. */
export type ApprovalQuestion = {
  readonly action: string;
  readonly tool: string;
  readonly schema: string;
  readonly effectClass: string;
  readonly args: Json;
  readonly argsDigest: string;
  readonly agent: string;
  readonly requester: readonly string[];
  /** Untrusted text of the agent. */
  readonly says: string | null;
  readonly reason: string;
  readonly rule: string;
  readonly approvers: ApproverRule;
  readonly nonce: string;
  readonly binding: string;
  /** What the tool showed of it; only of a tool that has a preview. */
  readonly preview?: Preview;
  readonly undo?: UndoRecord;
  readonly subject?: Subject;
  /** Who posted or executes the work; only where separation of duties leaves them out. */
  readonly apart?: readonly string[];
  /** The workflow in which the action was called, or null; absent in older entries, and of a subject. Like the risk, it is not bound. */
  readonly workflow?: string | null;
  /** How dangerous the policy thinks it is; absent where none scores. */
  readonly risk?: RiskLevel;
} & Versions &
  Deadlines &
  Pick<ApprovalTerms, "stages" | "onTimeout">;

/** The stage that an entry belongs to, from 1 on; only where there are several. */
export type InStage = { readonly stage?: number };
export type DecidedBy = { readonly by: string; readonly via: string };
/** `shown`: digest of the card, or of the row of a list, that the person says they saw; absent where they name none. */
type DecisionBody = DecidedBy & { readonly note: string | null; readonly shown?: string };

export type VoteBody = DecisionBody &
  InStage & {
    readonly decision: "approve" | "reject";
    readonly binding: string;
    /** A rejection after which the workflow is not to try again. */
    readonly final?: true;
  };
/** An edit that no process with the tool at hand has reviewed yet. */
export type OpenEdit = DecisionBody & {
  readonly args: Json;
  readonly argsDigest: string;
  /** The binding that the editor says they were shown; absent where they name none. */
  readonly seen?: string;
};
/** Why an edit was refused; where a policy did so, which one and what it remarked. */
export type EditRefusal = {
  readonly by: string;
  readonly rule: string;
  readonly reason: string;
} & Partial<Versions> &
  Omit<VerdictNotes, "rule">;
export const COMMENT_CATEGORIES = ["question", "answer", "concern", "note"] as const;
/** What somebody asks or answers before it is decided. `category` is absent where the author chose none. */
export type CommentBody = DecidedBy & {
  readonly text: string;
  readonly category?: (typeof COMMENT_CATEGORIES)[number] | undefined;
};
/** `by` is `deadline` when it was the policy's doing. */
export type ExtensionBody = DecidedBy & InStage & { readonly from: number; readonly decideBy: number };
export type DelegationBody = DecidedBy & InStage & { readonly to: string; readonly reason: string };

type At = { readonly at: number };
export type Vote = VoteBody & At;
type Comment = CommentBody & At;
type Delegation = DelegationBody & At;
export type ApprovalEnding = At & { readonly by: readonly string[]; readonly reason: string };

export type LiveApproval = ApprovalQuestion &
  WithRefusals & {
    readonly status: ApprovalStatus;
    readonly requestedAt: number;
    /** The terms as they were asked, or asked again: what the binding is made of. */
    readonly asked: Deadlines & At & { readonly approvers: ApproverRule };
    /** Which of the stages is asked now, from 1 on. */
    readonly stage: number;
    /** Stages whose time was up and whose votes count for nothing. */
    readonly handedOver: readonly number[];
    readonly extensions: readonly (ExtensionBody & At)[];
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
    readonly edit: OpenEdit | null;
    /** The latest edit that was refused, so that its author can be told. */
    readonly editRefused: EditRefusal | null;
    /** A person changed what was asked. */
    readonly edited: boolean;
    /** Who did so last. */
    readonly editor: string | null;
    /** Since it was asked, an edit has made the tool show something else. */
    readonly showsOther: boolean;
    readonly decided: ApprovalEnding | null;
    readonly ended: ApprovalEnding | null;
  };
export type ApprovalState = { readonly status: "none" } | LiveApproval;

/** The rule by which an edit is not refused, but nobody's word: it is what is asked already. */
export const UNSEEN_PREVIEW = "preview";

/** There is a decision that was not used yet. */
export const isGiven = ({ status }: ApprovalState): boolean => status === "approved" || status === "modified";

/** The stream of what an approval is about: it is locked together with it. */
export function aboutOf({ subject, action }: Pick<ApprovalQuestion, "subject" | "action">): StreamRef {
  if (subject === undefined) return actionStream(action);
  return subject.kind === "intent" ? intentStream(action) : workflowStream(action);
}

/** Those that were cast in the present stage. */
export const votesNow = ({ votes, stage }: LiveApproval): readonly Vote[] =>
  votes.filter((vote) => (vote.stage ?? 1) === stage);

/** What people noted when they agreed, or why it ended without that. */
export function joinNotes(approval: LiveApproval): string {
  if (!isGiven(approval)) return approval.decided?.reason ?? "";
  return approval.votes.flatMap(({ note }) => note ?? []).join("\n");
}

type Staged = Pick<ApprovalQuestion, "stages"> & { readonly asked: Pick<ApprovalQuestion, "approvers"> };

/** The approver rules of all stages, in their order, as they were asked. */
export const stageRules = ({ stages, asked }: Staged): readonly ApproverRule[] =>
  listStageRules({ approvers: asked.approvers, ...(stages === undefined ? {} : { stages }) });

/** A stage that is not there is never met. */
const NOBODY: ApproverRule = { ...ANY_ONE_PERSON, quorum: Number.NaN, from: [] };

/** Of one stage, with those who may decide in it since its half time. */
export function ruleIn(
  approval: Staged & { readonly widened: readonly number[] },
  stage: number,
): ApproverRule {
  const rule = stageRules(approval)[stage - 1] ?? NOBODY;
  if (rule.from === null || !approval.widened.includes(stage)) return rule;
  return { ...rule, from: [...rule.from, ...(rule.escalateAtHalf ?? [])] };
}

/** A seat of a stage that went from one person to another. */
export type Seat = Pick<Delegation, "by" | "to" | "stage">;

/** As much of an approval as it takes to say who may decide it. */
export type Seated = Staged &
  Pick<LiveApproval, "requester" | "apart" | "stage" | "widened"> & { readonly delegations: readonly Seat[] };

/** Everybody who has decided, by a vote or by an edit under review; each person does so once. */
export const haveDecided = ({ votes, edit }: Pick<LiveApproval, "votes" | "edit">): readonly string[] => [
  ...votes.map(({ by }) => by),
  ...(edit === null ? [] : [edit.by]),
];

/** Whom an approval waits for can be told from this and the roster (`waitsFor`). */
export type PendingDeciders = Seated & { readonly decided: readonly string[] };

/** What a list has to know of an approval to say whom it waits for and how much is at stake, without reading its stream. */
export type ListedApproval = {
  /** In which it is asked; absent where the approval is from before it was recorded. */
  readonly workflow?: string | null;
  readonly effectClass: string;
  readonly risk: RiskLevel | null;
  readonly decidedAt: number | null;
  /** Null once nobody is asked any more. */
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

/** By itself, a stage is given more time once. */
function wasExtended({ extensions, stage: now }: LiveApproval): boolean {
  return extensions.some(({ by, stage = 1 }) => by === "deadline" && stage === now);
}

/** What the present deadline brings about, if nobody decides. */
export function nextAtDeadline(approval: LiveApproval): OnTimeout {
  const { onTimeout, stage, stages } = approval;
  if (onTimeout === "extend") return wasExtended(approval) ? "expire" : "extend";
  return onTimeout === "escalate" && stage < (stages?.length ?? 1) ? "escalate" : "expire";
}

/**
 * When people are reminded of a pending question, and when more of them are asked.
 *
 * M1. A reminder decides nothing. It is written once for its moment, by the process that sweeps: late if none did in time, and
 *     not at all where the next one is due too.
 * M2. Nobody is reminded in less than a minute. The moments are counted from the beginning of the stage, or from where it was last given time.
 */
export type Reminder = { readonly at: number; readonly why: "half_time" | "last_call" | "interval" };

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

const halfTime = (since: number, decideBy: number): number => since + Math.floor((decideBy - since) / 2);

/** A tenth of the time before its end, at least a minute and at most a day. */
function lastCall(since: number, decideBy: number): number {
  const before = Math.min(Math.max(Math.floor((decideBy - since) / 10), MINUTE_MS), DAY_MS);
  return decideBy - before;
}

/** In so short a time that the last call would come first, it is the only one; in a shorter one there is only half time. */
function ofDeadline({ since, decideBy }: LiveApproval): readonly Reminder[] {
  if (decideBy === null || decideBy - since < MINUTE_MS) return [];
  const half = { at: halfTime(since, decideBy), why: "half_time" } as const;
  const call = { at: lastCall(since, decideBy), why: "last_call" } as const;
  if (call.at <= since) return [half];
  return half.at < call.at ? [half, call] : [call];
}

/** What was not said yet, in order; of those at one moment the one that says more comes last. `turns`: which interval is meant. */
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

/** What is to be said now: the latest of all that are due. */
export function dueReminder(approval: LiveApproval, now: number): Reminder | undefined {
  const turns = (every: number) => Math.floor((now - approval.since) / every);
  return reminders(approval, turns).findLast(({ at }) => at <= now);
}

/** When more people may decide; undefined where that is so already, or never will be. */
export function wideningAt({ stage, widened, approvers, since, decideBy }: LiveApproval): number | undefined {
  if (approvers.escalateAtHalf === undefined || widened.includes(stage) || decideBy === null)
    return undefined;
  return halfTime(since, decideBy);
}

/** When somebody has to look next; null: never by itself. */
export function nextDue(approval: LiveApproval): number | null {
  if (approval.status !== "pending") return null;
  const { since, remindedUpTo } = approval;
  const [next] = reminders(approval, (every) => Math.floor((remindedUpTo - since) / every) + 1);
  const moments = [approval.decideBy, next?.at, wideningAt(approval)];
  const known = moments.filter((at) => at !== undefined && at !== null);
  return known.length === 0 ? null : Math.min(...known);
}
