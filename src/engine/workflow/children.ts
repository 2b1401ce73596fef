/** What the children of a workflow did, and theirs. */
import type { Runtime } from "../../runtime/runtime.ts";
import { entriesOf } from "./entries.ts";
import { applyEntry, emptyTable, type RecordedOp, type RecordedUndo } from "./recorded.ts";
import type { Run } from "./run.ts";

/** Calls and checkpoints, oldest first, and how far they were undone by themselves. */
export type DoneByChild = {
  readonly records: readonly RecordedOp[];
  readonly undos: readonly RecordedUndo[];
};

/** What a child's own children did stands where they were spawned. */
export async function doneByChild(
  runtime: Runtime,
  child: string,
  before: (child: string) => Promise<void> = async () => undefined,
): Promise<DoneByChild> {
  await before(child);
  const table = emptyTable();
  for await (const entry of entriesOf(runtime, child)) applyEntry(table, entry);
  const records: RecordedOp[] = [];
  const undos: RecordedUndo[] = [...table.undos];
  for (const record of table.ops.values()) {
    if (record.settled?.kind === "refused") continue;
    if (record.kind === "call" || record.kind === "checkpoint") records.push(record);
    if (record.kind !== "child") continue;
    const below = await doneByChild(runtime, String(record.body["child"]), before);
    records.push(...below.records);
    undos.push(...below.undos);
  }
  return { records, undos };
}

/** Calls of a child, oldest first; those of its own children stand where they were spawned. */
export async function callsOfChild(runtime: Runtime, child: string): Promise<readonly RecordedOp[]> {
  const { records } = await doneByChild(runtime, child);
  return records.filter(({ kind }) => kind === "call");
}

/** Whether a child that was spawned after an entry made a call that is undone by itself when its parent fails. */
export async function hasDeclared(
  { runtime, table }: Pick<Run, "runtime" | "table">,
  after: number,
): Promise<boolean> {
  for (const { kind, seq, body, settled } of table.ops.values()) {
    if (kind !== "child" || seq <= after || settled?.kind === "refused") continue;
    const calls = await callsOfChild(runtime, String(body["child"]));
    if (calls.some((call) => call.body["rollback"] === true)) return true;
  }
  return false;
}
