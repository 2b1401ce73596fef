import { HoldpointError, isHoldpointError } from "../core/errors.ts";
import type { Json } from "../core/json.ts";
import { parseJson } from "../core/strict-json.ts";
import { visible } from "../core/visible.ts";
import type { Approval } from "../index.ts";
import { checkBinding } from "./approve.ts";
import { type Command, type Context, EXIT, flag, word } from "./command.ts";
import { CommandError } from "./failure.ts";
import { readable } from "./readable.ts";
import { approvalId } from "./resolve-id.ts";
import { sectionsOn } from "./sections.ts";
import { goesOnWords } from "./workflow-words.ts";

/** Words that are no JSON are most likely meant as text. */
function notJson(given: string, error: HoldpointError): HoldpointError {
  const isShort = given.length <= 60 && !given.includes("'");
  const next = `A text stands in double quotes${isShort ? `: '${JSON.stringify(given)}'` : "."}`;
  return new HoldpointError("invalid_json", `An answer is JSON. ${error.what}`, { next, cause: error });
}

function answerOf(given: string): Json {
  try {
    return parseJson(given);
  } catch (error) {
    throw isHoldpointError(error, "invalid_json") ? notJson(given, error) : error;
  }
}

function checkQuestion({ id, subject }: Approval): void {
  if (subject?.kind === "question") return;
  const what = subject === undefined ? "an action" : "a checkpoint";
  throw new CommandError(
    "usage",
    `${id} is about ${what}, not a question.`,
    `Decide it with: holdpoint approve ${id} [--edit <json>], or holdpoint reject ${id} --reason <text>`,
  );
}

async function tell(context: Context, id: string, isRepeat: boolean): Promise<void> {
  const { hp, terminal, full } = context;
  const approval = await hp.approvals.get(id);
  const { name } = await hp.workflows.get(approval.action);
  if (isRepeat) terminal.line("You had answered so before; nothing changed.");
  if (approval.status === "pending") {
    const { quorum } = approval.approvers;
    terminal.line(`Your answer to ${id} is recorded; ${quorum} people have to agree, so it still waits.`);
    return;
  }
  terminal.line(`${terminal.paint("green", "Answered")}: ${id}, "${visible(approval.tool)}".`);
  sectionsOn(terminal, full).block(readable(approval.args, full));
  terminal.line(goesOnWords(name));
}

export const answer: Command = {
  name: "answer",
  words: ["<id>", "<json>"],
  summary: "answer a question that a workflow asks, as the operating system's user",
  details: [
    `The answer is JSON, in single quotes for the shell: 'true', '42', '"Berlin"', '{"room": "A"}'. It is checked against what the question expects. One that begins with a dash comes after --.`,
    "To say that nobody answers: holdpoint reject <id> --reason <text>",
  ],
  flags: {
    note: { value: "<text>", summary: "a word to the program; it is recorded" },
    binding: { value: "<digits>", summary: "the binding that `show` printed, or its beginning" },
  },
  async run(context) {
    const { hp, terminal, person: by } = context;
    const id = await approvalId(context, word(context));
    const approval = await hp.approvals.get(id);
    checkQuestion(approval);
    checkBinding(context, approval);
    const edit = answerOf(word(context, 1));
    const note = flag(context, "note");
    const vote = { by, binding: approval.binding, via: "cli", ...(note === undefined ? {} : { note }) };
    const decided = await hp.approvals.approve(id, { ...vote, edit });
    if (context.json) terminal.json({ kind: decided.kind, approval: await hp.approvals.get(id) });
    else await tell(context, id, decided.kind === "same");
    return EXIT.ok;
  },
};
