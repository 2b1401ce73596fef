/** What a workflow that is driven from outside has called, and how that stands. */

import type { LiveAction } from "../../effects/state.ts";
import { actionStream } from "../../kernel/stream.ts";
import type { Runtime } from "../../runtime/runtime.ts";
import { readState } from "../../runtime/store-access.ts";
import { entriesOf } from "../../workflows/entries.ts";
import type { CallUndo, Irreversible } from "../../workflows/events.ts";
import {
  applyEntry,
  emptyTable,
  type OperationTable,
  type RecordedOp,
} from "../../workflows/rules/operations.ts";
import type { CallToUndo, UndoAttempt } from "../../workflows/rules/rollback.ts";

type Place = Pick<Runtime, "store" | "tenant">;

export type Read = { readonly table: OperationTable; readonly seq: number };

export async function readTable(place: Place, workflow: string): Promise<Read> {
  const table = emptyTable();
  let seq = 0;
  for await (const entry of entriesOf(place, workflow)) {
    applyEntry(table, entry);
    seq = entry.seq;
  }
  return { table, seq };
}

export const callsAfter = ({ ops }: OperationTable, after: number): readonly RecordedOp[] =>
  [...ops.values()].filter(({ kind, seq }) => kind === "call" && seq > after);

const undoOf = ({ body }: RecordedOp): CallUndo => (body["undo"] as CallUndo | undefined) ?? "none";

/** Effects that a rejection could not take back. */
export function irreversibleOf(calls: readonly RecordedOp[]): readonly Irreversible[] {
  return calls.flatMap((call) => {
    const { op, body, settled } = call;
    const hasHappened = settled?.kind === "answer" && settled.answer.executed === true;
    const isLost = hasHappened && undoOf(call) === "none";
    return isLost ? [{ op, action: String(body["action"]), tool: String(body["tool"]) }] : [];
  });
}

async function callAt(place: Place, record: RecordedOp): Promise<CallToUndo> {
  const { op, seq, body } = record;
  const action = String(body["action"]);
  const state = (await readState(place, actionStream(action))) as LiveAction;
  const at = "effect" in state ? state.effect.startedAt : state.proposedAt;
  // Reading leaves nothing to be undone.
  const undo = state.effectClass === "read" ? "nothing" : undoOf(record);
  return { op, action, tool: String(body["tool"]), undo, phase: state.phase, at, seq };
}

export type Range = {
  readonly calls: readonly CallToUndo[];
  readonly undos: readonly UndoAttempt[];
  readonly seq: number;
};

export async function rangeAfter(place: Place, workflow: string, after: number): Promise<Range> {
  const { table, seq } = await readTable(place, workflow);
  const calls: CallToUndo[] = [];
  for (const record of callsAfter(table, after)) calls.push(await callAt(place, record));
  const undos: UndoAttempt[] = [];
  for (const { action, undoes, reason } of table.undos) {
    const { phase } = await readState(place, actionStream(action));
    undos.push({ action, undoes, reason, phase });
  }
  return { calls, undos, seq };
}
