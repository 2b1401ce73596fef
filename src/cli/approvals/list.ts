/** Pending and decided approvals; with `--watch`, requests and decisions from now on. */

import { decisionWord, stageCount } from "../../approvals/card-sections.ts";
import type { Approval, ApprovalSummary } from "../../approvals/contract.ts";
import {
  APPROVAL_ORDERS,
  type ApprovalOrder,
  LISTED_STATUSES,
  type ListedStatus,
  votesNow,
} from "../../approvals/state.ts";
import { canonicalJson } from "../../kernel/canonical-json.ts";
import type { Json } from "../../kernel/json.ts";
import { visible, visiblePreview } from "../../kernel/text.ts";
import { type Command, type Context, EXIT, flag, isOn, usage } from "../shell/command.ts";
import { DEFAULT_LIMIT, printTable, readLimit, readList } from "../shell/lists.ts";
import { cut, fit, formatMoment, formatSpan, formatTimeLeft, type Terminal } from "../shell/terminal.ts";

const LONGEST_NAME = 24;

function readChoice<Name extends string>(what: string, names: readonly Name[], given: string): Name {
  const found = names.find((name) => name === given);
  if (found !== undefined) return found;
  throw usage(`There is no ${what} "${given}".`, `There are: ${names.join(", ")}.`);
}

function readStatus(context: Context): ListedStatus {
  const given = flag(context, "status");
  if (!isOn(context, "all")) return readChoice("status", LISTED_STATUSES, given ?? "pending");
  if (given === undefined) return "any";
  throw usage("--all and --status exclude each other.", "Leave one out.");
}

/** Pending ones oldest first, since they wait longest; others newest first. */
function readOrder(context: Context, status: ListedStatus): ApprovalOrder {
  const given = flag(context, "order");
  if (given === undefined) return status === "pending" ? "oldest" : "newest";
  const order = readChoice("order", APPROVAL_ORDERS, given);
  if (order === "deadline" && status !== "pending")
    throw usage("--order deadline is of what waits.", "Leave --status and --all out.");
  if (order === "decided" && (status === "pending" || status === "any"))
    throw usage("--order decided is of what was decided.", "Such as --status decided");
  return order;
}

/** Flags that exclude each other. */
function checkTogether(context: Context, status: ListedStatus): void {
  const isMine = isOn(context, "mine");
  if (isOn(context, "watch") && (status !== "pending" || isMine || isOn(context, "order")))
    throw usage("--watch tells everything from now on.", "Leave --status, --all, --order and --mine out.");
  if (isMine && status !== "pending")
    throw usage("--mine is what waits for you.", "Leave --status and --all out.");
}

type Cell = (item: ApprovalSummary, now: number) => string;

const name = (text: unknown): string => fit(visible(String(text).replace(/^agent:/, "")), LONGEST_NAME);
const idCell: Cell = ({ id }) => visible(id);
const statusCell: Cell = ({ status }) => visible(String(status));
const votesCell: Cell = ({ votes, quorum, edit }) => `${votes}/${quorum}${edit === true ? "*" : ""}`;

/** Rows by an older process have no stage and no subject. */
const stageCell: Cell = ({ stage, stages = 1 }) => (Number(stages) > 1 ? `${stage}/${stages}` : "-");
/** Visible text already. An older server sends none. */
const titleCell = ({ title, tool }: ApprovalSummary): string =>
  typeof title === "string" ? visiblePreview(title) : visible(String(tool));
const aboutCell: Cell = ({ about = "action" }) => visible(String(about));

/** Shows what happens at the deadline only if it is not the usual: that it expires. */
const deadlineCell: Cell = ({ status, decideBy, atDeadline = "expire", stage }, now) => {
  if (status !== "pending" || typeof decideBy !== "number") return "-";
  const then = atDeadline === "extend" ? ", then longer" : `, then stage ${Number(stage) + 1}`;
  return `${formatTimeLeft(decideBy, now)}${atDeadline === "expire" ? "" : then}`;
};

/** For a question, shows its text and not its suggestion. A failed preview is marked as failed. */
export const contentCell = (item: ApprovalSummary): string => {
  const { about, reason, args, preview, previewFailed } = item;
  if (about === "question") return visible(String(reason));
  const failed = previewFailed === true ? "preview failed: " : "";
  const shown = typeof preview === "string" ? ` → ${failed}${visiblePreview(preview)}` : "";
  return `${visiblePreview(String(args))}${shown}`;
};

const COLUMNS: { readonly [head: string]: Cell } = {
  ID: idCell,
  STATUS: statusCell,
  AGE: ({ requestedAt }, now) => formatSpan(now - Number(requestedAt)),
  STAGE: stageCell,
  VOTES: votesCell,
  DEADLINE: deadlineCell,
  ASKED: ({ from }) => (Array.isArray(from) ? name(from.join(", ").replaceAll("person:", "")) : "any person"),
  ABOUT: aboutCell,
  AGENT: ({ agent }) => name(agent),
  "TITLE, ARGUMENTS OR QUESTION": (item) => `${titleCell(item)}  ${contentCell(item)}`,
};

/** For pipes; the reference documents their order. */
const PIPED: readonly Cell[] = [
  idCell,
  statusCell,
  ({ requestedAt }) => formatMoment(Number(requestedAt)),
  votesCell,
  ({ decideBy }) => (typeof decideBy === "number" ? formatMoment(decideBy) : "-"),
  ({ tool }) => visible(String(tool)),
  ({ agent }) => visible(String(agent)),
  contentCell,
  aboutCell,
  stageCell,
  titleCell,
];

function printItems(
  { terminal, now }: Context,
  status: ListedStatus,
  items: readonly ApprovalSummary[],
): void {
  if (!terminal.interactive) {
    for (const item of items) terminal.line(PIPED.map((cell) => cell(item, now)).join("\t"));
    return;
  }
  const hasStages = items.some((item) => stageCell(item, now) !== "-");
  const columns = Object.entries(COLUMNS).filter(([head]) => {
    if (head === "STATUS") return status === "any" || status === "decided";
    return hasStages || (head !== "STAGE" && head !== "ASKED");
  });
  const heads = columns.map(([head]) => head);
  const rows = items.map((item) => columns.map(([, cell]) => cell(item, now)));
  printTable(terminal, heads, rows, ["ABOUT", "STAGE", "ASKED", "AGE"]);
}

function noneText(context: Context, status: ListedStatus): string {
  if (isOn(context, "mine")) return "Nothing waits for your decision.";
  if (status === "pending") return "Nothing waits for a decision.";
  return status === "any" ? "There are no approvals yet." : `No approval is ${status}.`;
}

async function printList(context: Context, status: ListedStatus, limit: number): Promise<void> {
  const { hp, terminal, person } = context;
  const isMine = isOn(context, "mine");
  const mine = isMine ? ({ person, mine: true } as const) : {};
  const page = { status, order: readOrder(context, status), ...mine };
  const { items, isAll } = await readList(limit, (cursor) => hp.approvals.list({ ...page, ...cursor }));
  const shown = items.length;
  const say = terminal.interactive ? terminal.line : terminal.note;
  if (context.json) {
    for (const item of items) terminal.json(item);
    return;
  }
  if (shown === 0) say(noneText(context, status));
  else printItems(context, status, items);
  if (isMine) return isAll ? undefined : say(`… and more (use --limit ${shown * 2})`);
  const total = await hp.approvals.count(status);
  if (total > shown) say(`… ${total - shown} more (use --limit ${total})`);
}

export const approvalsCommand: Command = {
  name: "approvals",
  words: [],
  summary: "List what is waiting for a decision, oldest first",
  details: [
    "In a pipe each line is tab-separated: id, status, asked at, votes, deadline, name of the tool, checkpoint or question, agent, arguments or outputs or the question's text, what it is about (action, checkpoint or question), which of its stages is asked, such as 2/3, or -, and its title.",
    "The votes are those of the stage that is asked. A star after them: an edit waits for review.",
  ],
  examples: ["holdpoint approvals --mine --order deadline", "holdpoint approvals --watch"],
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
    const status = readStatus(context);
    const limit = readLimit(context);
    checkTogether(context, status);
    if (isOn(context, "watch")) await watch(context);
    else await printList(context, status, limit);
    return EXIT.ok;
  },
};

const LONGEST_PREVIEW = 500;
const LONGEST_CHANGE = "edit refused".length;
const NARROWEST = 40;

type Change = { readonly change: string; readonly detail: string };
type Remembered = ReturnType<typeof remember>;

/** State of an approval that is kept to detect changes. */
export const remember = ({ status, binding, stage, decideBy, ...approval }: Approval) => ({
  status,
  binding,
  stage,
  decideBy,
  isRefused: approval.editRefused !== null,
  votes: approval.votes.length,
  comments: approval.comments.length,
  edit: approval.edit?.argsDigest ?? null,
});

/** The change between two reads. Several steps in between are reported as the last one. */
export function findChange(before: Remembered | undefined, now: Approval): Change | undefined {
  const { edit, editRefused, comments } = now;
  if (before?.status !== now.status) return statusChange(now);
  if (before.binding !== now.binding) return { change: "revised", detail: argsText(now) };
  if (edit !== null && before.edit !== edit.argsDigest)
    return { change: "edited", detail: `${edit.by}: ${preview(edit.args)}` };
  if (editRefused !== null && !before.isRefused)
    return { change: "edit refused", detail: `${editRefused.rule}: ${editRefused.reason}` };
  const vote = now.votes.length > before.votes ? now.votes.at(-1) : undefined;
  if (vote !== undefined)
    return { change: "vote", detail: `${vote.by} ${vote.decision} (${countText(now)})` };
  // Without a vote, the stage or the deadline changed.
  if (before.stage !== now.stage) return { change: "escalated", detail: `stage ${stageCount(now)} is asked` };
  if (before.decideBy !== now.decideBy && now.decideBy !== null)
    return {
      change: "extended",
      detail: `${now.extensions.at(-1)?.by ?? ""}: until ${formatMoment(now.decideBy)}`,
    };
  const comment = comments.length > before.comments ? comments.at(-1) : undefined;
  return (
    comment && { change: "comment", detail: `${comment.by}: ${cut(comment.text, LONGEST_PREVIEW).text}` }
  );
}

function countText(now: Approval): string {
  const asked = stageCount(now);
  return `${votesNow(now).length}/${now.approvers.quorum}${asked === undefined ? "" : ` in stage ${asked}`}`;
}

/** For an approval by a workflow: the decision, not that it was consumed, and the last note. */
function statusChange(approval: Approval): Change {
  if (approval.status === "pending") return { change: "asked", detail: questionText(approval) };
  const { about, ended, decided, votes } = approval;
  const ending = about === "action" ? (ended ?? decided) : decided;
  const note = about === "action" ? null : votes.at(-1)?.note;
  const reason = ending?.reason || (note ?? "");
  const detail = `${ending?.by.join(", ") ?? ""}${reason === "" ? "" : `: ${reason}`}`;
  return { change: decisionWord(approval), detail };
}

/** For a checkpoint: its outputs, then the agent's statement. */
function questionText(approval: Approval): string {
  const { about, agent, rationale, reason } = approval;
  if (about === "question") return `${agent} asks: ${reason}`;
  if (about === "action" || rationale === null) return argsText(approval);
  return `${argsText(approval)} “${cut(rationale, LONGEST_PREVIEW).text}”`;
}

const argsText = ({ agent, args }: Approval): string => `${agent} ${preview(args)}`;

function preview(value: Json): string {
  const { text, left: rest } = cut(canonicalJson(value), LONGEST_PREVIEW);
  return rest === 0 ? text : `${text}… ${rest} more characters`;
}

function printChange({ terminal, json }: Context, approval: Approval, { change, detail }: Change): void {
  const at = formatMoment(Date.now());
  const { id, tool } = approval;
  const cells = [change, id, tool, detail].map(visible);
  if (json) terminal.json({ at, change, id, status: approval.status, tool, detail });
  else if (terminal.interactive) terminal.line(changeLine(terminal, at, cells));
  else terminal.line([at, ...cells].join("\t"));
}

function changeLine(terminal: Terminal, at: string, cells: readonly string[]): string {
  const [change = "", id = "", tool = "", detail = ""] = cells;
  const start = `${at.slice(11, 19)}Z  ${change.padEnd(LONGEST_CHANGE)}  ${id}  ${tool}`;
  const room = terminal.columns - start.length - 2;
  const isApart = room < Math.min(NARROWEST, detail.length);
  const words = terminal.strange(fit(detail, isApart ? terminal.columns - 10 : room));
  return `${start}${isApart ? `\n${" ".repeat(10)}` : "  "}${words}`;
}

async function pendingIds({ hp }: Context): Promise<readonly string[]> {
  const { items } = await readList(Number.POSITIVE_INFINITY, (cursor) => hp.approvals.list(cursor));
  return items.map(({ id }) => id);
}

/** Woken by commits of any process. */
async function watch(context: Context): Promise<void> {
  const { hp, terminal } = context;
  const interrupted = new AbortController();
  const stop = () => interrupted.abort();
  process.once("SIGINT", stop);
  const signal = AbortSignal.any([interrupted.signal, terminal.closed]);
  const seen = new Map<string, Remembered>();
  try {
    for await (const ids of hp.approvals.follow(signal)) {
      // The first turn is empty: nothing has been seen before it.
      for (const id of seen.size === 0 && ids.length === 0 ? await pendingIds(context) : ids) {
        const approval = await hp.approvals.get(id);
        const change = findChange(seen.get(id), approval);
        seen.set(id, remember(approval));
        if (change !== undefined) printChange(context, approval, change);
      }
      if (ids.length === 0 && terminal.interactive)
        terminal.line(terminal.paint("dim", `Watching ${visible(context.folder)}; Ctrl-C ends it.`));
    }
  } finally {
    process.removeListener("SIGINT", stop);
  }
}
