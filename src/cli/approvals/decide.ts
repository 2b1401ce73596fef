/** Commands that decide: `approve` for one or several, `reject`, and `answer` to a question. */

import { hasSuggestion } from "../../approvals/card-document.ts";
import { stageCount } from "../../approvals/card-sections.ts";
import type { Approval, BatchAnswer } from "../../approvals/contract.ts";
import { MOST_AT_ONCE, votesNow } from "../../approvals/state.ts";
import { HoldpointError, isHoldpointError } from "../../kernel/errors.ts";
import { isJsonObject, type Json, parseJson } from "../../kernel/json.ts";
import { visible } from "../../kernel/text.ts";
import {
  type Command,
  type Context,
  EXIT,
  FULL,
  flag,
  isOn,
  needed,
  REASON,
  usage,
  word,
} from "../shell/command.ts";
import { readList } from "../shell/lists.ts";
import { PersonLeft, prompt } from "../shell/prompt.ts";
import { resolveId } from "../shell/resolve-id.ts";
import { sectionsOn, valueTree } from "../shell/sections.ts";
import { showApproval } from "../show.ts";
import { goesOnWords, intentToldWords, placeWords, statusWords } from "../workflows/story.ts";
import { awaitReview, type EditReview, reviewText } from "./await-review.ts";

const HELP = "Try: holdpoint approve --help";
const BINDING = { value: "<digits>", summary: "the binding that `show` printed, or its beginning" };

const readNote = (context: Context): { readonly note?: string } => {
  const note = flag(context, "note");
  return note === undefined ? {} : { note };
};

const readApproval = async (context: Context): Promise<Approval> =>
  context.hp.approvals.get(await resolveId(context, "apr", word(context)));

/** Compares with what the person saw, if they say so. In any case nothing may change between this read and the vote. */
function checkBinding(context: Context, approval: Approval): void {
  const seen = flag(context, "binding")?.toLowerCase();
  if (seen === undefined) return;
  if (!/^[0-9a-f]{8,64}$/.test(seen))
    throw usage("--binding is at least the first 8 digits of the binding.", "`holdpoint show` has it.");
  if (approval.binding.startsWith(seen)) return;
  const what = `What ${approval.id} asks now is not what was shown under ${seen}.`;
  throw new HoldpointError("decision_conflict", what);
}

/** A question without a suggestion: there is nothing to agree to. */
const needsAnswer = (approval: Approval): boolean =>
  approval.about === "question" && !hasSuggestion(approval);

function printArguments({ terminal, full }: Context, { args }: Approval): void {
  sectionsOn(terminal, full).block(valueTree(args, full));
}

function readEdit(context: Context, approval: Approval): { readonly edit?: Json } {
  const text = flag(context, "edit");
  if (text === undefined) return {};
  const edit = parseJson(text);
  // The answer to a question may be any JSON.
  const isWhole = approval.about === "question" || !isJsonObject(approval.args);
  if (isWhole || isJsonObject(edit)) return { edit };
  throw usage("--edit is a JSON object of the fields to replace.", `Such as --edit '{"id": 43}'`);
}

function printApproved(context: Context, approval: Approval): void {
  const { terminal } = context;
  const { id, status, approvers, binding, about } = approval;
  const stage = stageCount(approval);
  const votes = votesNow(approval).filter((vote) => vote.decision === "approve" && vote.binding === binding);
  const count = `${votes.length} of ${approvers.quorum} votes${stage === undefined ? "" : ` in stage ${stage}`}`;
  const word = about === "action" || !approval.edited ? "Approved" : "Approved with your changes";
  const what = about === "action" ? `${id} is ${status}` : id;
  if (status === "pending") terminal.line(`${id} has ${count} and still waits.`);
  else terminal.line(`${terminal.paint("green", word)}: ${what} (${count}).`);
  terminal.line(`  ${visible(approval.tool)}, asked by ${visible(approval.agent)}`);
  printArguments(context, approval);
}

/** One line about who waits for the decision. */
async function printWaiting({ hp, terminal }: Context, approval: Approval): Promise<void> {
  const { status, about, intent, workflow } = approval;
  if (status === "approved" || status === "modified")
    terminal.line("The program that asked performs it now, or when it runs again.");
  if (about === "action" || status === "pending") return;
  if (intent !== null) return terminal.line(intentToldWords(intent));
  if (workflow !== null) terminal.line(goesOnWords((await hp.workflows.get(workflow)).name));
}

async function approveOne(context: Context): Promise<number> {
  const { hp, person: by, terminal } = context;
  const before = await readApproval(context);
  const { id, binding } = before;
  checkBinding(context, before);
  const edit = readEdit(context, before);
  const isEdit = edit.edit !== undefined;
  if (!isEdit && needsAnswer(before))
    throw usage(
      `${id} is a question, and suggests no answer that one could agree to.`,
      `Answer it: holdpoint answer ${id} '<json>'; \`holdpoint show ${id}\` says what is expected.`,
    );
  // A person who sends an edit again has not seen the tool's preview of it, unless they give its binding.
  const seen = isEdit && !isOn(context, "binding") ? {} : { binding };
  const vote = { by, ...seen, via: "cli", ...readNote(context), ...edit };
  const decided = await hp.approvals.approve(id, vote);
  const review: EditReview = isEdit ? await awaitReview(context, id) : { kind: "accepted" };
  if (review.kind === "refused") {
    const what = `The edit was refused by the rule "${review.rule}": ${review.reason}.`;
    throw new HoldpointError("edit_refused", what);
  }
  const approval = await hp.approvals.get(decided.approval);
  if (context.json) terminal.json({ kind: decided.kind, edit: isEdit ? review : null, approval });
  else if (review.kind === "accepted") {
    if (decided.kind === "same") terminal.line("You had approved it before; nothing changed.");
    printApproved(context, approval);
    await printWaiting(context, approval);
  } else terminal.line(reviewText(approval, review));
  return review.kind === "moved_on" ? EXIT.refused : EXIT.ok;
}

async function waitingFor({ hp }: Context, tool: string): Promise<readonly string[]> {
  const { items } = await readList(MOST_AT_ONCE, async (cursor) => {
    const page = await hp.approvals.list(cursor);
    return { items: page.items.filter((one) => one.tool === tool), next: page.next };
  });
  if (items.length > 0) return items.map(({ id }) => id);
  throw new HoldpointError("unknown_id", `Nothing waits for "${visible(tool)}".`, {
    next: "`holdpoint approvals` lists what waits.",
  });
}

async function readIds(context: Context): Promise<readonly string[]> {
  const tool = flag(context, "all-of");
  if (tool !== undefined && context.words.length > 0)
    throw usage("approve takes ids or --all-of, not both.", HELP);
  const ids = new Set(tool === undefined ? [] : await waitingFor(context, tool));
  for (const given of context.words) ids.add(await resolveId(context, "apr", given));
  return [...ids];
}

/** The person confirms with the number of cards that were shown, not of those that exist now. */
async function confirm(context: Context, count: number): Promise<boolean> {
  const given = flag(context, "confirm");
  if (given !== undefined) {
    if (given.trim() === String(count)) return true;
    throw usage(`There are ${count}, not ${visible(given)}.`, `Look at them, then: --confirm ${count}`);
  }
  if (process.stdin.isTTY !== true || !context.terminal.interactive || context.json)
    throw usage(`These are ${count} approvals.`, `Look at them, then say how many: --confirm ${count}`);
  try {
    return (await prompt(`Type ${count} to approve all ${count}: `)) === String(count);
  } catch (error) {
    if (error instanceof PersonLeft) return false;
    throw error;
  }
}

function printAnswer({ terminal }: Context, answer: BatchAnswer): void {
  const word = answer.ok
    ? terminal.paint("green", visible(answer.decided.status))
    : `${terminal.paint("red", "refused")}: ${visible(answer.error.message)}`;
  terminal.line(`${visible(answer.id)}  ${word}`);
}

const answerJson = ({ id, ...answer }: BatchAnswer): object =>
  answer.ok
    ? { id, ok: true, status: answer.decided.status }
    : { id, ok: false, code: answer.error.code, message: answer.error.message };

/** Several at once: prints every card, and the person types how many there are. */
async function approveMany(context: Context): Promise<number> {
  const { hp, person: by, terminal, json } = context;
  for (const name of ["edit", "binding"])
    if (isOn(context, name)) throw usage(`--${name} is for one approval.`, HELP);
  const ids = await readIds(context);
  const approvals = await Promise.all(ids.map((id) => hp.approvals.get(id)));
  const open = approvals.find(needsAnswer);
  if (open !== undefined)
    throw usage(
      `${open.id} is a question that has to be answered.`,
      `Try: holdpoint answer ${open.id} '<json>'`,
    );
  for (const approval of json ? [] : approvals) {
    await showApproval(context, approval.id);
    terminal.line();
  }
  if (!(await confirm(context, approvals.length))) {
    terminal.line("Nothing was decided.");
    return EXIT.refused;
  }
  const said = { decision: "approve" as const, ...readNote(context) };
  const items = approvals.map(({ id, binding }) => ({ id, binding, ...said }));
  const answers = await hp.approvals.decideAll(items, { by, via: "cli" });
  if (json) terminal.json({ answers: answers.map(answerJson) });
  else for (const answer of answers) printAnswer(context, answer);
  return answers.every(({ ok }) => ok) ? EXIT.ok : EXIT.refused;
}

export const approve: Command = {
  name: "approve",
  words: ["[id…]"],
  summary: "Approve, if needed with changed arguments",
  details: [
    "--edit replaces fields of the arguments. The edited action goes through schema and policy again, by a process that has the tool.",
    "At a checkpoint --edit replaces fields of the outputs, and the workflow goes on with them. To a question it is the answer, like `holdpoint answer`.",
    "--binding makes sure that what you approve is what you were shown.",
    "Of several ids, or with --all-of, every card is shown and you type how many there are. Each is decided on its own; one that is refused does not stop the others.",
  ],
  examples: [
    'holdpoint approve apr_01K9ZQ --note "checked"',
    `holdpoint approve apr_01K9ZQ --edit '{"amount": 800}'`,
  ],
  flags: {
    edit: { value: "<json>", summary: "a JSON object of fields to replace" },
    note: { value: "<text>", summary: "a word to the tool; it is recorded" },
    binding: BINDING,
    "all-of": { value: "<tool>", summary: "everything that waits for this tool" },
    confirm: { value: "<count>", summary: "how many there are, for a script that cannot type it" },
    full: FULL,
  },
  async run(context) {
    if (context.words.length > 1 || isOn(context, "all-of")) return approveMany(context);
    if (context.words.length === 0) throw usage("approve needs <id>.", HELP);
    return approveOne(context);
  },
};

/** Words that are not JSON are most likely meant as text. */
function notJson(given: string, cause: HoldpointError): HoldpointError {
  const isShort = given.length <= 60 && !given.includes("'");
  const next = `Put a text in double quotes${isShort ? `: '${JSON.stringify(given)}'` : "."}`;
  return new HoldpointError("invalid_json", `An answer is JSON. ${cause.what}`, { next, cause });
}

function readAnswer(given: string): Json {
  try {
    return parseJson(given);
  } catch (error) {
    throw isHoldpointError(error, "invalid_json") ? notJson(given, error) : error;
  }
}

async function printAnswered(context: Context, approval: Approval): Promise<void> {
  const { hp, terminal } = context;
  const { id, approvers, workflow } = approval;
  const { name } = await hp.workflows.get(String(workflow));
  if (approval.status === "pending")
    return terminal.line(
      `Your answer to ${id} is recorded; ${approvers.quorum} people have to agree, so it still waits.`,
    );
  terminal.line(`${terminal.paint("green", "Answered")}: ${id}, "${visible(approval.tool)}".`);
  printArguments(context, approval);
  terminal.line(goesOnWords(name));
}

export const answer: Command = {
  name: "answer",
  words: ["<id>", "<json>"],
  summary: "Answer a question of a workflow",
  details: [
    `The answer is JSON, in single quotes for the shell: 'true', '42', '"Berlin"', '{"room": "A"}'. It is checked against what the question expects. One that begins with a dash comes after --.`,
    "To leave it without an answer: holdpoint reject <id> --reason <text>",
  ],
  examples: [`holdpoint answer apr_01K9ZQ '{"room": 12}'`],
  flags: {
    note: { value: "<text>", summary: "a word to the program; it is recorded" },
    binding: BINDING,
  },
  async run(context) {
    const { hp, terminal, person: by } = context;
    const before = await readApproval(context);
    const { id, about, binding } = before;
    if (about !== "question")
      throw usage(
        `${id} is about ${about === "action" ? "an action" : "a checkpoint"}, not a question.`,
        `Decide it with: holdpoint approve ${id} [--edit <json>], or holdpoint reject ${id} --reason <text>`,
      );
    checkBinding(context, before);
    const edit = readAnswer(word(context, 1));
    const vote = { by, binding, via: "cli", ...readNote(context), edit };
    const { kind } = await hp.approvals.approve(id, vote);
    const approval = await hp.approvals.get(id);
    if (context.json) terminal.json({ kind, approval });
    else {
      if (kind === "same") terminal.line("You had answered so before; nothing changed.");
      await printAnswered(context, approval);
    }
    return EXIT.ok;
  },
};

/** Effects that a rejection cannot undo and that make the workflow fail. */
async function irreversibleTools({ hp }: Context, { about, workflow }: Approval): Promise<readonly string[]> {
  if (about !== "checkpoint" || workflow === null) return [];
  const { pending, onIrreversible } = await hp.workflows.get(workflow);
  return onIrreversible === "fail" ? (pending?.irreversible.map(({ tool }) => tool) ?? []) : [];
}

/** What the rejection started. */
async function printRejected(
  { hp, terminal }: Context,
  { about, intent, workflow: id }: Approval,
  stake: readonly string[],
): Promise<void> {
  if (intent !== null) return terminal.line(intentToldWords(intent));
  const workflow = await hp.workflows.get(String(id));
  const { rollback, name, status } = workflow;
  if (about === "checkpoint" && rollback !== null) {
    const again = rollback.after === "again" ? "is tried again from there, with your reason" : "fails";
    const lost = `fails, since ${stake.map(visible).join(", ")} cannot be undone`;
    terminal.line(
      `What it did since ${placeWords(workflow, rollback.to)} is undone, newest first; then it ${stake.length === 0 ? again : lost}.`,
    );
  } else terminal.line(`The workflow ${workflow.id} is ${statusWords(status)}.`);
  if (workflow.end === null) terminal.line(goesOnWords(name));
}

export const reject: Command = {
  name: "reject",
  words: ["<id>"],
  summary: "Reject; the program is told the reason",
  details: [
    "A workflow whose checkpoint is rejected goes back to its last checkpoint and is tried again; with --final it is rolled back and fails.",
  ],
  examples: ['holdpoint reject apr_01K9ZQ --reason "wrong customer"'],
  flags: { reason: REASON, final: { summary: "of a checkpoint: the workflow is not tried again" } },
  async run(context) {
    const { hp, terminal, person: by } = context;
    const before = await readApproval(context);
    const { id, binding } = before;
    const stake = await irreversibleTools(context, before);
    const final = isOn(context, "final") ? { final: true } : {};
    const vote = { by, binding, reason: needed(context, "reason"), via: "cli", ...final };
    const { kind } = await hp.approvals.reject(id, vote);
    const approval = await hp.approvals.get(id);
    const { status, about } = approval;
    if (context.json) {
      terminal.json({ kind, approval });
      return EXIT.ok;
    }
    if (kind === "same") terminal.line("You had rejected it before; nothing changed.");
    const end = status === "pending" ? "Your vote is recorded; it still waits" : `It is ${status}`;
    terminal.line(`${end}: ${id}, ${visible(approval.tool)}, asked by ${visible(approval.agent)}.`);
    if (status !== "pending" && about !== "action") await printRejected(context, approval, stake);
    return EXIT.ok;
  },
};
