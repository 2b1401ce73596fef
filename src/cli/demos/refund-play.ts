/** One run of the refund case: a model that follows a script, a policy file, and a person who is real or played. */
import { fileURLToPath } from "node:url";
import { type Approval, type Holdpoint, holdpoint, type SuperviseResult } from "../../index.ts";
import { type Context, EXIT } from "../shell/command.ts";
import { CommandError } from "../shell/failure.ts";
import { PersonLeft } from "../shell/prompt.ts";

import { goalOf, scriptedModel } from "./refund-script.ts";
import { printEndOfRun, printHow, printStart, printWaiting } from "./refund-show.ts";
import { fileOutside, refundTools } from "./refund-tools.ts";
import { bullet } from "./show-question.ts";

const POLICY = fileURLToPath(new URL("../../../examples/refund/policy.yaml", import.meta.url));
const NAME = "demo.refund";

export type Person = { readonly kind: "real" | "rejects" } | { readonly kind: "caps"; readonly at: number };

export type Stage = {
  readonly store: { readonly folder: string; readonly keyFile?: string } | { readonly database: string };
  /** What stands for the world outside: a file with a line for everything that happened there. */
  readonly outside: string;
  /** The flags with which a second terminal finds the store. */
  readonly where: string;
  /** The command that goes on with this. */
  readonly again: string;
  /** What was asked for; null: whatever the run that waits is about, or the usual. */
  readonly amount: number | null;
  readonly person: Person;
  /** Aborts when the person at the terminal leaves. */
  readonly signal: AbortSignal;
};

const WANTED_USD = 1200;

type Run = { readonly id: string; readonly goal: string };

const amountIn = (goal: string): number => Number(/propose a refund of ([\d.]+) USD/.exec(goal)?.[1]);

function waits(earlier: number, workflow: string, { amount, where, again }: Stage): CommandError {
  const what = `A run about ${earlier} USD is not over yet, so none begins with --amount ${amount}.`;
  const anew = `npx holdpoint cancel ${workflow} --reason "another amount"${where}`;
  return new CommandError("usage", what, `Go on with it: ${again}; or end it, and begin anew: ${anew}`);
}

/** The one of this store that is not over, with its goal as it was; or the next. */
async function runIn(hp: Holdpoint, stage: Stage): Promise<Run> {
  for (let n = 1; ; n++) {
    const id = `${NAME} ${n}`;
    const [workflow] = await hp.workflows.find(id);
    if (workflow === undefined) return { id, goal: goalOf(stage.amount ?? WANTED_USD) };
    const { end, input } = await hp.workflows.get(workflow);
    if (end !== null) continue;
    const { goal } = input as { readonly goal: string };
    const earlier = amountIn(goal);
    if (stage.amount !== null && stage.amount !== earlier) throw waits(earlier, workflow, stage);
    return { id, goal };
  }
}

async function playPerson(hp: Holdpoint, { id, args }: Approval, person: Person): Promise<string> {
  const said = { by: "person:ann", via: "demo" };
  if (person.kind !== "caps") {
    await hp.approvals.reject(id, { ...said, reason: "Not this time." });
    return "Ann, who is played, rejects it.";
  }
  const { amount_usd: wanted } = args as { readonly amount_usd: number };
  const amount = Math.min(wanted, person.at);
  const edit = amount === wanted ? {} : { edit: { amount_usd: amount } };
  await hp.approvals.approve(id, { ...said, ...edit, note: `approved_with_cap:${amount}` });
  return `Ann, who is played, approves ${amount} USD of ${wanted}.`;
}

async function meet(context: Context, hp: Holdpoint, approval: Approval, stage: Stage): Promise<void> {
  const { terminal, json } = context;
  const { person, where } = stage;
  if (!json) await printWaiting(terminal, hp, approval, person.kind === "real" ? where : null);
  if (person.kind !== "real") {
    const told = await playPerson(hp, approval, person);
    if (!json) bullet(terminal, told);
  } else if (json) terminal.note(`waits for a person: npx holdpoint approve ${approval.id}${where}`);
  else printHow(terminal, approval, where);
}

type Watched = { readonly run: Run; readonly tell: (approval: Approval) => Promise<void> };

/** What of this run waits for a person, once each. */
async function watch(hp: Holdpoint, { run, tell }: Watched, signal: AbortSignal): Promise<void> {
  const told = new Set<string>();
  for await (const _ of hp.approvals.follow(signal)) {
    const { items } = await hp.approvals.list({ order: "newest" });
    for (const { id } of items.filter((item) => !told.has(item.id))) {
      const approval = await hp.approvals.get(id);
      // With an edit it waits for this program, not for a person.
      if (approval.subject !== undefined || approval.edit !== null) continue;
      const { within } = await hp.actions.get(approval.action);
      const [workflow] = await hp.workflows.find(run.id);
      if (within === undefined || within.workflow !== workflow) continue;
      told.add(id);
      await tell(approval);
    }
  }
}

async function runThrough(context: Context, hp: Holdpoint, stage: Stage): Promise<SuperviseResult> {
  const run = await runIn(hp, stage);
  if (!context.json) printStart(context.terminal, amountIn(run.goal));
  const tools = refundTools(hp, fileOutside(stage.outside));
  const over = new AbortController();
  const tell = (approval: Approval) => meet(context, hp, approval, stage);
  const running = hp.supervise({ ...run, name: NAME, tools, model: scriptedModel });
  const watching = watch(hp, { run, tell }, AbortSignal.any([stage.signal, over.signal])).then(() => {
    throw new PersonLeft("nobody is there to wait");
  });
  // One of them is still under way when the other has decided the matter.
  for (const one of [running, watching]) one.catch(() => undefined);
  try {
    return await Promise.race([running, watching]);
  } finally {
    over.abort();
  }
}

export async function playRun(context: Context, stage: Stage): Promise<number> {
  const { terminal, json } = context;
  const hp = holdpoint({ ...stage.store, agent: "refund-agent", policy: POLICY, notify: () => {} });
  try {
    const result = await runThrough(context, hp, stage);
    await hp.journal.seal();
    const report = await hp.journal.verify();
    if (json) terminal.json(result);
    else printEndOfRun(terminal, result, report);
    return report.ok ? EXIT.ok : EXIT.refused;
  } finally {
    await hp.close();
  }
}
