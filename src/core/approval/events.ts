/** Every fact that an approval's stream can hold. */

import type { ReviewFacts } from "../action/events.ts";
import type { Undo } from "../action/undo.ts";
import type { Json } from "../json.ts";
import type { Preview } from "../preview.ts";
import type { ApprovalTerms } from "../stages.ts";
import type { ApproverRule, RiskLevel } from "../verdict.ts";
import type { Via } from "../via.ts";

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
