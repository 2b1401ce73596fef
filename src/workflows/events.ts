/** What the larger events of a workflow hold. `stream.ts` has every event; the outcomes of its actions are in their own streams. */

import type { Json } from "../kernel/json.ts";
import type { MoneyJson } from "../kernel/money.ts";
import type { ApproverRule, OnTimeout, StageRule } from "../policy/rules/verdict.ts";

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

/** Location of a stored snapshot, and its size before and after compression. */
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

export type FailureCode =
  | "error"
  | "invalid_args"
  | "rejected"
  | "expired"
  | "cancelled"
  | "rollback_failed"
  | "rolled_back";
