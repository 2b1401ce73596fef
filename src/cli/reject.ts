import { visible } from "../core/visible.ts";
import type { Approval } from "../index.ts";
import { type Command, type Context, EXIT, isOn, needed, REASON, word } from "./command.ts";
import { approvalId } from "./resolve-id.ts";
import { goesOnWords, heardWords, placeWords, statusWords } from "./workflow-words.ts";

type Subject = Extract<NonNullable<Approval["subject"]>, { workflow: string }>;

async function stakeOf({ hp }: Context, { subject }: Approval): Promise<readonly string[]> {
  if (subject?.kind !== "checkpoint") return [];
  const { pending, onIrreversible } = await hp.workflows.get(subject.workflow);
  return onIrreversible === "fail" ? (pending?.irreversible.map(({ tool }) => tool) ?? []) : [];
}

/** What the rejection has set going. `stake`: effects that it cannot take back and the workflow cannot go on without. */
async function tellWorkflow(
  { hp, terminal }: Context,
  subject: Subject,
  stake: readonly string[],
): Promise<void> {
  const workflow = await hp.workflows.get(subject.workflow);
  const { rollback, name, status } = workflow;
  if (subject.kind === "checkpoint" && rollback !== null) {
    const again = rollback.after === "again" ? "is tried again from there, with your reason" : "fails";
    const then =
      stake.length === 0 ? again : `fails, since ${stake.map(visible).join(", ")} cannot be undone`;
    terminal.line(
      `What it did since ${placeWords(workflow, rollback.to)} is undone, newest first; then it ${then}.`,
    );
  } else terminal.line(`The workflow ${workflow.id} is ${statusWords(status)}.`);
  if (workflow.end === null) terminal.line(goesOnWords(name));
}

async function tellSubject(
  context: Context,
  subject: NonNullable<Approval["subject"]>,
  stake: readonly string[],
): Promise<void> {
  if (subject.kind === "intent") context.terminal.line(heardWords(subject.intent));
  else await tellWorkflow(context, subject, stake);
}

export const reject: Command = {
  name: "reject",
  words: ["<id>"],
  summary: "say no, as the operating system's user; the program is told the reason",
  details: [
    "A workflow whose checkpoint is rejected goes back to its last checkpoint and is tried again; with --final it is rolled back and fails.",
  ],
  flags: { reason: REASON, final: { summary: "of a checkpoint: the workflow is not tried again" } },
  async run(context) {
    const { hp, terminal, person: by } = context;
    const id = await approvalId(context, word(context));
    const before = await hp.approvals.get(id);
    const stake = await stakeOf(context, before);
    const reason = needed(context, "reason");
    const final = isOn(context, "final") ? { final: true } : {};
    const decided = await hp.approvals.reject(id, {
      by,
      binding: before.binding,
      reason,
      via: "cli",
      ...final,
    });
    const approval = await hp.approvals.get(id);
    if (context.json) {
      terminal.json({ kind: decided.kind, approval });
      return EXIT.ok;
    }
    const isOpen = approval.status === "pending";
    if (decided.kind === "same") terminal.line("You had rejected it before; nothing changed.");
    const end = isOpen ? "Your vote is recorded; it still waits" : `It is ${approval.status}`;
    terminal.line(`${end}: ${id}, ${visible(approval.tool)}, asked by ${visible(approval.agent)}.`);
    if (!isOpen && approval.subject !== undefined) await tellSubject(context, approval.subject, stake);
    return EXIT.ok;
  },
};
