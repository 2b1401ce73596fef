/** What the oracle knows of a workflow: gathered from raw events alone. */

import type { RollbackReport, Wait } from "../../../core/workflow/events.ts";
import type { JsonObject } from "../../../kernel/json.ts";

export type SeenCall = {
  readonly op: string;
  readonly action: string;
  readonly tool: string;
  readonly seq: number;
  /** Undone by itself when the workflow fails. */
  readonly rollback: boolean;
};

export type SeenUndo = { readonly action: string; status: "open" | "undone" | "not_undone" };

/** An answer that a definition is to hear: which operation, and what it was told. */
export type Settled = {
  readonly key: string;
  readonly op: string;
  readonly seq: number;
  readonly what: string;
};

export type Opened = {
  readonly op: string;
  readonly kind: string;
  readonly seq: number;
  readonly body: JsonObject;
};

export type SeenRollback = {
  readonly toSeq: number;
  readonly scope: string;
  readonly after: string;
};

export type SeenFlow = {
  readonly id: string;
  readonly name: string;
  readonly parent: { readonly workflow: string; readonly op: string } | null;
  readonly onIrreversible: string;
  status: string;
  runner: string | null;
  /** Nobody runs it and somebody should. */
  isReady: boolean;
  generation: number;
  pending: { readonly op: string; readonly approval: string } | null;
  /** In the order of the journal, without what a rollback went back over. */
  calls: SeenCall[];
  opened: Map<string, Opened>;
  /** What each generation's definition hears, in order. */
  readonly settled: Map<number, Settled[]>;
  rollback: SeenRollback | null;
  /** Undone on the way back to a checkpoint, and no longer there. */
  readonly gone: Set<string>;
  /** Every question that it ever asked. */
  readonly asked: Set<string>;
  waits: readonly Wait[];
  wakeAt: number | null;
  end: { readonly status: "completed" | "failed"; readonly report: RollbackReport | null } | null;
};

/** `workflow/generation/branch/name#occurrence` without its first two parts. */
export const keyOf = (op: string): string => op.split("/").slice(2).join("/");
export const generationOf = (op: string): number => Number(op.split("/")[1]);
