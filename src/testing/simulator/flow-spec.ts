import type { Ask, PolicySpec, ToolSpec } from "./tool-spec.ts";

export type GatedClass = "once" | "keyed" | "idempotent";

export type OpSpec =
  | {
      readonly kind: "call";
      readonly tool: string;
      readonly goesOn: boolean;
      readonly rollback: boolean | null;
      /** The definition fails if it was not done. */
      readonly must: boolean;
    }
  /** Fails so often before it succeeds. */
  | {
      readonly kind: "step";
      readonly name: string;
      readonly fails: number;
      readonly attempts: number;
      readonly backOffMs: number;
    }
  | {
      readonly kind: "gated";
      readonly name: string;
      readonly effect: GatedClass;
      readonly asks: boolean;
      readonly undo: boolean;
    }
  | { readonly kind: "checkpoint"; readonly name: string }
  | { readonly kind: "sleep"; readonly ms: number }
  | { readonly kind: "question"; readonly name: string; readonly withinMs: number | null }
  | { readonly kind: "child"; readonly workflow: string }
  | { readonly kind: "value"; readonly what: "now" | "random" | "log" }
  | { readonly kind: "parallel"; readonly branches: readonly (readonly OpSpec[])[] }
  /** Throws, the first time or always. */
  | { readonly kind: "failure"; readonly always: boolean };

export type CheckpointSpec = {
  readonly name: string;
  readonly asks: boolean;
  readonly canRollback: boolean;
  readonly timeoutSeconds: number | null;
  readonly approvers: Pick<Ask, "quorum" | "from" | "veto">;
};

export type WorkflowSpec = {
  readonly name: string;
  readonly ops: readonly OpSpec[];
  readonly checkpoints: readonly CheckpointSpec[];
  readonly attempts: number;
  readonly rollbackEnabled: boolean;
  readonly onIrreversible: "fail" | "continue";
};

/** How a tool is undone: a tool of its own, nothing to undo, or no way back. */
export type UndoSpec =
  | { readonly kind: "nothing" | "none" }
  | { readonly kind: "tool"; readonly spec: ToolSpec; readonly policy: PolicySpec };

export type Flows = {
  /** Children come before their parents. */
  readonly workflows: readonly WorkflowSpec[];
  readonly undos: ReadonlyMap<string, UndoSpec>;
  /** Tools that stand for gated steps, and those that undo them. */
  readonly steps: readonly { readonly spec: ToolSpec; readonly policy: PolicySpec }[];
  /** How many are started. */
  readonly starts: number;
};

export const NO_FLOWS: Flows = { workflows: [], undos: new Map(), steps: [], starts: 0 };
