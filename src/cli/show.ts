import {
  type ActionFacts,
  type ApprovalFacts,
  actionDocument,
  approvalDocument,
  undoWords,
} from "../approvals/card-document.ts";
import type { Approval } from "../approvals/contract.ts";
import { isHoldpointError } from "../kernel/errors.ts";
import type { CardDocument } from "../kernel/terminal.ts";
import { visible } from "../kernel/text.ts";
import { fetchPolicyNames } from "./policy/words.ts";
import { hasCard, type Resource, showItem } from "./resource.ts";
import {
  type Command,
  CommandError,
  type Context,
  EXIT,
  FULL,
  isOn,
  whereFlags,
  word,
} from "./shell/command.ts";
import { resolveAnyId } from "./shell/resolve-id.ts";
import { printCard } from "./shell/sections.ts";
import { showWorkflow } from "./workflows/show.ts";

async function readAction({ hp }: Context, id: string): Promise<ActionFacts> {
  const action = await hp.actions.get(id);
  const receipt = action.outcome === null ? undefined : await hp.receipts.get(action.id);
  return { action, receipt, policies: await fetchPolicyNames(hp) };
}

const print = (context: Context, document: CardDocument): void =>
  printCard(context.terminal, document, { ...context, where: whereFlags(context) });

async function showAction(context: Context, id: string): Promise<void> {
  const facts = await readAction(context, id);
  const { action, receipt = null } = facts;
  if (action.approval !== null) await showApproval(context, action.approval);
  else if (context.json) context.terminal.json({ approval: null, action, receipt });
  else print(context, actionDocument(facts));
}

const NO_CONTEXT = {
  ...{ heading: "", isIrreversible: false, confirm: null, inputSchema: null, proposedArgs: null },
  ...{ reviews: [], risk: null, costs: [], history: null, workflow: null, rejecting: null },
  ...{ snapshot: null, voters: [] },
} as const;

const aboutAction = async (context: Context, { action }: Approval): Promise<ActionFacts | undefined> =>
  action === null ? undefined : readAction(context, action);

/** A key may be for approvals and actions alone. Those can be shown without what surrounds them. */
async function readWithoutContext(context: Context, id: string, forbidden: unknown): Promise<ApprovalFacts> {
  const approval = await context.hp.approvals.get(id);
  if (approval.about === "checkpoint" || approval.about === "question") throw forbidden;
  const about = await aboutAction(context, approval);
  const words = about === undefined ? "" : undoWords(about);
  return { approval, about, card: { ...NO_CONTEXT, title: approval.title, effectWords: words } };
}

async function printApproval(context: Context, id: string): Promise<void> {
  const { hp, terminal, person } = context;
  try {
    const { approval, card } = await hp.approvals.card(id, { person });
    print(context, approvalDocument({ approval, card, about: await aboutAction(context, approval) }));
  } catch (error) {
    if (!isHoldpointError(error, "forbidden")) throw error;
    print(context, approvalDocument(await readWithoutContext(context, id, error)));
    terminal.line();
    terminal.line(`${terminal.paint("yellow", "!")} Costs, history, changes and workflow are not shown.`);
    terminal.line(`  ${visible(error.what)}`);
  }
}

/** The card of an approval, for any subject. */
export async function showApproval(context: Context, id: string): Promise<void> {
  const { hp, terminal, json } = context;
  if (!json) return printApproval(context, id);
  const approval = await hp.approvals.get(id);
  const { about: subject, workflow } = approval;
  const about = await aboutAction(context, approval);
  if (about) terminal.json({ approval, action: about.action, receipt: about.receipt ?? null });
  else if (subject === "intent" || workflow === null) terminal.json({ approval });
  else terminal.json({ approval, workflow: await hp.workflows.get(workflow) });
}

export const showCommand = (resources: readonly Resource[]): Command => ({
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
    const extra = ["at", "checkpoint"].find((name) => isOn(context, name));
    if (extra !== undefined)
      throw new CommandError("usage", `--${extra} is for workflows.`, "`holdpoint workflows` lists them.");
    const resource = resources.find((one) => one.id !== undefined && id.startsWith(`${one.id}_`));
    if (resource !== undefined && hasCard(resource)) return showItem(context, resource, id);
    await (id.startsWith("apr_") ? showApproval(context, id) : showAction(context, id));
    return EXIT.ok;
  },
});
