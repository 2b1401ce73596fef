/**
 * `holdpoint demo refund`: a customer asks for 1200 USD back, and over 1000 a person decides.
 * A scripted model, a policy file, and by default a real person; so the run is stored where a second terminal, or this
 * command once more, finds it.
 */
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { admin } from "../../src/admin.ts";
import { approvalDocument } from "../../src/approvals/card-document.ts";
import type { Approval } from "../../src/approvals/contract.ts";
import { fetchPolicyNames } from "../../src/cli/policy/words.ts";
import { CommandError, type Context, EXIT, flag, isOn, whereFlags } from "../../src/cli/shell/command.ts";
import { locateStore } from "../../src/cli/shell/files.ts";
import { PersonLeft } from "../../src/cli/shell/prompt.ts";
import { printCard } from "../../src/cli/shell/sections.ts";
import { fold, pad, type Terminal, widthOf } from "../../src/cli/shell/terminal.ts";
import { type Holdpoint, holdpoint } from "../../src/index.ts";
import type { Report } from "../../src/journal/verify.ts";
import { visible } from "../../src/kernel/text.ts";
import type { SuperviseResult } from "../../src/supervise/rules/turn.ts";
import { bullet, paragraph, rule, verifiedText, WIDEST } from "./print.ts";
import { goalOf, scriptedModel } from "./refund-script.ts";
import { fileOutside, refundTools } from "./refund-tools.ts";

type TraceRow = SuperviseResult["trace"][number];
type Step = SuperviseResult["history"][number];

const COLUMNS: readonly (readonly [string, (row: TraceRow) => string])[] = [
  ["STEP", ({ step }) => String(step)],
  ["TOOL", ({ tool }) => visible(tool)],
  ["ARGS_HASH", ({ args_hash }) => args_hash ?? "-"],
  ["DECISION", ({ supervisor_decision }) => supervisor_decision ?? "-"],
  ["EXECUTED_FROM", ({ ok, executed_from }) => (ok ? (executed_from ?? "-") : "not executed")],
  ["RISK", ({ risk_score }) => String(risk_score ?? "-")],
];
const INDENT = 8;

const refundAmount = (action: Step["executed_action"] | undefined): unknown =>
  action?.kind === "tool" ? action.args["amount_usd"] : undefined;

/** The reason, the person who approved it, and how the amount changed. */
function because({ stop_reason }: TraceRow, step: Step | undefined): string {
  if (step === undefined) return stop_reason ?? "";
  const { supervisor, human_approval: person, action, executed_action } = step;
  const [asked, done] = [refundAmount(action), refundAmount(executed_action)];
  const amount = asked === done ? `${done} USD` : `${asked} USD, changed to ${done} USD`;
  return [
    ...(supervisor?.revised ?? []).map(({ reason }) => `${reason}, then`),
    supervisor?.reason ?? "",
    ...(person === undefined ? [] : [`; ${person.by.join(", ")} approved`]),
    ...(done === undefined ? [] : [`; ${amount}`]),
  ]
    .join(" ")
    .replaceAll(" ;", ";");
}

function printStart(terminal: Terminal, amount: number): void {
  rule(terminal, `A refund of ${amount} USD`);
  paragraph(
    terminal,
    "Anna wants back the 1200 USD of her annual plan. A model (here: a script) only proposes. Every step is reviewed by examples/refund/policy.yaml, and over 1000 USD a person decides.",
  );
  terminal.line();
}

function printTrace(terminal: Terminal, { trace, history }: SuperviseResult): void {
  const cells = [COLUMNS.map(([head]) => head), ...trace.map((row) => COLUMNS.map(([, cell]) => cell(row)))];
  const widths = COLUMNS.map((_, at) => Math.max(...cells.map((row) => widthOf(row[at] ?? ""))));
  for (const [at, row] of cells.entries()) {
    const line = row.map((cell, column) => pad(cell, widths[column] ?? 0)).join("  ");
    terminal.line(`  ${at === 0 ? terminal.paint("dim", line.trimEnd()) : line.trimEnd()}`);
    const told = trace[at - 1];
    if (told === undefined) continue;
    const step = history.find((one) => one.step === told.step);
    const room = Math.min(terminal.columns, WIDEST) - INDENT;
    for (const part of fold(visible(because(told, step)), room))
      terminal.line(" ".repeat(INDENT) + terminal.paint("dim", part.trimEnd()));
  }
}

function printEndOfRun(terminal: Terminal, result: SuperviseResult, report: Report): void {
  terminal.line();
  printTrace(terminal, result);
  terminal.line();
  const style = result.status === "ok" ? "green" : "yellow";
  terminal.line(`  ${terminal.paint(style, result.status)}, stop_reason: ${visible(result.stop_reason)}`);
  if (result.answer !== undefined) paragraph(terminal, `The answer: ${visible(result.answer)}`);
  terminal.line(`  ${terminal.paint(report.ok ? "green" : "red", verifiedText(report))}`);
}

/** `where`: flags with which a command finds the same store; null if the program plays the person. */
async function printWaiting(
  terminal: Terminal,
  hp: Holdpoint,
  approval: Approval,
  where: string | null,
): Promise<void> {
  rule(terminal, "A person has to decide");
  const action = await hp.actions.get(String(approval.action));
  const { card } = await hp.approvals.card(approval.id);
  const about = { action, receipt: undefined, policies: await fetchPolicyNames(admin(hp)) };
  printCard(terminal, approvalDocument({ approval, card, about }), { where, now: Date.now(), full: false });
  terminal.line();
}

function printHow(terminal: Terminal, { id }: Approval, where: string): void {
  paragraph(terminal, "Decide in a second terminal, in this folder; for example with less money:");
  terminal.line(`  npx holdpoint approve ${id} --edit '{"amount_usd":800}'${where}`);
  terminal.line();
  paragraph(
    terminal,
    "This program waits as long as it takes. Or kill it, decide, and start it again: the same run goes on, and the money moves once.",
  );
}

const POLICY = fileURLToPath(new URL("../../examples/refund/policy.yaml", import.meta.url));
const NAME = "demo.refund";

type Person = { readonly kind: "real" | "rejects" } | { readonly kind: "caps"; readonly at: number };

type Stage = {
  readonly store: { readonly folder: string; readonly keyFile?: string } | { readonly database: string };
  /** Stands in for the outside world: a file with a line for each effect. */
  readonly outside: string;
  /** Flags with which a second terminal finds the store. */
  readonly where: string;
  /** The command that resumes this run. */
  readonly again: string;
  /** The requested amount; null: that of the pending run, or the default. */
  readonly amount: number | null;
  readonly person: Person;
  /** Aborts when the person at the terminal leaves. */
  readonly signal: AbortSignal;
};

const WANTED_USD = 1200;

type Run = { readonly id: string; readonly goal: string };

const amountInGoal = (goal: string): number => Number(/propose a refund of ([\d.]+) USD/.exec(goal)?.[1]);

function waits(earlier: number, workflow: string, { amount, where, again }: Stage): CommandError {
  const what = `A run about ${earlier} USD is not over yet, so none begins with --amount ${amount}.`;
  const anew = `npx holdpoint cancel ${workflow} --reason "another amount"${where}`;
  return new CommandError("usage", what, `Go on with it: ${again}; or end it, and begin anew: ${anew}`);
}

/** The run of this store that has not ended, with its original goal; or a new one. */
async function runIn(hp: Holdpoint, stage: Stage): Promise<Run> {
  for (let n = 1; ; n++) {
    const id = `${NAME} ${n}`;
    const [workflow] = await hp.workflows.find(id);
    if (workflow === undefined) return { id, goal: goalOf(stage.amount ?? WANTED_USD) };
    const { end, input } = await hp.workflows.get(workflow);
    if (end !== null) continue;
    const { goal } = input as { readonly goal: string };
    const earlier = amountInGoal(goal);
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

/** Reports each pending approval of this run once. */
async function watch(hp: Holdpoint, { run, tell }: Watched, signal: AbortSignal): Promise<void> {
  const told = new Set<string>();
  for await (const _ of hp.approvals.follow(signal)) {
    const { items } = await hp.approvals.list({ order: "newest" });
    for (const { id } of items.filter((item) => !told.has(item.id))) {
      const approval = await hp.approvals.get(id);
      // With an edit it waits for this program, not for a person.
      if (approval.action === null || approval.edit !== null) continue;
      const { within } = await hp.actions.get(approval.action);
      const [workflow] = await hp.workflows.find(run.id);
      if (within === null || within.workflow !== workflow) continue;
      told.add(id);
      await tell(approval);
    }
  }
}

async function runThrough(context: Context, hp: Holdpoint, stage: Stage): Promise<SuperviseResult> {
  const run = await runIn(hp, stage);
  if (!context.json) printStart(context.terminal, amountInGoal(run.goal));
  const tools = refundTools(hp, fileOutside(stage.outside));
  const over = new AbortController();
  const tell = (approval: Approval) => meet(context, hp, approval, stage);
  const running = hp.supervise({ ...run, name: NAME, tools, model: scriptedModel });
  const watching = watch(hp, { run, tell }, AbortSignal.any([stage.signal, over.signal])).then(() => {
    throw new PersonLeft("nobody is there to wait");
  });
  // One of them is still running when the other has finished.
  for (const one of [running, watching]) one.catch(() => undefined);
  try {
    return await Promise.race([running, watching]);
  } finally {
    over.abort();
  }
}

async function playRun(context: Context, stage: Stage): Promise<number> {
  const { terminal, json } = context;
  const hp = holdpoint({ ...stage.store, agent: "refund-agent", policy: POLICY, notify: () => {} });
  try {
    const result = await runThrough(context, hp, stage);
    await admin(hp).seals.create();
    const report = await hp.journal.verify();
    if (json) terminal.json(result);
    else printEndOfRun(terminal, result, report);
    return report.ok ? EXIT.ok : EXIT.refused;
  } finally {
    await hp.close();
  }
}

const KEPT = ".holdpoint-demo";
const OUTSIDE = "outside.log";
const CAP_USD = 800;

function usd(context: Context, name: string): number | null {
  const typed = flag(context, name);
  if (typed === undefined) return null;
  if (/^\d{1,7}(?:\.\d{1,2})?$/.test(typed) && Number(typed) > 0) return Number(typed);
  throw new CommandError("usage", `--${name} "${typed}" is not an amount of USD.`, `Such as --${name} 800`);
}

function personOf(context: Context): Person {
  if (isOn(context, "reject") && isOn(context, "approve-cap"))
    throw new CommandError("usage", "Choose one of --reject and --approve-cap.", "Leave one out.");
  if (isOn(context, "reject")) return { kind: "rejects" };
  const isPlayed = isOn(context, "yes") || isOn(context, "approve-cap");
  return isPlayed ? { kind: "caps", at: usd(context, "approve-cap") ?? CAP_USD } : { kind: "real" };
}

type RefundStores = Pick<Stage, "store" | "outside" | "where"> & {
  /** Removed when the run has ended. */
  readonly own: string | null;
};

function placeFor(context: Context, { kind }: Person): RefundStores {
  if (context.values.has("data") || context.values.has("database")) {
    const { where: store } = locateStore(context.values);
    const folder = "folder" in store ? store.folder : resolve(KEPT);
    mkdirSync(folder, { recursive: true });
    return { store, outside: join(folder, OUTSIDE), where: whereFlags(context), own: null };
  }
  if (kind === "real") {
    const own = resolve(KEPT);
    return { store: { folder: own }, outside: join(own, OUTSIDE), where: ` --data ${KEPT}`, own };
  }
  const own = mkdtempSync(join(tmpdir(), "holdpoint-demo-"));
  const store = { folder: join(own, "store"), keyFile: join(own, "key.json") };
  return { store, outside: join(own, OUTSIDE), where: "", own };
}

export async function playRefund(context: Context): Promise<number> {
  const extra = ["without", "with"].find((name) => isOn(context, name));
  if (extra !== undefined)
    throw new CommandError("usage", `demo refund has no --${extra}.`, "Try: holdpoint demo --help");
  const amount = usd(context, "amount");
  const person = personOf(context);
  const { own, ...place } = placeFor(context, person);
  const again = `npx holdpoint demo refund${own === null ? place.where : ""}`;
  const left = new AbortController();
  const leave = () => left.abort();
  process.once("SIGINT", leave);
  let isOver = person.kind !== "real";
  try {
    const code = await playRun(context, { ...place, again, amount, person, signal: left.signal });
    isOver = true;
    return code;
  } catch (error) {
    if (!(error instanceof PersonLeft)) throw error;
    context.terminal.note(`  It still waits. Go on with: ${again}`);
    return EXIT.interrupted;
  } finally {
    process.removeListener("SIGINT", leave);
    if (isOver && own !== null) rmSync(own, { recursive: true, force: true });
  }
}
