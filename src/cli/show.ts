import type { Approval } from "../approvals/contract.ts";
import type { JsonObject } from "../kernel/json.ts";
import { LISTED_KINDS } from "../kernel/registry.ts";
import type { CardContent } from "../notify/content.ts";
import { printAlert } from "./alerts.ts";
import { printShown } from "./approvals/card.ts";
import { CONTRACT_COMMANDS } from "./contract-commands.ts";
import { printIntent } from "./intents.ts";
import { fetchPolicyNames } from "./policy/words.ts";
import { type Command, type Context, EXIT, FULL, isOn, whereFlags, word } from "./shell/command.ts";
import { CommandError } from "./shell/failure.ts";
import { resolveAnyId } from "./shell/resolve-id.ts";
import { showWorkflow } from "./workflows/show.ts";

async function showAction(context: Context, id: string): Promise<number> {
  const { hp, terminal } = context;
  const asked: Approval | undefined = id.startsWith("apr_") ? await hp.approvals.get(id) : undefined;
  const action = await hp.actions.get(asked?.action ?? id);
  const linked = asked === undefined ? action.approval : null;
  const approval = linked === null ? asked : await hp.approvals.get(linked);
  const receipt = action.outcome === null ? undefined : await hp.receipts.get(action.id);
  const policies = await fetchPolicyNames(hp);
  if (context.json) terminal.json({ approval: approval ?? null, action, receipt: receipt ?? null });
  else showCard(context, { kind: "action", approval, action, receipt, policies });
  return EXIT.ok;
}

const showCard = (context: Context, shown: CardContent): void =>
  printShown(context.terminal, shown, { ...context, where: whereFlags(context) });

async function showSubject(context: Context, approval: Approval): Promise<number> {
  const { hp, terminal, json } = context;
  const { about, workflow: within } = approval;
  if (about === "intent" || within === null) {
    if (json) terminal.json({ approval });
    else showCard(context, { kind: "intent", approval });
    return EXIT.ok;
  }
  const workflow = await hp.workflows.get(within);
  if (json) terminal.json({ approval, workflow });
  else if (about === "question") showCard(context, { kind: "question", approval, workflow });
  else {
    const rows = await hp.workflows.timeline(within);
    const found =
      rows.findLast(({ ref }) => ref === approval.id)?.checkpoint?.snapshot.id ?? String(approval.op);
    const snapshot = (await hp.workflows.snapshot(within, found).catch(() => undefined)) as
      | JsonObject
      | undefined;
    showCard(context, { kind: "checkpoint", approval, workflow, rows, snapshot });
  }
  return EXIT.ok;
}

/** The card of an approval, for any subject. */
export function showApproval(context: Context, approval: Approval): Promise<number> {
  return approval.about === "action" ? showAction(context, approval.id) : showSubject(context, approval);
}

export const show: Command = {
  name: "show",
  words: ["<id>"],
  summary: "Show an approval, action, workflow, grant or alert in full",
  details: [
    "The id is an approval's, an action's, an effect's, a workflow's, a grant's, an alert's or the caller's request id.",
    "Of a workflow, --at shows it as it stood after an entry (--at 12) or at a time (--at 2026-05-04T10:00:00Z), and --checkpoint the state that was captured there.",
  ],
  examples: ["holdpoint show apr_01K9ZQ"],
  flags: {
    full: FULL,
    at: { value: "<moment>", summary: "of a workflow: as it stood then; an entry's number or a time" },
    checkpoint: { value: "<name>", summary: "of a workflow: the captured state of this checkpoint" },
  },
  async run(context) {
    const id = await resolveAnyId(context, word(context));
    if (id.startsWith("wf_")) return showWorkflow(context, id);
    const { resource } = LISTED_KINDS.find(({ prefix }) => id.startsWith(`${prefix}_`)) ?? {};
    if (resource !== undefined && Object.hasOwn(CONTRACT_COMMANDS, resource))
      return (await import("./resource.ts")).showResource(context, resource, id);
    if (id.startsWith("alr_")) return printAlert(context, id);
    if (id.startsWith("int_")) return printIntent(context, await context.hp.intents.get(id));
    const extra = ["at", "checkpoint"].find((name) => isOn(context, name));
    if (extra !== undefined)
      throw new CommandError("usage", `--${extra} is for workflows.`, "`holdpoint workflows` lists them.");
    const approval = id.startsWith("apr_") ? await context.hp.approvals.get(id) : undefined;
    return approval === undefined ? showAction(context, id) : showApproval(context, approval);
  },
};
