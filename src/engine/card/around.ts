/** What stands around an approval: its workflow, and what a rejection would do to that. */
import { isIrreversible, isTakenBack } from "../../core/card/effect-words.ts";
import { rejectionOf } from "../../core/card/rejection.ts";
import type { JsonObject } from "../../core/json.ts";
import type { CallUndo } from "../../core/workflow/events.ts";
import type { LiveWorkflow } from "../../core/workflow/state.ts";
import type { Done, DoneSoFar, Reached } from "./workflow-so-far.ts";

export type WorkflowAround = DoneSoFar & { readonly id: string; readonly state: LiveWorkflow };

export type Rejecting = {
  /** A checkpoint; null is the start. */
  readonly goesBackTo: string | null;
  /** It cannot go back: the workflow fails. */
  readonly isEnd: boolean;
  /** Having gone back, it is not tried again. */
  readonly isLast: boolean;
  /** Tools, the newest first. */
  readonly undone: readonly string[];
  /** Those of which only the agent says so. */
  readonly claimed: readonly string[];
  readonly stays: readonly string[];
};

export type AroundIt = {
  readonly workflow: WorkflowAround | null;
  readonly rejecting: Rejecting | null;
  /** Of a checkpoint. */
  readonly snapshot: JsonObject | null;
  /** How the call is undone that is asked about, where its agent drives the workflow. */
  readonly call: CallUndo | undefined;
};

export const NOTHING_AROUND: AroundIt = { workflow: null, rejecting: null, snapshot: null, call: undefined };

/** It is there, and would have to be taken back. */
const isLeft = ({ isUndone, undo, state }: Done): boolean =>
  !isUndone && undo !== "nothing" && state.phase === "applied";

export const canUndo = ({ undo, isUndone }: Done): boolean => isTakenBack(undo) && !isUndone;

/** How many of them nobody could take back. */
export const cannotUndo = (done: readonly Done[]): number =>
  done.filter(({ undo, isUndone }) => !isUndone && isIrreversible(undo)).length;

const toolOf = ({ state }: Done): string => state.tool;

/** What a child did stands in its own stream: of that, only what cannot be undone is known here. Of what nobody knows, neither is said. */
export function rejectingOf(state: LiveWorkflow, stake: Reached, { done, since }: DoneSoFar): Rejecting {
  const { isEnd, isLast, goesBackTo, after } = rejectionOf(state, stake);
  // Whatever else went on while it waits is gone back over too.
  const left = [...since.done, ...done].filter(isLeft);
  if (isEnd) return { isEnd, isLast, goesBackTo, undone: [], claimed: [], stays: left.map(toolOf) };
  const over = left.filter(({ seq }) => seq > after);
  const undone = over.filter(({ undo }) => isTakenBack(undo)).map(toolOf);
  const claimed = over.filter(({ undo }) => undo === "claimed").map(toolOf);
  const stays = stake.irreversible.map(({ tool }) => tool).reverse();
  return { isEnd, isLast, goesBackTo, undone, claimed, stays };
}
