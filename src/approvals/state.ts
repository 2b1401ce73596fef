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

import type { ReviewFacts } from "../core/action/events.ts";
import type { Undo } from "../core/action/undo.ts";
import type { Json } from "../core/json.ts";
import type { Refused } from "../core/refusals.ts";
import { type ApprovalTerms, rulesOf } from "../core/stages.ts";
import { actionStream, intentStream, type StreamRef, workflowStream } from "../core/stream.ts";
import { ANY_ONE_PERSON, type ApproverRule, type RiskLevel } from "../core/verdict.ts";
import type { Via } from "../core/via.ts";
import type { Delegation } from "./rules/seats.ts";

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

/** Those that were cast in the present stage. */
export const votesNow = ({ votes, stage }: LiveApproval): readonly Vote[] =>
  votes.filter((vote) => (vote.stage ?? 1) === stage);

/** Every fact that an approval's stream can hold. */

/** A question that is not about an action: a checkpoint of a workflow, or one that the workflow asks; or an intent. */
export type Subject =
  | { readonly kind: "checkpoint" | "question"; readonly workflow: string; readonly op: string }
  | { readonly kind: "intent"; readonly intent: string; readonly op: string };

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
  readonly policy: string;
  /** Digests of the policy documents that were asked; absent where none was. */
  readonly documents?: readonly string[];
  readonly approvers: ApproverRule;
  readonly decideBy: number | null;
  readonly executeBy: number | null;
  readonly nonce: string;
  readonly binding: string;
  /** What the tool showed of it; only of a tool that has a preview. */
  readonly preview?: Preview;
  /** How the agent says that it would take it back. */
  readonly undo?: Undo;
  readonly subject?: Subject;
  /** Who posted or executes the work; only where separation of duties leaves them out. */
  readonly apart?: readonly string[];
  /** The workflow in which the action was called, or null; absent in older entries, and of a subject. Like the risk, it is not bound. */
  readonly workflow?: string | null;
  /** How dangerous the policy thinks it is; absent where none scores. */
  readonly risk?: RiskLevel;
} & Pick<ApprovalTerms, "stages" | "onTimeout">;

export type VoteBody = {
  readonly by: string;
  readonly decision: "approve" | "reject";
  readonly binding: string;
  readonly note: string | null;
  readonly via: string;
  /** A rejection after which the workflow is not to try again. */
  readonly final?: true;
  /** The stage in which it counts, from 1 on; only where there are several. */
  readonly stage?: number;
} & Shown;

/** Digest of the card, or of the row of a list, that the person says they saw; absent where they name none. */
export type Shown = { readonly shown?: string };

/** What somebody asks or answers before it is decided. */
export type CommentBody = { readonly by: string; readonly text: string; readonly via: string };

/** The rule by which an edit is not refused, but nobody's word: it is what is asked already. */
export const UNSEEN_PREVIEW = "preview";

/** Why an edit was refused; where a policy did so, which one and what it remarked. */
export type EditRefusal = { readonly by: string; readonly rule: string; readonly reason: string } & Partial<
  Pick<ReviewFacts, "policy" | "documents" | "risk" | "risks" | "shadow">
>;

/** Stages begin again after an edit, with their time. */
export type Again = { readonly decideBy: number | null; readonly executeBy: number | null };

type Fact<Type extends string, Body> = { readonly type: Type; readonly tv: 1; readonly body: Body };

export type ApprovalEvent =
  | Fact<"approval.requested", ApprovalQuestion>
  | Fact<"approval.voted", VoteBody>
  | Fact<
      "approval.vote_refused",
      {
        readonly by: string;
        readonly decision: string;
        readonly code: string;
        readonly reason: string;
        readonly via: string;
      }
    >
  | Fact<
      "approval.edited",
      {
        readonly by: string;
        readonly args: Json;
        readonly argsDigest: string;
        readonly note: string | null;
        readonly via: string;
        /** The binding that the editor says they were shown; absent where they name none. */
        readonly seen?: string;
      } & Shown
    >
  | Fact<"approval.edit_refused", EditRefusal>
  | Fact<
      "approval.revised",
      {
        readonly by: string;
        readonly args: Json;
        readonly argsDigest: string;
        readonly policy: string;
        readonly documents?: readonly string[];
        readonly nonce: string;
        readonly binding: string;
        readonly preview?: Preview;
        readonly risk?: RiskLevel;
        readonly again?: Again;
      }
    >
  | Fact<
      "approval.stage_met",
      { readonly stage: number; readonly by: readonly string[]; readonly decideBy: number | null }
    >
  | Fact<"approval.escalated", { readonly stage: number; readonly decideBy: number | null }>
  | Fact<
      "approval.extended",
      {
        /** `deadline` when it was the policy's doing. */
        readonly by: string;
        readonly from: number;
        readonly decideBy: number;
        readonly via: string;
        readonly stage?: number;
      }
    >
  | Fact<
      "approval.reminded",
      {
        readonly why: "half_time" | "last_call" | "interval";
        /** When it was to be said. */
        readonly due: number;
        readonly decideBy: number | null;
        readonly stage?: number;
      }
    >
  | Fact<
      "approval.widened",
      /** From half time on they may decide as well. */
      { readonly also: readonly string[]; readonly halfTime: number; readonly stage?: number }
    >
  | Fact<
      "approval.delegated",
      {
        readonly by: string;
        readonly to: string;
        readonly reason: string;
        readonly via: string;
        readonly stage?: number;
      }
    >
  | Fact<
      "approval.delegation_withdrawn",
      {
        readonly by: string;
        /** Whose seat comes back. */
        readonly of: string;
        readonly to: string;
        readonly reason: string;
        readonly via: string;
        readonly stage?: number;
      }
    >
  | Fact<
      "approval.delegate_refused",
      { readonly by: string; readonly to: string; readonly reason: string; readonly via: string }
    >
  | Fact<"approval.commented", CommentBody>
  | Fact<"approval.comment_refused", { readonly by: string; readonly reason: string; readonly via: string }>
  | Fact<"approval.extend_refused", { readonly by: string; readonly reason: string; readonly via: string }>
  | Fact<"approval.approved" | "approval.modified", { readonly by: readonly string[] }>
  | Fact<
      "approval.rejected" | "approval.cancelled" | "approval.revoked",
      { readonly by: string; readonly reason: string } & Via
    >
  | Fact<"approval.expired", { readonly decideBy: number }>
  | Fact<"approval.consumed", { readonly effect: string }>
  | Fact<"approval.lapsed", { readonly reason: string }>;

export type ApprovalEventOf<Type extends ApprovalEvent["type"]> = Extract<ApprovalEvent, { type: Type }>;

/** The stream of what an approval is about: it is locked together with it. */

export function aboutOf({ subject, action }: Pick<ApprovalQuestion, "subject" | "action">): StreamRef {
  if (subject === undefined) return actionStream(action);
  return subject.kind === "intent" ? intentStream(action) : workflowStream(action);
}

/** What a list of approvals can be asked for. */

/** `decided` is everything that is not pending. */
export const LISTED_STATUSES = [...APPROVAL_STATUSES, "decided", "any"] as const;
export type ListedStatus = (typeof LISTED_STATUSES)[number];

/**
 * By when it was asked, or: `deadline`, the soonest first, and last what has none; only of what is pending. `decided`, what was
 * decided last first; only of what is not.
 */
export const APPROVAL_ORDERS = ["oldest", "newest", "deadline", "decided"] as const;
export type ApprovalOrder = (typeof APPROVAL_ORDERS)[number];

/** The approver rules of an approval's stages: as they were asked, and as half time has widened them. */

type Staged = Pick<ApprovalQuestion, "stages"> & { readonly asked: Pick<ApprovalQuestion, "approvers"> };

/** The rules of all stages, in their order, as they were asked. */
export const stageRules = ({ stages, asked }: Staged): readonly ApproverRule[] =>
  rulesOf({ approvers: asked.approvers, ...(stages === undefined ? {} : { stages }) });

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

/** What a tool shows of a call before it is made, as it is handed around. */

/** What the engine computed: what the tool answered, or the text of its failure. */
export type ShownPreview = { readonly value: Json; readonly failed: boolean };
/** As it stands in a question; large ones as a reference. */
export type Preview = ShownPreview & { readonly digest: string };
