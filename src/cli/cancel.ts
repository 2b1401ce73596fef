import { type Context, EXIT, needed, word } from "./command.ts";
import { workflowId } from "./resolve-id.ts";
import { quotedName } from "./workflow-words.ts";

/** `cancel`, where the id is a workflow's. */
export async function cancelWorkflow(context: Context): Promise<number> {
  const { hp, terminal, person: by } = context;
  const id = await workflowId(context, word(context));
  await hp.workflows.cancel(id, { by, reason: needed(context, "reason") });
  const workflow = await hp.workflows.get(id);
  if (context.json) terminal.json({ workflow });
  else
    terminal.line(
      `Cancelled: ${id}, ${quotedName(workflow.name)}. What it did stays done; what waited is withdrawn.`,
    );
  return EXIT.ok;
}
