/** `holdpoint start`: a workflow by its definition's name, run by whichever node has that. */
import { readFileSync } from "node:fs";
import type { Requested, WorkflowResult } from "../index.ts";
import { type Json, parseJson } from "../kernel/json.ts";
import { visible, visibleJson } from "../kernel/text.ts";
import { type Command, type Context, EXIT, flag, isOn, word } from "./command.ts";
import { CommandError, fileError } from "./failure.ts";
import { whereFlags } from "./where-flags.ts";
import { quotedName } from "./workflow-words.ts";

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

function requestIdOf(context: Context): { readonly requestId?: string } {
  const requestId = flag(context, "request-id");
  if (requestId === "")
    throw new CommandError("usage", "--request-id is empty.", "Leave it out for a new one.");
  return requestId === undefined ? {} : { requestId };
}

/** Where it goes from here; nobody is told that it will run when nobody is there who can. */
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

function printEnd({ terminal, json }: Context, result: WorkflowResult<unknown>): number {
  const isDone = result.status === "completed";
  if (json) terminal.json(result as unknown as Json);
  else if (isDone) terminal.line(visibleJson(JSON.stringify(result.result ?? null, null, 2)));
  else
    terminal.note(
      `FAILED ${result.workflow}: ${visible(result.reason)} [${result.code}, by ${visible(result.by)}]`,
    );
  return isDone ? EXIT.ok : EXIT.refused;
}

async function startByName(context: Context): Promise<number> {
  const { hp, terminal, json, person: by } = context;
  const name = word(context);
  const budget = flag(context, "budget");
  const made = await hp.workflows.start(name, inputOf(context), {
    by,
    ...requestIdOf(context),
    ...(isOn(context, "require-approval") ? { approvalRequired: true } : {}),
    ...(budget === undefined ? {} : { budget }),
  });
  if (!isOn(context, "wait")) {
    if (json) terminal.json({ workflow: made.id, name, isNew: made.isNew, nodes: made.nodes });
    else printStarted(context, name, made, terminal.line);
    return EXIT.ok;
  }
  if (!json) printStarted(context, name, made, terminal.note);
  return printEnd(context, await hp.workflows.result(made.id));
}

export const start: Command = {
  name: "start",
  words: ["<definition>"],
  summary: "start a workflow by its definition's name; a node that has it runs it",
  details: [
    "This terminal needs no definition, and neither does the server: a worker or program that has it takes the workflow up. You are its poster.",
    "The input is checked there: one that does not fit ends the workflow as failed, with the reason.",
    "With --wait the result goes to standard output; Ctrl-C leaves the workflow where it is.",
  ],
  flags: {
    input: { value: "<json>", summary: "what the workflow is given, or @ and a file's path; {} unless set" },
    "request-id": { value: "<id>", summary: "names it for ever: the same id finds it again" },
    budget: { value: "<name>", summary: "a budget that what its tools declare to cost is counted on" },
    "require-approval": { summary: "ask a person about every call, also where policy would not" },
    wait: { summary: "until it has ended: 0 when it completed, 1 when it failed" },
  },
  run: startByName,
};
