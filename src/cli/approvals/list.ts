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
import { type FlagValues, listing, resourceCommand } from "../resource.ts";
import { type Command, type Context, EXIT, isOn, usage } from "../shell/command.ts";
import { DEFAULT_LIMIT, readList } from "../shell/lists.ts";
import { cut, fit, formatMoment, formatSpan, formatTimeLeft, type Terminal } from "../shell/terminal.ts";

function readChoice<Name extends string>(what: string, names: readonly Name[], given: unknown): Name {
  const found = names.find((name) => name === given);
  if (found !== undefined) return found;
  throw usage(`There is no ${what} "${given}".`, `There are: ${names.join(", ")}.`);
}

function readStatus({ all, status }: FlagValues): ListedStatus {
  if (all === undefined) return readChoice("status", LISTED_STATUSES, status ?? "pending");
  if (status === undefined) return "any";
  throw usage("--all and --status exclude each other.", "Leave one out.");
}

/** Pending ones oldest first, since they wait longest; others newest first. */
function readOrder({ order: given }: FlagValues, status: ListedStatus): ApprovalOrder {
  if (given === undefined) return status === "pending" ? "oldest" : "newest";
  const order = readChoice("order", APPROVAL_ORDERS, given);
  if (order === "deadline" && status !== "pending")
    throw usage("--order deadline is of what waits.", "Leave --status and --all out.");
  if (order === "decided" && (status === "pending" || status === "any"))
    throw usage("--order decided is of what was decided.", "Such as --status decided");
  return order;
}

function readQuery(given: FlagValues, { person }: Context): FlagValues {
  const status = readStatus(given);
  const query = { status, order: readOrder(given, status) };
  if (given["mine"] === undefined) return query;
  if (status !== "pending") throw usage("--mine is what waits for you.", "Leave --status and --all out.");
  return { ...query, person, mine: true };
}

/** Rows by an older process have no stage and no subject. */
const stageCell = ({ stage, stages = 1 }: ApprovalSummary) =>
  Number(stages) > 1 ? `${stage}/${stages}` : "-";

function askedCell({ from, stages = 1 }: ApprovalSummary): string {
  if (Array.isArray(from)) return from.join(", ").replaceAll("person:", "");
  return Number(stages) > 1 ? "any person" : "-";
}

/** Shows what happens at the deadline only if it is not the usual: that it expires. */
function deadlineCell(
  { status, decideBy, atDeadline = "expire", stage }: ApprovalSummary,
  now: number,
): string {
  if (status !== "pending" || typeof decideBy !== "number") return "-";
  const then = atDeadline === "extend" ? " → longer" : ` → stage ${Number(stage) + 1}`;
  return `${formatTimeLeft(decideBy, now)}${atDeadline === "expire" ? "" : then}`;
}

/** Visible text already. An older server sends none. */
const titleText = ({ title, tool }: ApprovalSummary): string =>
  typeof title === "string" ? title : visible(tool);
const titleCell = (item: ApprovalSummary) => ({ escaped: titleText(item) });
const questionCell = (item: ApprovalSummary) => ({
  escaped: `${titleText(item)}: ${visible(String(item.reason))}`,
});

/** For a question, its text and not its suggestion. A failed preview is marked as failed. */
function contentCell({ about, reason, args, preview, previewFailed }: ApprovalSummary) {
  if (about === "question") return String(reason);
  const failed = previewFailed === true ? "preview failed: " : "";
  return { escaped: `${args}${typeof preview === "string" ? ` → ${failed}${preview}` : ""}` };
}

/** What is asked, as visible text. */
export function contentText(item: ApprovalSummary): string {
  const content = contentCell(item);
  return typeof content === "string" ? visible(content) : visiblePreview(content.escaped);
}

const list = listing<ApprovalSummary>({
  flags: ["status", "all", "order", "mine", "limit"],
  query: readQuery,
  columns: [
    ["ID", ({ id }) => id],
    ["STATUS", ({ status }, _now, query) => (/any|decided/.test(String(query["status"])) ? status : "")],
    ["AGE", ({ requestedAt }, now) => formatSpan(now - Number(requestedAt))],
    ["STAGE", stageCell],
    ["VOTES", ({ votes, quorum, edit }) => `${votes}/${quorum}${edit === true ? "*" : ""}`],
    ["DEADLINE", deadlineCell],
    ["ASKED", askedCell],
    ["ABOUT", ({ about = "action" }) => about],
    ["AGENT", ({ agent }) => agent.replace(/^agent:/, "")],
    ["TITLE", (item) => (item.about === "question" ? questionCell(item) : titleCell(item))],
    ["ARGUMENTS", (item) => (item.about === "question" ? "-" : contentCell(item))],
  ],
  piped: [
    ...["ID", ({ status }: ApprovalSummary) => status],
    ({ requestedAt }) => ({ at: Number(requestedAt) }),
    "VOTES",
    ({ decideBy }) => ({ at: typeof decideBy === "number" ? decideBy : null }),
    ({ tool }) => tool,
    ({ agent }) => agent,
    contentCell,
    ...["ABOUT", "STAGE"],
    titleCell,
  ],
  givesWay: ["ARGUMENTS", "ABOUT", "STAGE", "ASKED", "AGE", "AGENT"],
  empty({ status, mine }) {
    if (mine === true) return "Nothing waits for your decision.";
    if (status === "pending") return "Nothing waits for a decision.";
    return status === "any" ? "There are no approvals yet." : `No approval is ${status}.`;
  },
  total: ({ hp }, { status, mine }) =>
    mine === true ? undefined : hp.approvals.count(status as ListedStatus),
});

const listed = resourceCommand({
  name: "approvals",
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
    watch: { summary: "print new requests and decisions until Ctrl-C" },
  },
  parts: { list },
});

export const approvalsCommand: Command = {
  ...listed,
  async run(context) {
    if (!isOn(context, "watch")) return listed.run(context);
    if (["status", "all", "mine", "order"].some((name) => isOn(context, name)))
      throw usage("--watch tells everything from now on.", "Leave --status, --all, --order and --mine out.");
    await watch(context);
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
