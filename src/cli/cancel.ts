import { cancelApproval } from "./approvals/acts.ts";
import { type Command, type Context, EXIT, needed, word } from "./command.ts";
import { workflowId } from "./resolve-id.ts";
import { quotedName } from "./workflow-words.ts";

async function cancelWorkflow(context: Context): Promise<number> {
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

export const cancel: Command = {
  ...cancelApproval,
  run: (context) =>
    word(context).trim().startsWith("apr_") ? cancelApproval.run(context) : cancelWorkflow(context),
};
