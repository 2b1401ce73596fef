import { visible } from "../kernel/text.ts";
import type { WorkflowSummary } from "../workflows/read.ts";
import { WORKFLOW_STATUSES, type WorkflowStatus } from "../workflows/state.ts";
import { type Command, type Context, EXIT, flag } from "./command.ts";
import { CommandError } from "./failure.ts";
import { fit } from "./measure.ts";
import { DEFAULT_LIMIT, type Found, readLimit, readList } from "./read-list.ts";
import { printTable } from "./table.ts";
import { moment, span } from "./times.ts";
import { heldWords, passedWords, statusWords } from "./workflow-words.ts";

const MOST_NAME = 32;
const MOST_WHERE = 30;
const HEADS = ["ID", "AGE", "STATUS", "PASSED", "ATTEMPT", "NAME", "WAITS AT"];

function statusOf(context: Context): WorkflowStatus | "any" {
  const given = flag(context, "status");
  if (given === undefined) return "any";
  const status = WORKFLOW_STATUSES.find((known) => known === given.replaceAll("-", "_"));
  if (status !== undefined) return status;
  throw new CommandError(
    "usage",
    `There is no status "${given}" of a workflow.`,
    `There are: ${WORKFLOW_STATUSES.join(", ")}.`,
  );
}

const read = (
  { hp }: Context,
  status: WorkflowStatus | "any",
  limit: number,
): Promise<Found<WorkflowSummary>> => readList(limit, (cursor) => hp.workflows.list({ status, ...cursor }));

/** The checkpoint it waits at, what holds it up, that no definition fits it, or why it failed. */
function whereCell(item: WorkflowSummary): string {
  const [held] = item["held"] as readonly string[];
  if (typeof item["stuck"] === "string") return visible(`a definition that fits: ${item["stuck"]}`);
  if (item["checkpoint"] === null && held !== undefined) return heldWords(held);
  return visible(String(item["checkpoint"] ?? item["reason"] ?? ""));
}
const passedCell = (item: WorkflowSummary): string =>
  passedWords(Number(item["passed"]), Number(item["checkpoints"]));

function cellsForPeople(item: WorkflowSummary, now: number): readonly string[] {
  return [
    visible(item.id),
    span(now - Number(item["createdAt"])),
    visible(statusWords(String(item["status"]))),
    passedCell(item),
    String(item["attempt"]),
    fit(visible(String(item["name"])), MOST_NAME),
    fit(whereCell(item), MOST_WHERE),
  ];
}

/** Columns as documented in the reference: id, status, passed, attempt, created, name, checkpoint, what holds it up or reason. */
function cellsForPipe(item: WorkflowSummary): readonly string[] {
  return [
    visible(item.id),
    visible(String(item["status"])),
    passedCell(item),
    String(item["attempt"]),
    moment(Number(item["createdAt"])),
    visible(String(item["name"])),
    whereCell(item) || "-",
  ];
}

const noneWords = (status: WorkflowStatus | "any"): string =>
  status === "any"
    ? "There are no workflows yet: a program starts one with hp.workflow(name, …).start(input)."
    : `No workflow is ${statusWords(status)}.`;

function print(
  context: Context,
  status: WorkflowStatus | "any",
  { items, isAll }: Found<WorkflowSummary>,
): void {
  const { terminal, now } = context;
  const say = terminal.interactive ? terminal.line : terminal.note;
  if (items.length === 0) say(noneWords(status));
  else if (terminal.interactive)
    printTable(
      terminal,
      HEADS,
      items.map((item) => cellsForPeople(item, now)),
    );
  else for (const item of items) terminal.line(cellsForPipe(item).join("\t"));
  if (!isAll) say(`… more (use --limit ${items.length * 2})`);
}

export const workflows: Command = {
  name: "workflows",
  words: [],
  summary: "what agents work at: newest first, with where each stands",
  details: [
    "In a pipe each line is tab-separated: id, status, passed checkpoints, attempt, created at, name, checkpoint it waits at, what holds it up, that it waits for a definition that fits, or why it failed.",
    "One in full: holdpoint show <id>",
  ],
  flags: {
    status: { value: "<status>", summary: `one of ${WORKFLOW_STATUSES.join(", ")}` },
    limit: { value: "<n>", summary: `how many to show; ${DEFAULT_LIMIT} unless set` },
  },
  async run(context) {
    const status = statusOf(context);
    const found = await read(context, status, readLimit(context));
    if (context.json) for (const item of found.items) context.terminal.json(item);
    else print(context, status, found);
    return EXIT.ok;
  },
};
