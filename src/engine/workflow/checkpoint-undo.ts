/** How a checkpoint itself undoes what led to it, where it says so. */

import type { CheckpointDefinition } from "../../core/workflow/checkpoint-rules.ts";
import { defineTool } from "../../effects/define-tool.ts";
import type { Tool } from "../../effects/tool.ts";
import type { Json, JsonObject } from "../../kernel/json.ts";

import { declaredAs } from "./checkpoint-op.ts";
import type { Run } from "./run.ts";

/** Stands for a checkpoint of the run's own definition: a tool that does nothing, and is undone as the checkpoint says. */
export function toolOfCheckpoint(run: Run, checkpoint: string): Tool {
  const name = `checkpoint.${checkpoint.replaceAll(/[^A-Za-z0-9_.:-]/g, "_")}`;
  const definition = declaredAs(run, checkpoint);
  const undo = typeof definition === "object" ? definition.undo : undefined;
  const tool = defineTool<Json, null>({ name, policy: "approve", undo: "nothing", run: () => null });
  return undo === undefined ? tool : { ...tool, undo: undoTool(`${name}.undo`, undo) };
}

function undoTool(name: string, undo: NonNullable<CheckpointDefinition["undo"]>): Tool {
  return defineTool<{ readonly result: Json }, unknown>({
    name,
    effect: undo.effect ?? "once",
    policy: undo.policy ?? "approve",
    undo: "nothing",
    run: ({ result }, { attempt, signal, idempotencyKey }) =>
      undo.run(result as JsonObject, { attempt, signal, idempotencyKey }),
  });
}
