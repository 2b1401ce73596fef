import {
  APPROVAL_ORDERS,
  type ApprovalOrder,
  LISTED_STATUSES,
  type ListedStatus as Status,
} from "../approvals/state.ts";
import { visible, visiblePreview } from "../core/visible.ts";
import type { ApprovalSummary } from "../index.ts";
import { type Command, type Context, EXIT, flag, isOn } from "./command.ts";
import { CommandError } from "./failure.ts";
import { fit } from "./measure.ts";
import { type Found, readList } from "./read-list.ts";
import { printTable } from "./table.ts";
import { left, moment, span } from "./times.ts";
import { watchApprovals } from "./watch-approvals.ts";

export const DEFAULT_LIMIT = 50;
const MOST_NAME = 24;

function statusOf(context: Context): Status {
  const given = flag(context, "status");
  if (isOn(context, "all")) {
    if (given !== undefined)
      throw new CommandError("usage", "--all and --status exclude each other.", "Leave one out.");
    return "any";
  }
  const status = LISTED_STATUSES.find((known) => known === (given ?? "pending"));
  if (status !== undefined) return status;
  throw new CommandError(
    "usage",
    `There is no status "${given}".`,
    `There are: ${LISTED_STATUSES.join(", ")}.`,
  );
}

export function limitOf(context: Context): number {
  const given = flag(context, "limit") ?? String(DEFAULT_LIMIT);
  const limit = /^\d{1,9}$/.test(given) ? Number(given) : 0;
  if (limit < 1)
    throw new CommandError(
      "usage",
      `--limit "${given}" is not a whole number from 1 on.`,
      "Such as --limit 20",
    );
  return limit;
}

/** Those that wait for whoever asks. */
const mineOf = (context: Context) =>
  isOn(context, "mine") ? ({ person: context.person, mine: true } as const) : {};

/** The oldest pending ones first, since they wait longest; of anything else the newest first. */
function orderOf(context: Context, status: Status): ApprovalOrder {
  const given = flag(context, "order");
  if (given === undefined) return status === "pending" ? "oldest" : "newest";
  const order = APPROVAL_ORDERS.find((known) => known === given);
  if (order === undefined)
    throw new CommandError(
      "usage",
      `There is no order "${given}".`,
      `There are: ${APPROVAL_ORDERS.join(", ")}.`,
    );
  if (order === "deadline" && status !== "pending")
    throw new CommandError("usage", "--order deadline is of what waits.", "Leave --status and --all out.");
  if (order === "decided" && (status === "pending" || status === "any"))
    throw new CommandError("usage", "--order decided is of what was decided.", "Such as --status decided");
  return order;
}

function read(context: Context, status: Status, limit: number): Promise<Found<ApprovalSummary>> {
  const order = orderOf(context, status);
  const asked = { status, order, ...mineOf(context) } as const;
  return readList(limit, (cursor) => context.hp.approvals.list({ ...asked, ...cursor }));
}

const name = (text: unknown): string => fit(visible(String(text).replace(/^agent:/, "")), MOST_NAME);
const votes = (item: ApprovalSummary): string =>
  `${item["votes"]}/${item["quorum"]}${item["edit"] === true ? "*" : ""}`;

function deadline(item: ApprovalSummary): number | null {
  return typeof item["decideBy"] === "number" ? item["decideBy"] : null;
}

/** Rows that were made before stages were there say nothing of it. */
const stageCell = (item: ApprovalSummary): string =>
  Number(item["stages"] ?? 1) > 1 ? `${item["stage"]}/${item["stages"]}` : "-";

/** Only what is not the usual is worth a word: that it expires. */
function afterwards(item: ApprovalSummary): string {
  if (deadline(item) === null || item["atDeadline"] === undefined || item["atDeadline"] === "expire")
    return "";
  return item["atDeadline"] === "extend" ? ", then longer" : `, then stage ${Number(item["stage"]) + 1}`;
}

function askedCell({ from }: ApprovalSummary): string {
  return Array.isArray(from) ? name(from.join(", ").replaceAll("person:", "")) : "any person";
}

function cellsForPeople(item: ApprovalSummary, now: number): Readonly<Record<string, string>> {
  return {
    ID: visible(item.id),
    STATUS: visible(String(item["status"])),
    AGE: span(now - Number(item["requestedAt"])),
    STAGE: stageCell(item),
    VOTES: votes(item),
    DEADLINE: item["status"] === "pending" ? `${left(deadline(item), now)}${afterwards(item)}` : "-",
    ASKED: askedCell(item),
    ABOUT: aboutCell(item),
    NAME: name(item["tool"]),
    AGENT: name(item["agent"]),
    "ARGUMENTS OR QUESTION": contentCell(item),
  };
}

const isQuestion = (item: ApprovalSummary): boolean => item["about"] === "question";

/** The text of a question says more than what it suggests. */
export const contentCell = (item: ApprovalSummary): string =>
  isQuestion(item)
    ? visible(String(item["reason"]))
    : `${visiblePreview(String(item["args"]))}${previewCell(item)}`;

/** What the tool shows of it, after the arguments; a failure is not taken for that. */
function previewCell({ preview, previewFailed }: ApprovalSummary): string {
  if (typeof preview !== "string") return "";
  return ` → ${previewFailed === true ? "preview failed: " : ""}${visiblePreview(preview)}`;
}

/** Rows that were made before workflows were there say nothing of it. */
const aboutCell = (item: ApprovalSummary): string => visible(String(item["about"] ?? "action"));

/** Columns as documented in the reference: id, status, asked, votes, deadline, name, agent, content, about, stage. */
function cellsForPipe(item: ApprovalSummary): readonly string[] {
  const until = deadline(item);
  const asked = moment(Number(item["requestedAt"]));
  const texts = [item["tool"], item["agent"]].map((text) => visible(String(text)));
  return [
    visible(item.id),
    visible(String(item["status"])),
    asked,
    votes(item),
    until === null ? "-" : moment(until),
    ...texts,
    contentCell(item),
    aboutCell(item),
    stageCell(item),
  ];
}

function printList(context: Context, status: Status, items: readonly ApprovalSummary[]): void {
  const { terminal, now } = context;
  if (terminal.interactive) {
    const rows = items.map((item) => cellsForPeople(item, now));
    const isShown = (head: string) =>
      (head !== "STATUS" || status === "any" || status === "decided") &&
      (!["STAGE", "ASKED"].includes(head) || rows.some((row) => row["STAGE"] !== "-"));
    const heads = Object.keys(rows[0] ?? {}).filter(isShown);
    printTable(
      terminal,
      heads,
      rows.map((row) => heads.map((head) => row[head] ?? "")),
    );
  } else for (const item of items) terminal.line(cellsForPipe(item).join("\t"));
}

async function printMore(
  context: Context,
  status: Status,
  { items: { length: shown }, isAll }: Found<ApprovalSummary>,
): Promise<void> {
  const { hp, terminal } = context;
  const say = terminal.interactive ? terminal.line : terminal.note;
  if (isOn(context, "mine")) return isAll ? undefined : say(`… and more (use --limit ${shown * 2})`);
  const total = await hp.approvals.count(status);
  if (total > shown) say(`… ${total - shown} more (use --limit ${total})`);
}

function printNone(context: Context, status: Status): void {
  const { terminal } = context;
  const say = terminal.interactive ? terminal.line : terminal.note;
  if (isOn(context, "mine")) say("Nothing waits for your decision.");
  else if (status === "pending") say("Nothing waits for a decision.");
  else say(status === "any" ? "There are no approvals yet." : `No approval is ${status}.`);
}

/** Flags that exclude each other. */
function checkTogether(context: Context, status: Status): void {
  const [isWatch, isMine] = [isOn(context, "watch"), isOn(context, "mine")];
  if (isWatch && (status !== "pending" || isMine || isOn(context, "order")))
    throw new CommandError(
      "usage",
      "--watch tells everything from now on.",
      "Leave --status, --all, --order and --mine out.",
    );
  if (isMine && status !== "pending")
    throw new CommandError("usage", "--mine is what waits for you.", "Leave --status and --all out.");
}

export const approvals: Command = {
  name: "approvals",
  words: [],
  summary: "what waits for a decision, oldest first",
  details: [
    "In a pipe each line is tab-separated: id, status, asked at, votes, deadline, name of the tool, checkpoint or question, agent, arguments or outputs or the question's text, what it is about (action, checkpoint or question), and which of its stages is asked, such as 2/3, or -.",
    "The votes are those of the stage that is asked. A star after them: an edit waits for review.",
  ],
  flags: {
    status: { value: "<status>", summary: `one of ${LISTED_STATUSES.join(", ")}` },
    all: { summary: "of every status, newest first" },
    order: {
      value: "<order>",
      summary: `one of ${APPROVAL_ORDERS.join(", ")}; deadline is the soonest first, of what waits; decided the latest decision first, of what was decided`,
    },
    mine: { summary: "only what you may decide, and have not" },
    limit: { value: "<n>", summary: `how many to show; ${DEFAULT_LIMIT} unless set` },
    watch: { summary: "stay, and tell what is asked and decided until Ctrl-C" },
  },
  async run(context) {
    const status = statusOf(context);
    const limit = limitOf(context);
    checkTogether(context, status);
    if (isOn(context, "watch")) return watchApprovals(context);
    const found = await read(context, status, limit);
    const { items } = found;
    if (context.json) for (const item of items) context.terminal.json(item);
    else if (items.length === 0) printNone(context, status);
    else printList(context, status, items);
    if (!context.json) await printMore(context, status, found);
    return EXIT.ok;
  },
};
