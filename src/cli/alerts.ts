import type { AlertStatus } from "../alerts/methods.ts";
import type { AlertSummary } from "../index.ts";
import { visible } from "../kernel/text.ts";
import { seenText } from "./alert-card.ts";
import { type Command, type Context, EXIT, flag, isOn, word } from "./command.ts";
import { CommandError } from "./failure.ts";
import { fit, hanging } from "./measure.ts";
import { DEFAULT_LIMIT, type Found, readLimit, readList } from "./read-list.ts";
import { alertId } from "./resolve-id.ts";
import { printTable } from "./table.ts";
import { moment, span } from "./times.ts";

const MOST_NAME = 28;
const HEADS = ["ID", "AGE", "SEVERITY", "SEEN BY", "RULE", "WHAT"];

const read = ({ hp }: Context, status: AlertStatus, limit: number): Promise<Found<AlertSummary>> =>
  readList(limit, (cursor) => hp.alerts.list({ status, ...cursor }));

const text = (item: AlertSummary, field: string): string => visible(String(item[field] ?? ""));
const what = (item: AlertSummary): string => `${text(item, "subject")}: ${text(item, "says")}`;
const rule = (item: AlertSummary): string => `${text(item, "monitor")}: ${text(item, "rule")}`;
const isOver = (item: AlertSummary): boolean => item["status"] === "cleared";

function cellsForPeople(item: AlertSummary, now: number): readonly string[] {
  return [
    visible(item.id),
    span(now - Number(item["raisedAt"])),
    isOver(item) ? "over" : text(item, "severity"),
    fit(text(item, "acknowledgedBy") || "-", MOST_NAME),
    fit(rule(item), MOST_NAME),
    what(item),
  ];
}

/** Columns as documented in the reference. */
function cellsForPipe(item: AlertSummary): readonly string[] {
  const [status, severity] = [text(item, "status"), text(item, "severity")];
  const raised = moment(Number(item["raisedAt"]));
  const cells = [visible(item.id), status, severity, raised, text(item, "acknowledgedBy") || "-"];
  return [...cells, text(item, "monitor"), text(item, "rule"), text(item, "subject"), text(item, "says")];
}

async function list(context: Context): Promise<void> {
  const { terminal, now } = context;
  const status = isOn(context, "all") ? "any" : "standing";
  const { items, isAll } = await read(context, status, readLimit(context));
  if (context.json) {
    for (const item of items) terminal.json(item);
    return;
  }
  const say = terminal.interactive ? terminal.line : terminal.note;
  const rows = items.map((item) => (terminal.interactive ? cellsForPeople(item, now) : cellsForPipe(item)));
  if (rows.length === 0) say(status === "any" ? "There were no alerts yet." : "No alert stands.");
  else if (terminal.interactive) printTable(terminal, HEADS, rows);
  else for (const cells of rows) terminal.line(cells.join("\t"));
  if (!isAll) say(`… more (use --limit ${items.length * 2})`);
}

async function acknowledge(context: Context): Promise<void> {
  const { hp, terminal, now, person: by } = context;
  const id = await alertId(context, word(context, 1));
  const note = flag(context, "note");
  const { acknowledged: before } = await hp.alerts.get(id);
  const alert = await hp.alerts.acknowledge(id, note === undefined ? { by } : { by, note });
  if (context.json) return terminal.json({ alert });
  const stands = alert.status === "standing" ? "It stands until what it is about is over." : "It is over.";
  const first = before ?? (alert.acknowledged?.by === by ? null : alert.acknowledged);
  const said =
    first === null ? `Seen: ${id}.` : `Seen already: ${id}, ${seenText(first, now)}. Nothing was written.`;
  terminal.line(hanging(`${said} ${stands}`, terminal).join("\n"));
}

function usage(problem: string): CommandError {
  return new CommandError("usage", problem, "Try: holdpoint alerts, or holdpoint alerts ack <id>");
}

export const alerts: Command = {
  name: "alerts",
  words: ["[ack]", "[id]"],
  summary: "what monitors have found: newest first, those that stand; `ack <id>` says that you have seen one",
  details: [
    "In a pipe each line is tab-separated: id, standing or cleared, severity, raised at, seen by, monitor, rule, subject, what it says.",
    "`holdpoint show <id>` shows one in full. An alert that has stopped a workflow is decided on with `holdpoint approvals`.",
  ],
  flags: {
    all: { summary: "also those that are over" },
    limit: { value: "<n>", summary: `how many to show; ${DEFAULT_LIMIT} unless set` },
    note: { value: "<text>", summary: "with ack: what you have to say to it" },
  },
  async run(context) {
    const [verb, id] = context.words;
    if (verb === undefined) {
      if (flag(context, "note") !== undefined) throw usage("--note goes with ack <id>.");
      await list(context);
      return EXIT.ok;
    }
    if (verb !== "ack") throw usage(`${JSON.stringify(verb)} is not ack.`);
    if (id === undefined) throw usage("alerts ack needs the id of an alert.");
    await acknowledge(context);
    return EXIT.ok;
  },
};
