/** What the children of a workflow did, and theirs. */
import type { Runtime } from "../runtime.ts";
import { entriesOf } from "./entries.ts";
import { applyEntry, emptyTable, type RecordedOp } from "./recorded.ts";

/** Calls of a child, oldest first; those of its own children stand where they were spawned. */
export async function callsOfChild(
  runtime: Runtime,
  child: string,
  before: (child: string) => Promise<void> = async () => undefined,
): Promise<readonly RecordedOp[]> {
  await before(child);
  const table = emptyTable();
  for await (const entry of entriesOf(runtime, child)) applyEntry(table, entry);
  const calls: RecordedOp[] = [];
  for (const record of table.ops.values()) {
    if (record.settled?.kind === "refused") continue;
    if (record.kind === "call") calls.push(record);
    if (record.kind === "child")
      calls.push(...(await callsOfChild(runtime, String(record.body["child"]), before)));
  }
  return calls;
}
