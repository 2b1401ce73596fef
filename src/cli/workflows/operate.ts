/**
 * Commands that act on workflows: start by the definition's name, fork, roll back, cancel.
 * The command only records the request; a process that has the definition does the work.
 */

import { readFileSync } from "node:fs";
import { HoldpointError, isHoldpointError } from "../../kernel/errors.ts";
import { type Json, parseJson } from "../../kernel/json.ts";
import { quotedName, visible, visibleJson } from "../../kernel/text.ts";
import type { Requested } from "../../workflows/contract.ts";
import type { WorkflowResult } from "../../workflows/definition.ts";
import type { WorkflowDetails } from "../../workflows/views.ts";
import {
  type Command,
  type Context,
  EXIT,
  fileError,
  flag,
  isOn,
  needed,
  REASON,
  usage,
  whereFlags,
  word,
} from "../shell/command.ts";
import { resolveWorkflowId } from "../shell/resolve-id.ts";
import { goesOnWords, placeWords } from "./story.ts";

/** `cancel` with a workflow's id. */
export async function runCancelWorkflow(context: Context): Promise<number> {
  const { hp, terminal, person: by } = context;
  const id = await resolveWorkflowId(context, word(context));
  await hp.workflows.cancel(id, { by, reason: needed(context, "reason") });
  const workflow = await hp.workflows.get(id);
  if (context.json) terminal.json({ workflow });
  else
    terminal.line(
      `Cancelled: ${id}, ${quotedName(workflow.name)}. What it did stays done; what waited is withdrawn.`,
    );
  return EXIT.ok;
}

/** What was asked for, and where to see it done. */
async function printRequested(
  context: Context,
  id: string,
  words: (workflow: WorkflowDetails) => readonly string[],
): Promise<number> {
  const { hp, terminal } = context;
  const workflow = await hp.workflows.get(id);
  const where = `  npx holdpoint show ${id}${whereFlags(context)}`;
  if (context.json) terminal.json({ workflow });
  else for (const line of [...words(workflow), goesOnWords(workflow.name), where]) terminal.line(line);
  return EXIT.ok;
}

export const fork: Command = {
  name: "fork",
  words: ["<workflow>"],
  summary: "Start a new workflow from a checkpoint of another",
  details: [
    "Work up to the checkpoint is reused. Everything after it runs again, with its effects. The original workflow is unchanged.",
    "The command only records the request; a process with the definition performs it.",
  ],
  examples: ["holdpoint fork wf_01K9ZQ --at plan"],
  onlyHere: "a process with the definition performs it",
  flags: { at: { value: "<checkpoint>", summary: "a checkpoint it has passed", required: true } },
  async run(context) {
    const { hp } = context;
    const id = await resolveWorkflowId(context, word(context));
    const made = await hp.workflows.fork(id, { at: needed(context, "at") });
    return printRequested(context, made, ({ name, fork: from }) => [
      `Forked: ${made}, ${quotedName(name)}, begins where ${id} passed ${quotedName(from?.checkpoint ?? "")}.`,
    ]);
  },
};

/** A mistyped name is refused and recorded like any other request; the error lists the valid names. */
async function withChoices({ hp }: Context, id: string, to: string | undefined, error: unknown) {
  if (!isHoldpointError(error, "wrong_state") || to === undefined || to === "start") return error;
  const { passed } = await hp.workflows.get(id);
  if (passed.some(({ name, op }) => name === to || op === to)) return error;
  const names = [...new Set(passed.map(({ name }) => quotedName(name)))];
  const next =
    names.length === 0
      ? "It has passed none yet: --to start."
      : `It has passed ${names.join(", ")}; or --to start.`;
  const { code, what, data, details } = error;
  return new HoldpointError(code, what, { data, next, details, cause: error });
}

export const rollback: Command = {
  name: "rollback",
  words: ["<workflow>"],
  summary: "Send a workflow back to a checkpoint and undo what followed",
  details: [
    "It goes to the last checkpoint that was approved or passed, unless --to names another one or `start`. Then it is tried again from there and told the reason.",
    "The command only records the request; a process with the definition performs it.",
  ],
  examples: ['holdpoint rollback wf_01K9ZQ --to plan --reason "wrong supplier"'],
  flags: {
    to: { value: "<checkpoint>", summary: "a checkpoint it has passed, or start" },
    fail: { summary: "when all is undone it fails, instead of being tried again" },
    reason: REASON,
  },
  async run(context) {
    const { hp, person: by } = context;
    const id = await resolveWorkflowId(context, word(context));
    const to = flag(context, "to");
    const after = isOn(context, "fail") ? "fail" : "again";
    const request = {
      by,
      reason: needed(context, "reason"),
      after,
      ...(to === undefined ? {} : { to }),
    } as const;
    await hp.workflows.rollback(id, request).catch(async (error: unknown) => {
      throw await withChoices(context, id, to, error);
    });
    return printRequested(context, id, (workflow) => [
      `Rolling back ${id}, ${quotedName(workflow.name)}, to ${placeWords(workflow, workflow.rollback?.to ?? null)}.`,
      `What it did since then is undone, newest first; then it ${after === "fail" ? "fails" : "is tried again from there"}.`,
    ]);
  },
};

/** JSON, or `@` and the path of a file that holds it. */
function inputOf(context: Context): Json {
  const given = flag(context, "input") ?? "{}";
  if (!given.startsWith("@")) return parseJson(given);
  const path = given.slice(1);
  try {
    return parseJson(readFileSync(path, "utf8"));
  } catch (error) {
    throw (error as NodeJS.ErrnoException).code === undefined ? error : fileError(path, error);
  }
}

export function readRequestId(context: Context): string | undefined {
  const requestId = flag(context, "request-id");
  if (requestId === "") throw usage("--request-id is empty.", "Leave it out for a new one.");
  return requestId;
}

/** The next step. Says so if no running node has the definition. */
function nextWords(name: string, { nodes }: Requested): string {
  const waits = `It waits until a node runs that has the definition ${quotedName(name)}.`;
  if (nodes === null) return waits;
  return nodes > 0
    ? `A node that has the definition takes it up: ${nodes} ${nodes === 1 ? "is" : "are"} there now.`
    : `No node that is there now says that it has the definition ${quotedName(name)}. ${waits}`;
}

function printStarted(context: Context, name: string, made: Requested, say: (text: string) => void): void {
  const what = made.isNew ? "Started" : "The request id names it already";
  say(`${what}: ${made.id}, ${quotedName(name)}.`);
  if (made.isNew) say(nextWords(name, made));
  say(`  npx holdpoint show ${made.id}${whereFlags(context)}`);
}

/** The result goes to standard output, and how it ended to standard error. `facts` are part of the JSON. */
export function printResult(
  { terminal, json }: Context,
  result: WorkflowResult<unknown>,
  facts: { readonly requestId?: string } = {},
): number {
  const isDone = result.status === "completed";
  const code = isDone ? EXIT.ok : EXIT.refused;
  if (json) {
    terminal.json({ ...facts, ...result });
    return code;
  }
  const name = terminal.paint(isDone ? "green" : "red", isDone ? "COMPLETED" : "FAILED");
  const why = isDone ? "" : `: ${visible(result.reason)} [${result.code}, by ${visible(result.by)}]`;
  terminal.note(`${name} ${result.workflow}${why}`);
  if (isDone) terminal.line(visibleJson(JSON.stringify(result.result ?? null, null, 2)));
  return code;
}

async function startByName(context: Context): Promise<number> {
  const { hp, terminal, json, person: by } = context;
  const name = word(context);
  const [budget, requestId] = [flag(context, "budget"), readRequestId(context)];
  const made = await hp.workflows.start(name, inputOf(context), {
    by,
    ...(requestId === undefined ? {} : { requestId }),
    ...(isOn(context, "require-approval") ? { approvalRequired: true } : {}),
    ...(budget === undefined ? {} : { budget }),
  });
  if (!isOn(context, "wait")) {
    if (json) terminal.json({ workflow: made.id, name, isNew: made.isNew, nodes: made.nodes });
    else printStarted(context, name, made, terminal.line);
    return EXIT.ok;
  }
  if (!json) printStarted(context, name, made, terminal.note);
  return printResult(context, await hp.workflows.result(made.id));
}

export const start: Command = {
  name: "start",
  words: ["<definition>"],
  summary: "Start a workflow by the name of its definition",
  details: [
    "This terminal needs no definition, and neither does the server: a worker or program that has it takes the workflow up. You are its poster.",
    "The input is checked there: one that does not fit ends the workflow as failed, with the reason.",
    "With --wait the result goes to standard output; Ctrl-C leaves the workflow where it is.",
  ],
  examples: ["holdpoint start weekly-report --input @input.json --wait"],
  flags: {
    input: { value: "<json>", summary: "what the workflow is given, or @ and a file's path; {} unless set" },
    "request-id": { value: "<id>", summary: "names it for ever: the same id finds it again" },
    budget: { value: "<name>", summary: "a budget that what its tools declare to cost is counted on" },
    "require-approval": { summary: "ask a person about every call, also where policy would not" },
    wait: { summary: "until it has ended: 0 when it completed, 1 when it failed" },
  },
  run: startByName,
};
