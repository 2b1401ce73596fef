/** Every event that a workflow's stream can hold. The outcomes of its actions are in their own streams, named here. */

import type { Json } from "../kernel/json.ts";
import type { MoneyJson } from "../kernel/money.ts";
import type { Via } from "../kernel/principal.ts";
import type { ApproverRule, OnTimeout, StageRule } from "../policy/rules/verdict.ts";

type Fact<Type extends string, Body> = { readonly type: Type; readonly tv: 1; readonly body: Body };

/** Who posted the work, who does it, and who watches over it. All three are optional. */
type Parties = {
  readonly poster: string | null;
  readonly executor: string | null;
  readonly supervisor: string | null;
};

/** A checkpoint as declared when the workflow was created. */
export type Declared = {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly requiresApproval: boolean;
  readonly canRollback: boolean;
  readonly timeoutSeconds: number | null;
  /** Who is asked and when, if no definition says so. */
  readonly asks?: DeclaredAsking;
};

export type DeclaredAsking = {
  readonly approvers?: Partial<ApproverRule>;
  readonly stages?: readonly StageRule[];
  readonly onTimeout?: OnTimeout;
  readonly when?: {
    readonly confidenceBelow?: number;
    readonly costAbove?: MoneyJson;
    readonly tools?: readonly string[];
  };
};

/** How a call is undone: by its agent, by a process that has the tool, not at all, or `nothing` to undo. */
export type CallUndo = "agent" | "here" | "none" | "nothing";

export type Lineage = { readonly workflow: string; readonly op: string };

/** The workflow that spawned this one; `above`: its ancestors, nearest first (not recorded in older journals). */
export type Parent = Lineage & { readonly above?: readonly string[] };

export type Fork = {
  readonly workflow: string;
  readonly seq: number;
  readonly checkpoint: string;
  /** The checkpoint that was forked at. A rollback leads back here until the fork has passed one of its own. */
  readonly passed?: {
    readonly op: string;
    readonly snapshot: Snapshot;
    readonly approval: string | null;
    readonly at: number;
  };
  /** The origin's last entry when it was forked: operations open at the checkpoint but ended by then are ended here. */
  readonly upTo?: number;
};

export type CreatedBody = {
  readonly name: string;
  readonly description: string;
  /** Version of the definition, as its author counts. */
  readonly version: string | null;
  readonly input: Json;
  /** Digest of the input as the caller sent it, if the definition transformed it. */
  readonly given?: string;
  readonly agent: string;
  readonly requester: readonly string[];
  readonly parties: Parties;
  readonly escrow: MoneyJson | null;
  readonly complexity: string | null;
  readonly checkpoints: readonly Declared[];
  /** Attempts in total before a rejection is final. */
  readonly attempts: number;
  readonly rollbackEnabled: boolean;
  readonly onIrreversible: "fail" | "continue";
  /** People are asked about every call that policy alone would let through. */
  readonly approvalRequired?: true;
  /** The costs that its tools declare also count against this budget. */
  readonly budget?: string;
  /** The endpoint that is told of the approvals that it asks for: `slack://prod`. */
  readonly notify?: string;
  /** Names of the ancestor workflows whose policies also apply to its calls. */
  readonly policies?: readonly string[];
  /** Its definition was made for it alone: one of the same name does not fit, and name lookups never find it. */
  readonly isOfOneRun?: true;
  /** A remote agent drives it: it has no definition, and no process runs it. */
  readonly isOutside?: true;
  readonly parent: Parent | null;
  /** The other workflow's history up to this entry is the beginning of its own. */
  readonly fork: Fork | null;
};

/** What the definition adds to a workflow that was requested by name: everything only the definition knows. */
export type DefinedBody = Pick<
  CreatedBody,
  | "agent"
  | "requester"
  | "description"
  | "version"
  | "input"
  | "parties"
  | "escrow"
  | "complexity"
  | "checkpoints"
  | "attempts"
  | "rollbackEnabled"
  | "onIrreversible"
>;

type WaitKind =
  | "approval"
  | "checkpoint"
  | "question"
  | "sleep"
  | "retry"
  | "child"
  | "intent"
  | "doubt"
  /** The kill switch or a budget, by the name of its stream. */
  | "held"
  | "definition"
  /** Its process shut down in good order. It waits for another one; `on` is the epoch that let go of it. */
  | "node";
export type Wait = { readonly op: string; readonly kind: WaitKind; readonly on: string };

export type Snapshot = {
  readonly id: string;
  readonly uri: string;
  readonly hash: string;
  readonly bytes: number;
  readonly compressedBytes: number;
};

export type Irreversible = { readonly op: string; readonly action: string; readonly tool: string };

export type ReachedBody = {
  readonly op: string;
  readonly name: string;
  readonly checkpoint: string;
  readonly snapshot: Snapshot;
  readonly outputs: Json;
  readonly agent: string | null;
  readonly why: string;
  /** Chosen by the remote agent that drives the workflow. */
  readonly requestId?: string;
  /** With a request id: digest of everything submitted under it. */
  readonly handed?: string;
};

export type CheckpointDecision = "approved" | "modified" | "rejected" | "expired" | "cancelled";

/** What was undone, what was not, and what cannot be. */
export type RollbackReport = {
  readonly undone: readonly string[];
  readonly notUndone: readonly { readonly action: string; readonly reason: string }[];
  readonly irreversible: readonly Irreversible[];
};

export type WorkflowEvent =
  | Fact<"workflow.created", CreatedBody>
  /** Requested by name alone. The first process that takes it up and has the definition adds the rest. */
  | Fact<"workflow.requested", { readonly by: string; readonly given: string } & Via>
  | Fact<"workflow.defined", DefinedBody>
  | Fact<"workflow.started" | "workflow.resumed", { readonly epoch: string }>
  | Fact<"workflow.suspended", { readonly wakeAt: number | null; readonly waits: readonly Wait[] }>
  | Fact<"workflow.woken", { readonly by: string }>
  | Fact<"step.completed", { readonly op: string; readonly result: Json; readonly attempts: number }>
  | Fact<"step.failed", { readonly op: string; readonly error: string; readonly attempts: number }>
  | Fact<
      "step.retried",
      { readonly op: string; readonly attempt: number; readonly error: string; readonly retryAt: number }
    >
  | Fact<
      "call.made",
      {
        readonly op: string;
        readonly action: string;
        readonly tool: string;
        readonly argsDigest: string;
        /** Undone automatically when the workflow fails. */
        readonly rollback: boolean;
        /** Only if a remote agent drives the workflow. */
        readonly undo?: CallUndo;
      }
    >
  | Fact<"call.settled", { readonly op: string; readonly action: string; readonly answer: Json }>
  | Fact<"value.recorded", { readonly op: string; readonly value: Json }>
  | Fact<"log.written", { readonly op: string; readonly text: string; readonly data: Json }>
  /** An invalid request by the definition: it got this error, and gets the same one on every replay. */
  | Fact<
      "operation.refused",
      { readonly op: string; readonly kind: string; readonly code: string; readonly error: string }
    >
  | Fact<"sleep.began", { readonly op: string; readonly until: number }>
  | Fact<"sleep.ended", { readonly op: string }>
  | Fact<
      "child.spawned",
      { readonly op: string; readonly child: string; readonly name: string; readonly inputDigest: string }
    >
  | Fact<
      "child.ended",
      {
        readonly op: string;
        readonly child: string;
        readonly status: "completed" | "failed";
        readonly result: Json;
        readonly reason: string;
      }
    >
  | Fact<
      "question.asked",
      { readonly op: string; readonly approval: string; readonly text: string; readonly argsDigest: string }
    >
  | Fact<
      "question.answered",
      {
        readonly op: string;
        readonly approval: string;
        readonly status: "answered" | "rejected" | "expired" | "cancelled";
        readonly answer: Json;
        readonly by: readonly string[];
        readonly reason: string;
      }
    >
  | Fact<
      "send.made",
      {
        readonly op: string;
        readonly intent: string;
        readonly intentType: string;
        readonly to: string;
        readonly payloadDigest: string;
      }
    >
  /** An intent that it sent has ended. */
  | Fact<"send.ended", { readonly op: string; readonly intent: string; readonly status: string }>
  | Fact<
      "wait.began",
      /** `until`: when the definition stops waiting; the intent goes on. */
      { readonly op: string; readonly intent: string; readonly until: number | null }
    >
  | Fact<
      "wait.ended",
      {
        readonly op: string;
        readonly intent: string;
        readonly status: "completed" | "failed" | "timed_out" | "cancelled" | "timed_out_waiting";
        readonly data: Json;
        readonly reason: string;
      }
    >
  | Fact<
      "checkpoint.reached",
      ReachedBody & {
        readonly approval: string;
        readonly canRollback: boolean;
        readonly irreversible: readonly Irreversible[];
      }
    >
  | Fact<"checkpoint.passed", ReachedBody>
  /** Raised by a monitor, not by the definition. */
  | Fact<
      "checkpoint.raised",
      ReachedBody & {
        readonly approval: string;
        readonly canRollback: boolean;
        readonly irreversible: readonly Irreversible[];
        readonly monitor: string;
        readonly rule: string;
        readonly alert: string;
      }
    >
  | Fact<
      "checkpoint.decided",
      {
        readonly op: string;
        readonly approval: string;
        readonly decision: CheckpointDecision;
        readonly by: readonly string[];
        readonly reason: string;
        readonly outputs: Json;
      }
    >
  | Fact<
      "rollback.began",
      {
        /** The checkpoint's operation, or null for the start. */
        readonly to: string | null;
        readonly toSeq: number;
        readonly by: string;
        readonly reason: string;
        readonly after: "again" | "fail";
        /** `declared`: only calls that were declared to be undone on failure. */
        readonly scope: "all" | "declared";
        readonly rejected: string | null;
      } & Via
    >
  | Fact<
      "compensation.made",
      { readonly op: string; readonly action: string; readonly undoes: string; readonly tool: string }
    >
  | Fact<
      "compensation.settled",
      {
        readonly action: string;
        readonly undoes: string;
        readonly status: "undone" | "not_undone";
        readonly reason: string;
      }
    >
  | Fact<
      "rollback.ended",
      RollbackReport & {
        readonly generation: number;
        readonly toSeq: number;
        readonly after: "again" | "fail";
      }
    >
  | Fact<"workflow.settling", { readonly operations: number }>
  | Fact<"workflow.completed", { readonly result: Json }>
  | Fact<
      "workflow.failed",
      {
        readonly code: FailureCode;
        readonly reason: string;
        readonly by: string;
        readonly report: RollbackReport | null;
      } & Via
    >
  /** Nothing that it began is open any more. */
  | Fact<"workflow.closed", Record<string, never>>
  /** Another workflow begins with this one's history up to a checkpoint. */
  | Fact<"workflow.forked", { readonly fork: string; readonly seq: number; readonly checkpoint: string }>
  | Fact<
      "workflow.refused",
      { readonly asked: string; readonly by: string; readonly status: string; readonly reason: string }
    >;

export type FailureCode =
  | "error"
  | "invalid_args"
  | "rejected"
  | "expired"
  | "cancelled"
  | "rollback_failed"
  | "rolled_back";

export type WorkflowEventOf<Type extends WorkflowEvent["type"]> = Extract<WorkflowEvent, { type: Type }>;

export const WORKFLOW_EVENTS: readonly string[] = [
  "workflow.created",
  "workflow.requested",
  "workflow.defined",
  "workflow.started",
  "workflow.resumed",
  "workflow.suspended",
  "workflow.woken",
  "step.completed",
  "step.failed",
  "step.retried",
  "call.made",
  "call.settled",
  "value.recorded",
  "log.written",
  "operation.refused",
  "sleep.began",
  "sleep.ended",
  "child.spawned",
  "child.ended",
  "question.asked",
  "question.answered",
  "send.made",
  "send.ended",
  "wait.began",
  "wait.ended",
  "checkpoint.reached",
  "checkpoint.passed",
  "checkpoint.raised",
  "checkpoint.decided",
  "rollback.began",
  "compensation.made",
  "compensation.settled",
  "rollback.ended",
  "workflow.settling",
  "workflow.completed",
  "workflow.failed",
  "workflow.closed",
  "workflow.forked",
  "workflow.refused",
] satisfies readonly WorkflowEvent["type"][];
