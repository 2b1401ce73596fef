/** `holdpoint run`: runs a workflow from a file, to its end or to Ctrl-C; the same request id resumes it. */
import { randomBytes } from "node:crypto";
import { relative, resolve } from "node:path";
import { isBudgetName } from "../../budgets/stream.ts";
import type { Holdpoint } from "../../index.ts";
import { sha256 } from "../../kernel/canonical-json.ts";
import { type HoldpointError, isHoldpointError } from "../../kernel/errors.ts";
import { type Json, parseJson } from "../../kernel/json.ts";
import { visible } from "../../kernel/text.ts";
import type { Notice } from "../../runtime/notices.ts";
import { dataFolder, programName } from "../../runtime/settings.ts";
import {
  type Command,
  CommandError,
  type Context,
  EXIT,
  flag,
  isOn,
  shellQuote,
  word,
} from "../shell/command.ts";
import {
  findProject,
  type LoadedWorkflow,
  type LocatedStore,
  loadWorkflow,
  locateStore,
  PROJECT_FILE,
} from "../shell/files.ts";
import { printResult, readRequestId } from "./operate.ts";
import { createRunProgress } from "./story.ts";

const MICROS = 1_000_000;

type RunArguments = {
  readonly file: string;
  readonly store: LocatedStore["where"];
  readonly input: Json;
  readonly requestId: string;
  /** In micros of USD. */
  readonly budget: bigint | null;
  readonly approvalRequired: boolean;
  /** The address of an endpoint. */
  readonly notify: string | undefined;
};

function fileOf(context: Context): { readonly file: string; readonly from: string } {
  const named = word(context);
  if (named !== "") return { file: resolve(named), from: process.cwd() };
  const project = findProject(process.cwd());
  if (project !== undefined) return { file: project.workflow, from: project.folder };
  throw new CommandError(
    "usage",
    `There is no ${PROJECT_FILE} here, and no file was named.`,
    "Try: holdpoint run <file>, or holdpoint init <name> for a new project.",
  );
}

function storeOf(context: Context, from: string): RunArguments["store"] {
  const { where } = locateStore(context.values);
  if ("database" in where || context.values.has("data")) return where;
  return { ...where, folder: dataFolder(undefined, (name) => process.env[name], from) };
}

function budgetOf(context: Context): bigint | null {
  const typed = flag(context, "budget");
  if (typed === undefined) return null;
  const match = /^(\d{1,9})(?:\.(\d{1,6}))?$/.exec(typed);
  if (match === null)
    throw new CommandError("usage", `"${typed}" is not an amount of USD.`, "Such as --budget 10.00");
  return BigInt(match[1] ?? 0) * BigInt(MICROS) + BigInt((match[2] ?? "").padEnd(6, "0"));
}

function readArguments(context: Context): RunArguments {
  const { file, from } = fileOf(context);
  return {
    file,
    store: storeOf(context, from),
    input: parseJson(flag(context, "input") ?? "{}"),
    requestId: readRequestId(context) ?? `${programName(file)}-${randomBytes(4).toString("hex")}`,
    budget: budgetOf(context),
    approvalRequired: isOn(context, "require-approval"),
    notify: flag(context, "notify"),
  };
}

/** One budget per request id. */
function budgetName(requestId: string): string {
  const name = `run:${requestId}`;
  return isBudgetName(name) ? name : `run:${sha256(Buffer.from(requestId)).slice(0, 40)}`;
}

const dollars = (micros: bigint): string => `${(Number(micros) / MICROS).toFixed(2)} USD`;
function flagsOf(context: Context, names: readonly string[]): string {
  return names
    .map((name) => [name, flag(context, name)] as const)
    .flatMap(([name, value]) => (value === undefined ? [] : ` --${name} ${shellQuote(value)}`))
    .join("");
}

function againText(context: Context, { requestId }: RunArguments): string {
  const named = word(context) === "" ? "" : ` ${shellQuote(relative(process.cwd(), resolve(word(context))))}`;
  const rest = flagsOf(context, ["input", "data", "database", "tenant"]);
  return `npx holdpoint run${named} --request-id ${shellQuote(requestId)}${rest}`;
}

/** The terms it was started with are fixed: a later flag that would change them is a usage error. */
async function checkTerms(hp: Holdpoint, workflow: string, asked: RunArguments): Promise<void> {
  const { approvalRequired, budget, notify } = await hp.workflows.get(workflow);
  const late = (flagName: string) =>
    new CommandError(
      "usage",
      `The workflow of the request id "${asked.requestId}" was started without --${flagName}.`,
      `Leave --${flagName} out, or start a new one under another request id.`,
    );
  if (asked.approvalRequired && approvalRequired !== true) throw late("require-approval");
  if (asked.budget !== null && budget !== budgetName(asked.requestId)) throw late("budget");
  if (asked.notify !== undefined && notify !== asked.notify) throw late(`notify ${asked.notify}`);
}

function noteBudget({ terminal }: Context, micros: bigint, { uncounted }: LoadedWorkflow): void {
  terminal.note(`  ${"budget".padEnd(16)}  ${dollars(micros)}, for what tools declare to cost`);
  if (uncounted.length > 0)
    terminal.note(`  ${"not counted".padEnd(16)}  ${visible(uncounted.join(", "))}: no cost is declared`);
}

function definitionMismatch(error: HoldpointError): CommandError {
  return new CommandError("usage", error.what, "Give another with --input '<json>'.", error);
}

async function begin(hp: Holdpoint, { workflow }: LoadedWorkflow, asked: RunArguments): Promise<string> {
  const { requestId, approvalRequired, budget, notify } = asked;
  const name = budgetName(requestId);
  if (budget !== null) await hp.budgets.limit(name, { currency: "USD", micros: budget });
  const terms = {
    ...(approvalRequired ? { approvalRequired } : {}),
    ...(budget === null ? {} : { budget: name }),
    ...(notify === undefined ? {} : { notify }),
  };
  try {
    const { id } = await workflow.start(asked.input, { requestId, ...terms });
    await checkTerms(hp, id, asked);
    return id;
  } catch (error) {
    if (isHoldpointError(error, "invalid_args")) throw definitionMismatch(error);
    const known = isHoldpointError(error, "request_conflict") ? error.details["workflow"] : undefined;
    if (typeof known === "string") await checkTerms(hp, known, asked);
    throw error;
  }
}

async function noteSpent(context: Context, hp: Holdpoint, workflow: string): Promise<void> {
  const { budget } = await hp.workflows.get(workflow);
  if (budget === undefined) return;
  const { spent, reserved, limit } = await hp.budgets.get(budget);
  const held = reserved === 0n ? "" : `, ${dollars(reserved)} reserved`;
  context.terminal.note(
    `  ${"spent".padEnd(16)}  ${dollars(spent)} of ${dollars(limit?.micros ?? 0n)}${held}`,
  );
}

type RunEnd = {
  readonly signal: AbortSignal;
  isInterrupted(): boolean;
  notice(notice: Notice): void;
  /** The workflow to watch: trouble with another one does not end this run. */
  about(workflow: string): void;
  stop(): void;
};

/** Ctrl-C, or a definition other than the one it was started with: this process cannot continue it. */
function watchFor(over: AbortController): RunEnd {
  const changed = new Set<string>();
  let own = "";
  let isInterrupted = false;
  const look = () => changed.has(own) && over.abort();
  const interrupt = () => {
    isInterrupted = true;
    over.abort();
  };
  const signals = ["SIGINT", "SIGTERM"] as const;
  for (const name of signals) process.once(name, interrupt);
  return {
    signal: over.signal,
    isInterrupted: () => isInterrupted,
    notice(notice) {
      if (notice.kind === "definition_changed") changed.add(notice.workflow);
      look();
    },
    about(workflow) {
      own = workflow;
      look();
    },
    stop() {
      for (const name of signals) process.removeListener(name, interrupt);
    },
  };
}

async function runToEnd(context: Context, asked: RunArguments): Promise<number> {
  const { terminal } = context;
  const ending = watchFor(new AbortController());
  const progress = createRunProgress(terminal, () => hp, flagsOf(context, ["data", "database"]));
  const notify = (notice: Notice) => {
    progress.notice(notice);
    ending.notice(notice);
  };
  const { holdpoint } = await import("../../index.ts");
  const hp: Holdpoint = holdpoint({ ...asked.store, agent: programName(asked.file), notify });
  try {
    const loaded = await loadWorkflow(hp, asked.file);
    const workflow = await begin(hp, loaded, asked);
    ending.about(workflow);
    terminal.note(
      `${visible(loaded.workflow.workflowName)} ${workflow}, request id ${visible(asked.requestId)}`,
    );
    if (asked.budget !== null) noteBudget(context, asked.budget, loaded);
    await progress.follow(workflow, ending.signal);
    if (!ending.signal.aborted) {
      await noteSpent(context, hp, workflow);
      return printResult(context, await hp.workflows.result(workflow), { requestId: asked.requestId });
    }
    terminal.note(`Left where it was; it goes on with:\n  ${againText(context, asked)}`);
    return ending.isInterrupted() ? EXIT.interrupted : EXIT.refused;
  } finally {
    ending.stop();
    await hp.close();
  }
}

export const run: Command = {
  name: "run",
  words: ["[file]"],
  summary: "Run a workflow from a file and follow it",
  details: [
    `The file's default export is a function that defines it: export default (hp) => hp.workflow(…). Without a file, the one that ${PROJECT_FILE} names.`,
    "Progress goes to standard error, the result to standard output. Ctrl-C leaves the workflow where it is; the same request id goes on.",
    "--budget counts what tools declare to cost; a tool that declares nothing is not counted.",
  ],
  examples: [`holdpoint run workflow.ts --input '{"city": "Oslo"}'`],
  onlyHere: "it runs the workflow in this process",
  flags: {
    input: { value: "<json>", summary: "what the workflow is given; {} unless set" },
    "request-id": { value: "<id>", summary: "names this run for ever: the same id finds it again" },
    budget: { value: "<usd>", summary: "the most that its tools may cost together, such as 10.00" },
    "require-approval": { summary: "ask a person about every call, also where policy would not" },
    notify: { value: "<endpoint>", summary: "where its approvals are announced, such as slack://prod" },
  },
  storeless: true,
  run: (context) => runToEnd(context, readArguments(context)),
};
