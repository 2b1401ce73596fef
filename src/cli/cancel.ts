import { visible } from "../core/visible.ts";
import { type Command, type Context, EXIT, needed, REASON, word } from "./command.ts";
import { approvalOrWorkflowId } from "./resolve-id.ts";
import { quotedName, statusWords } from "./workflow-words.ts";

async function cancelApproval(context: Context, id: string): Promise<void> {
  const { hp, terminal, person: by } = context;
  await hp.approvals.cancel(id, { by, reason: needed(context, "reason") });
  const approval = await hp.approvals.get(id);
  const { subject } = approval;
  if (context.json) return terminal.json({ approval });
  const what = `Cancelled: ${id}, ${visible(approval.tool)}.`;
  if (subject === undefined) return terminal.line(`${what} It does not run.`);
  if (subject.kind === "question")
    return terminal.line(`${what} The workflow ${visible(subject.workflow)} is told that nobody answers.`);
  if (subject.kind === "intent")
    return terminal.line(`${what} Whoever waits for ${subject.intent} is told so.`);
  const { status } = await hp.workflows.get(subject.workflow);
  terminal.line(
    `${what} The workflow ${visible(subject.workflow)} is ${statusWords(status)}; what it did stays done.`,
  );
}

async function cancelWorkflow(context: Context, id: string): Promise<void> {
  const { hp, terminal, person: by } = context;
  await hp.workflows.cancel(id, { by, reason: needed(context, "reason") });
  const workflow = await hp.workflows.get(id);
  if (context.json) return terminal.json({ workflow });
  terminal.line(
    `Cancelled: ${id}, ${quotedName(workflow.name)}. What it did stays done; what waited is withdrawn.`,
  );
}

export const cancel: Command = {
  name: "cancel",
  words: ["<id>"],
  summary: "take a question back that nobody has decided yet, or end a workflow",
  details: [
    "A workflow whose checkpoint is cancelled fails. What a workflow did stays done: to have it undone, `holdpoint rollback <workflow> --fail` instead.",
  ],
  flags: { reason: REASON },
  async run(context) {
    const id = await approvalOrWorkflowId(context, word(context));
    if (id.startsWith("wf_")) await cancelWorkflow(context, id);
    else await cancelApproval(context, id);
    return EXIT.ok;
  },
};
