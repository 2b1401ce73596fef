/**
 * The way back of a workflow that an agent drives from outside: what was done since the checkpoint is undone by the agent that
 * did it, one after the other.
 *
 * U1. The one that began last is undone first; the next only once that has ended.
 * U2. What is under way is waited for, and what is in doubt is found out, before anything is undone.
 * U3. It ends when everything was undone, could not be, or has no undo; the report says which.
 */

import type { ActionState } from "../../effects/state.ts";
import { actionStream, workflowStream } from "../../kernel/stream.ts";
import type { Draft, Need } from "../../kernel/transaction.ts";

import { settleCall } from "./call.ts";
import type { CallUndo, Irreversible, RollbackReport } from "./events.ts";
import { endRollback, type RolledBack } from "./rollback.ts";
import { lockWorkflow } from "./run.ts";

/** A call in the range, as it stands. */
export type RangeCall = {
  readonly op: string;
  readonly action: string;
  readonly tool: string;
  readonly undo: CallUndo;
  readonly phase: ActionState["phase"];
  /** When it began, and where it stands in the stream: those that began in the same moment were proposed in this order. */
  readonly at: number;
  readonly seq: number;
};

/** An attempt to undo one. */
export type RangeUndo = {
  readonly action: string;
  readonly undoes: string;
  readonly phase: ActionState["phase"];
  readonly reason: string;
};

export type WayBack =
  /** Actions that have not ended, and whose end has to be known first. */
  | { readonly kind: "waits"; readonly on: readonly string[] }
  /** To be undone now: the how-manieth attempt, and its own action where it was proposed already. */
  | {
      readonly kind: "undo";
      readonly call: RangeCall;
      readonly attempt: number;
      readonly action: string | null;
    }
  | { readonly kind: "over"; readonly report: RollbackReport };

export const MOST_UNDOS = 5;

const UNDER_WAY: readonly string[] = ["open", "waiting", "running", "in_doubt"];

type Stand =
  | { readonly kind: "undone" }
  | { readonly kind: "not_undone"; readonly reason: string }
  | { readonly kind: "open"; readonly attempt: number; readonly action: string | null };

/** How far the undoing of one call has come. */
function standOf(undos: readonly RangeUndo[]): Stand {
  if (undos.some(({ phase }) => phase === "applied")) return { kind: "undone" };
  const open = undos.findIndex(({ phase }) => UNDER_WAY.includes(phase));
  const now = undos[open];
  if (now !== undefined) return { kind: "open", attempt: open + 1, action: now.action };
  const last = undos.at(-1);
  // Policy or a person does not want it; asking again would not help.
  const isFinal = last?.phase === "refused" || undos.length >= MOST_UNDOS;
  if (last !== undefined && isFinal) return { kind: "not_undone", reason: last.reason };
  return { kind: "open", attempt: undos.length + 1, action: null };
}

const newestFirst = (a: RangeCall, b: RangeCall): number => b.at - a.at || b.seq - a.seq;

export function wayBack(calls: readonly RangeCall[], undos: readonly RangeUndo[]): WayBack {
  const on = calls.filter(({ phase }) => UNDER_WAY.includes(phase)).map(({ action }) => action);
  if (on.length > 0) return { kind: "waits", on };
  const undone: string[] = [];
  const notUndone: { action: string; reason: string }[] = [];
  const irreversible: Irreversible[] = [];
  for (const call of calls.filter(({ phase }) => phase === "applied").toSorted(newestFirst)) {
    const { op, action, tool, undo } = call;
    if (undo === "nothing") continue;
    if (undo === "none") {
      irreversible.push({ op, action, tool });
      continue;
    }
    const stand = standOf(undos.filter(({ undoes }) => undoes === action));
    if (stand.kind === "open") return { kind: "undo", call, attempt: stand.attempt, action: stand.action };
    if (stand.kind === "undone") undone.push(action);
    else notUndone.push({ action, reason: stand.reason });
  }
  return { kind: "over", report: { undone, notUndone, irreversible } };
}

/** Ends it, where nothing was written since whoever made the report looked. */
export function endWayBack(
  draft: Draft,
  {
    workflow,
    seq,
    report,
  }: { readonly workflow: string; readonly seq: number; readonly report: RollbackReport },
): Need | RolledBack | { readonly kind: "moved" } {
  const state = lockWorkflow(draft, workflow);
  if (state === undefined) return { kind: "turned" };
  if ("kind" in state) return state;
  if (state.isOutside !== true || state.status !== "rolling_back" || state.runner === null)
    return { kind: "turned" };
  if (state.seq !== seq) return { kind: "moved" };
  const runner = { workflow, epoch: state.runner, written: state.written };
  return endRollback(draft, runner, report);
}

/** An action of the workflow that was refused has ended: the workflow is told, once. */
export function settleRefusedCall(
  draft: Draft,
  workflow: string,
  action: string,
): Need | { readonly kind: "settled" } {
  const more = draft.need({ write: [workflowStream(workflow)], read: [actionStream(action)] });
  if (more !== undefined) return more;
  const state = draft.state(workflowStream(workflow));
  const isOpen = state.status !== "none" && state.open.includes(action);
  const { phase } = draft.state(actionStream(action));
  return (isOpen && phase === "refused" ? settleCall(draft, action) : undefined) ?? { kind: "settled" };
}
