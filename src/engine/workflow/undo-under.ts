/** What undoes an effect, under every policy that was asked about the effect itself. */

import type { Tool } from "../../effects/tool.ts";
import { workflowStream } from "../../kernel/stream.ts";
import { readState } from "../../runtime/store-access.ts";
import { governUndo, governUndoUnknown } from "./govern.ts";
import type { Run } from "./run.ts";

/** `op`: the operation whose effect it was, of this workflow or of one below it. */
export async function undoUnder(run: Run, op: string, undo: Tool): Promise<Tool> {
  const { definition } = run;
  const id = op.slice(0, op.indexOf("/"));
  if (id === run.id) return governUndo(undo, run);
  const state = await readState(run.runtime, workflowStream(id));
  if (state.status === "none") return undo;
  const below = definition.beside.get(state.name);
  if (below === undefined) return governUndoUnknown(undo, { state, definition });
  return governUndo(undo, { state, definition: below });
}
