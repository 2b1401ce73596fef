import type { MessagePage, MessageSummary } from "../index.ts";
import { visible } from "../kernel/text.ts";
import { MESSAGE_STATUSES } from "../notify/stream.ts";
import { type Command, type Context, EXIT, flag, word } from "./command.ts";
import { CommandError } from "./failure.ts";
import { DEFAULT_LIMIT, type Found, readLimit, readList } from "./read-list.ts";
import { messageId } from "./resolve-id.ts";
import { printTable } from "./table.ts";
import { moment, span } from "./times.ts";

const PARTS = ["list", "dead", "retry"];
const HEADS = ["ID", "AGE", "STATUS", "TRIED", "LAST", "TYPE", "TO"];

type Status = NonNullable<MessagePage["status"]>;

const read = ({ hp }: Context, status: Status, limit: number): Promise<Found<MessageSummary>> =>
  readList(limit, (cursor) => hp.messages.list({ status, ...cursor }));

const text = (item: MessageSummary, field: string): string => visible(String(item[field] ?? "-"));

/** What the last attempt came to: a status, or a word. */
function lastOf(item: MessageSummary): string {
  const last = item["last"] as { readonly status: number | null; readonly problem: string | null } | null;
  return last === null ? "-" : visible(last.problem ?? String(last.status ?? "-"));
}

const receiver = (item: MessageSummary): string =>
  item["to"] === null ? text(item, "endpoint") : `${text(item, "endpoint")} ${text(item, "to")}`;

function cellsForPeople(item: MessageSummary, now: number): readonly string[] {
  const age = span(now - Number(item["madeAt"]));
  const [status, attempts, type] = ["status", "attempts", "type"].map((field) => text(item, field));
  return [visible(item.id), age, status ?? "", attempts ?? "", lastOf(item), type ?? "", receiver(item)];
}

/** Columns as documented in the reference. */
function cellsForPipe(item: MessageSummary): readonly string[] {
  const due = item["dueAt"] === null ? "-" : moment(Number(item["dueAt"]));
  const made = moment(Number(item["madeAt"]));
  const cells = [visible(item.id), text(item, "status"), made, text(item, "attempts"), lastOf(item), due];
  return [...cells, text(item, "type"), text(item, "endpoint"), text(item, "to"), text(item, "reason")];
}

async function list(context: Context, status: Status): Promise<void> {
  const { terminal, now } = context;
  const { items, isAll } = await read(context, status, readLimit(context));
  if (context.json) {
    for (const item of items) terminal.json(item);
    return;
  }
  const say = terminal.interactive ? terminal.line : terminal.note;
  const rows = items.map((item) => (terminal.interactive ? cellsForPeople(item, now) : cellsForPipe(item)));
  if (rows.length === 0) say(status === "any" ? "There are no messages." : `No message is ${status}.`);
  else if (terminal.interactive) printTable(terminal, HEADS, rows);
  else for (const cells of rows) terminal.line(cells.join("\t"));
  if (!isAll) say(`… more (use --limit ${items.length * 2})`);
}

async function retry(context: Context): Promise<void> {
  const { hp, terminal, person: by } = context;
  const id = await messageId(context, word(context, 1));
  const message = await hp.messages.retry(id, { by });
  if (context.json) return terminal.json({ message });
  terminal.line(`It is tried again: ${id}, under the same id. A process that delivers sends it.`);
}

function usage(problem: string): CommandError {
  return new CommandError(
    "usage",
    problem,
    `There are: ${PARTS.join(", ")}. Try: holdpoint notifications --help`,
  );
}

function statusOf(context: Context): Status {
  const given = flag(context, "status") ?? "any";
  if (given === "any" || (MESSAGE_STATUSES as readonly string[]).includes(given)) return given as Status;
  throw new CommandError(
    "usage",
    `--status "${given}" is not a status.`,
    `Use ${MESSAGE_STATUSES.join(", ")} or any.`,
  );
}

export const notifications: Command = {
  name: "notifications",
  words: ["[list|dead|retry]", "[id]"],
  summary: "messages to the outside: newest first; `dead` lists those given up, `retry <id>` sends one again",
  details: [
    "In a pipe each line is tab-separated: id, status, made at, attempts, last status or problem, due at, type, endpoint, receiver, why it was given up.",
    "Messages are sent by a process that delivers; `holdpoint endpoints` says where to.",
  ],
  flags: {
    status: { value: "<status>", summary: "list: waiting, delivered, dead, dropped or any; any unless set" },
    limit: { value: "<n>", summary: `how many to show; ${DEFAULT_LIMIT} unless set` },
  },
  async run(context) {
    const [part = "list", id] = context.words;
    if (!PARTS.includes(part)) throw usage(`There is no "notifications ${visible(part)}".`);
    if (part === "retry" && id === undefined) throw usage("notifications retry needs the id of a message.");
    if (part !== "retry" && id !== undefined) throw usage(`"${visible(id)}" is one word too many.`);
    if (part !== "list" && flag(context, "status") !== undefined) throw usage("--status goes with list.");
    if (part === "retry") await retry(context);
    else await list(context, part === "dead" ? "dead" : statusOf(context));
    return EXIT.ok;
  },
};
