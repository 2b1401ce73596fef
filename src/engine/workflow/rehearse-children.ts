/** The definitions of children at rehearsal: how they would undo their steps and checkpoints is known to nobody else. */
import { workflowStream } from "../../kernel/stream.ts";
import { readState } from "../../runtime/store-access.ts";
import { rehearse } from "./begin.ts";
import { toolOfCheckpoint } from "./checkpoint-undo.ts";
import { openRun } from "./open-run.ts";
import { keyOf } from "./recorded.ts";
import type { Run } from "./run.ts";

/** Of a run that was rehearsed itself. */
export async function rehearseChildren(run: Run): Promise<void> {
  for (const [op, definition] of run.children) {
    const record = run.table.ops.get(keyOf(op));
    if (record?.op !== op || record.kind !== "child") continue;
    const id = String(record.body["child"]);
    const state = await readState(run.runtime, workflowStream(id));
    if (state.status === "none") continue;
    const child = await openRun(run.runtime, definition, id, state);
    await rehearse(child);
    await rehearseChildren(child);
    for (const [step, tool] of child.undos) run.undos.set(step, tool);
    for (const { kind, op: own, body } of child.table.ops.values())
      if (kind === "checkpoint") run.undos.set(own, toolOfCheckpoint(child, String(body["name"])));
  }
}
