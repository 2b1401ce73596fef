/** What a rollback has come to that somebody breaks off: what was undone until then, and what was not. */

import type { BrokenOff } from "../../core/workflow/end.ts";
import type { Irreversible } from "../../core/workflow/events.ts";
import type { LiveWorkflow } from "../../core/workflow/state.ts";
import { isStep } from "../../effects/state.ts";
import { actionStream } from "../../kernel/stream.ts";
import type { Runtime } from "../../runtime/runtime.ts";
import { readState } from "../../runtime/store-access.ts";

import { doneByChild } from "./children.ts";
import { entriesOf } from "./entries.ts";
import { applyEntry, emptyTable, type RecordedOp, type RecordedUndo } from "./recorded.ts";

type Did = {
  readonly calls: readonly RecordedOp[];
  readonly undos: readonly RecordedUndo[];
  readonly seq: number;
};

async function didIn(runtime: Runtime, id: string, { rollback }: LiveWorkflow): Promise<Did> {
  const table = emptyTable();
  let seq = 0;
  for await (const entry of entriesOf(runtime, id)) {
    applyEntry(table, entry);
    seq = entry.seq;
  }
  const calls: RecordedOp[] = [];
  const undos: RecordedUndo[] = [...table.undos];
  for (const record of table.ops.values()) {
    if (record.seq <= (rollback?.toSeq ?? 0)) continue;
    if (record.kind === "call") calls.push(record);
    if (record.kind !== "child") continue;
    const below = await doneByChild(runtime, String(record.body["child"]));
    calls.push(...below.records.filter(({ kind }) => kind === "call"));
    undos.push(...below.undos);
  }
  const isMeant = ({ body }: RecordedOp) => rollback?.scope !== "declared" || body["rollback"] === true;
  return { calls: calls.filter(isMeant), undos, seq };
}

/** How a call's tool is undone, as far as this process knows. */
function undoOf({ tools }: Runtime, { op, body }: RecordedOp, tool: string) {
  // Said when it was called, where an agent drives the workflow from outside.
  if (body["undo"] === "none") return null;
  if (body["undo"] !== undefined) return body["undo"] === "nothing" ? "nothing" : undefined;
  return isStep(op, tool) ? undefined : tools.get(tool)?.undo;
}

export async function brokenOff(runtime: Runtime, id: string, state: LiveWorkflow): Promise<BrokenOff> {
  const { calls, undos, seq } = await didIn(runtime, id, state);
  const undone = new Set(undos.flatMap(({ undoes, status }) => (status === "undone" ? undoes : [])));
  const notUndone: { action: string; reason: string }[] = [];
  const irreversible: Irreversible[] = [];
  for (const call of calls) {
    const { action, tool } = call.body as { readonly action: string; readonly tool: string };
    const { phase, ...facts } = await readState(runtime, actionStream(action));
    const undo = undoOf(runtime, call, tool);
    const isRead = "effectClass" in facts && facts.effectClass === "read";
    if (isRead || undone.has(action) || undo === "nothing") continue;
    if (phase === "in_doubt") notUndone.push({ action, reason: "it is in doubt" });
    if (phase !== "applied") continue;
    if (undo === null) irreversible.push({ op: call.op, action, tool });
    else notUndone.push({ action, reason: "the rollback was cancelled before it was undone" });
  }
  return { seq, report: { undone: [...undone], notUndone, irreversible } };
}
