/**
 * `holdpoint alerts` lists and acknowledges alerts; `holdpoint monitor` runs rules over the journal of other programs
 * until Ctrl-C or SIGTERM. Columns as documented in the reference.
 */
import type { Alert, AlertStatus, AlertSummary } from "../alerts/contract.ts";
import type { Monitor } from "../alerts/monitor.ts";
import type { Holdpoint } from "../index.ts";
import { visible } from "../kernel/text.ts";
import { type Notice, noticeText } from "../runtime/notices.ts";
import { type Command, type Context, EXIT, flag, isOn, whereFlags, word } from "./shell/command.ts";
import { locateStore } from "./shell/files.ts";
import { DEFAULT_LIMIT, type ListResult, printList, readLimit, readList } from "./shell/lists.ts";
import { type Part, runPart } from "./shell/parse.ts";
import { resolveId } from "./shell/resolve-id.ts";
import { sectionsOn } from "./shell/sections.ts";
import {
  fit,
  fold,
  formatAgo,
  formatMoment,
  formatSpan,
  hanging,
  pluralize,
  type Style,
} from "./shell/terminal.ts";

const SEVERITY_STYLES: { readonly [severity in Alert["severity"]]: Style } = {
  info: "cyan",
  warning: "yellow",
  critical: "red",
};

/** Who acknowledged it first, and their note. */
function acknowledgedText({ by, note, at }: NonNullable<Alert["acknowledged"]>, now: number): string {
  return `${formatAgo(at, now)} by ${visible(by)}${note === null ? "" : `: ${visible(note)}`}`;
}

function nextCommands({ id, status, approval, acknowledged, workflow }: Alert): readonly string[] {
  return [
    ...(approval === null ? [] : [`show ${approval}`]),
    ...(acknowledged === null && status === "standing" ? [`alerts ack ${id}`] : []),
    ...(workflow === null ? [] : [`show ${workflow}`]),
  ];
}

export async function printAlert(context: Context, id: string): Promise<number> {
  const { terminal, hp, now, full } = context;
  const alert = await hp.alerts.get(id);
  if (context.json) {
    terminal.json({ alert });
    return EXIT.ok;
  }
  const isOver = alert.clearedAt !== null;
  const word = isOver ? "over" : alert.severity;
  const style = isOver ? "green" : SEVERITY_STYLES[alert.severity];
  terminal.line(`${terminal.paint("bold", `Alert ${id}`)}  ${terminal.paint(style, word)}`);
  const sections = sectionsOn(terminal, full);
  sections.heading("What was found");
  sections.field("about", alert.subject);
  sections.field("says", alert.says);
  sections.tree("figures", { ...alert.figures });
  sections.heading("By which rule");
  sections.field("monitor", alert.monitor);
  sections.field("rule", `${alert.rule}, of kind ${alert.kind}`);
  sections.field("severity", alert.severity);
  sections.heading("When");
  sections.field("raised", formatAgo(alert.raisedAt, now));
  sections.field("over", alert.clearedAt === null ? "not yet" : formatAgo(alert.clearedAt, now));
  sections.field(
    "seen",
    alert.acknowledged === null ? "by nobody yet" : acknowledgedText(alert.acknowledged, now),
  );
  const next = nextCommands(alert);
  if (next.length === 0) return EXIT.ok;
  sections.heading("Next");
  for (const line of next) terminal.line(`  npx holdpoint ${line}${whereFlags(context)}`);
  return EXIT.ok;
}

const MOST_NAME = 28;
const ALERT_HEADS = ["ID", "AGE", "SEVERITY", "SEEN BY", "RULE", "WHAT"];

const readAlerts = ({ hp }: Context, status: AlertStatus, limit: number): Promise<ListResult<AlertSummary>> =>
  readList(limit, (cursor) => hp.alerts.list({ status, ...cursor }));

const text = (item: AlertSummary, field: keyof AlertSummary): string => visible(String(item[field] ?? ""));
const what = (item: AlertSummary): string => `${text(item, "subject")}: ${text(item, "says")}`;
const rule = (item: AlertSummary): string => `${text(item, "monitor")}: ${text(item, "rule")}`;
const isOver = (item: AlertSummary): boolean => item["status"] === "cleared";

function alertCellsForPeople(item: AlertSummary, now: number): readonly string[] {
  return [
    visible(item.id),
    formatSpan(now - Number(item["raisedAt"])),
    isOver(item) ? "over" : text(item, "severity"),
    fit(text(item, "acknowledgedBy") || "-", MOST_NAME),
    fit(rule(item), MOST_NAME),
    what(item),
  ];
}

/** Columns as documented in the reference. */
function alertCellsForPipe(item: AlertSummary): readonly string[] {
  const [status, severity] = [text(item, "status"), text(item, "severity")];
  const raised = formatMoment(Number(item["raisedAt"]));
  const cells = [visible(item.id), status, severity, raised, text(item, "acknowledgedBy") || "-"];
  return [...cells, text(item, "monitor"), text(item, "rule"), text(item, "subject"), text(item, "says")];
}

async function listAlertsCommand(context: Context): Promise<number> {
  const status = isOn(context, "all") ? "any" : "standing";
  printList(context, await readAlerts(context, status, readLimit(context)), {
    heads: ALERT_HEADS,
    cells: (item) => alertCellsForPeople(item, context.now),
    piped: alertCellsForPipe,
    empty: status === "any" ? "There were no alerts yet." : "No alert stands.",
  });
  return EXIT.ok;
}

async function acknowledgeCommand(context: Context): Promise<number> {
  const { hp, terminal, now, person: by } = context;
  const id = await resolveId(context, "alr", word(context, 1));
  const note = flag(context, "note");
  const { acknowledged: before } = await hp.alerts.get(id);
  const alert = await hp.alerts.acknowledge(id, note === undefined ? { by } : { by, note });
  if (context.json) {
    terminal.json({ alert });
    return EXIT.ok;
  }
  const stands = alert.status === "standing" ? "It stands until what it is about is over." : "It is over.";
  const first = before ?? (alert.acknowledged?.by === by ? null : alert.acknowledged);
  const said =
    first === null
      ? `Seen: ${id}.`
      : `Seen already: ${id}, ${acknowledgedText(first, now)}. Nothing was written.`;
  terminal.line(hanging(`${said} ${stands}`, terminal).join("\n"));
  return EXIT.ok;
}

const PARTS = {
  list: { flags: ["all", "limit"], words: 0, run: listAlertsCommand },
  ack: { flags: ["note"], words: 1, word: "the id of an alert", run: acknowledgeCommand },
} as const satisfies { readonly [name: string]: Part };

export const alertsCommand: Command = {
  name: "alerts",
  words: ["[list|ack]", "[id]"],
  summary: "List alerts of monitors; acknowledge one",
  details: [
    "In a pipe each line is tab-separated: id, standing or cleared, severity, raised at, seen by, monitor, rule, subject, what it says.",
    "`holdpoint show <id>` shows one in full. An alert that has stopped a workflow is decided on with `holdpoint approvals`.",
  ],
  examples: ['holdpoint alerts ack alr_01K9ZQ --note "known"'],
  flags: {
    all: { summary: "also those that are over" },
    limit: { value: "<n>", summary: `how many to show; ${DEFAULT_LIMIT} unless set` },
    note: { value: "<text>", summary: "with ack: what you have to say to it" },
  },
  run: async (context) => runPart(context, "alerts", PARTS),
};

const SIGNALS = ["SIGINT", "SIGTERM"] as const;

type RaisedNotice = Extract<Notice, { kind: "alert" }>;
type ClearedNotice = Extract<Notice, { kind: "alert_cleared" }>;

const WIDEST = "critical".length;

/** Columns as documented in the reference. */
function noticeCellsForPipe(notice: RaisedNotice | ClearedNotice, at: number): readonly string[] {
  const about = [notice.alert, notice.monitor, notice.rule, notice.subject];
  const rest = notice.kind === "alert" ? [notice.says, notice.approval ?? "-"] : ["-", "-"];
  const head = notice.kind === "alert" ? ["raised", notice.severity] : ["cleared", "-"];
  return [formatMoment(at), ...head, ...about, ...rest].map(visible);
}

function printNoticeForPeople(context: Context, notice: RaisedNotice | ClearedNotice, at: number): void {
  const { terminal } = context;
  const isRaised = notice.kind === "alert";
  const what = (isRaised ? notice.severity : "over").padEnd(WIDEST);
  const head = terminal.paint(isRaised ? SEVERITY_STYLES[notice.severity] : "green", what);
  terminal.line(`${formatMoment(at)}  ${head}  ${visible(notice.monitor)}: ${visible(notice.rule)}`);
  const said = isRaised ? `: ${visible(notice.says)}` : "";
  for (const line of fold(`${visible(notice.subject)}${said}`, terminal.columns - 2))
    terminal.line(`  ${terminal.strange(line)}`);
  if (!isRaised) return;
  const where = whereFlags(context);
  if (notice.approval === null) terminal.line(`  npx holdpoint show ${notice.alert}${where}`);
  else terminal.line(`  It was stopped; decide: npx holdpoint show ${notice.approval}${where}`);
}

function printNotice(context: Context, notice: Notice): void {
  const { terminal, json } = context;
  if (notice.kind === "maintenance_failed") {
    terminal.note(`holdpoint: ${noticeText(notice)}`);
    return;
  }
  if (notice.kind !== "alert" && notice.kind !== "alert_cleared") return;
  const at = Date.now();
  if (json) terminal.json({ at, ...notice });
  else if (terminal.interactive) printNoticeForPeople(context, notice, at);
  else terminal.line(noticeCellsForPipe(notice, at).join("\t"));
}

/** Until a signal, or until standard output is closed. */
function untilSignal(context: Context): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  for (const name of SIGNALS) process.once(name, () => resolve());
  context.terminal.closed.addEventListener("abort", () => resolve(), { once: true });
  if (context.terminal.closed.aborted) resolve();
  return promise;
}

type StartedMonitor = { readonly monitor: Monitor; readonly rules: number };

async function startAll(context: Context, hp: Holdpoint): Promise<readonly StartedMonitor[]> {
  const started: StartedMonitor[] = [];
  const { loadMonitors } = await import("./load-monitor.ts");
  const { admin } = await import("../admin.ts");
  for (const options of await loadMonitors(context, word(context)))
    started.push({ monitor: await admin(hp).monitor(options), rules: options.rules.length });
  return started;
}

function printStart({ terminal, folder }: Context, started: readonly StartedMonitor[]): void {
  for (const { monitor, rules } of started)
    terminal.note(`Watching ${visible(folder)} as ${visible(monitor.name)}, by ${pluralize(rules, "rule")}.`);
  terminal.note("Ctrl-C ends it. Where it stands is kept, and the next start goes on from there.");
}

async function watchMonitors(context: Context): Promise<number> {
  const told = untilSignal(context);
  const notify = (notice: Notice) => printNotice(context, notice);
  const { where } = locateStore(context.values);
  const { holdpoint } = await import("../index.ts");
  const hp = holdpoint({ ...where, mode: "existing", agent: "monitor", notify });
  try {
    printStart(context, await startAll(context, hp));
    await told;
  } finally {
    await hp.close();
  }
  return EXIT.ok;
}

export const monitor: Command = {
  name: "monitor",
  words: ["<file>"],
  summary: "Watch the journal by the rules of a file and raise alerts",
  details: [
    "The file is YAML, { monitor: <name>, rules: [{ kind: silence, name: hangs, for: 10m }] }, or a module whose default export is what monitor of holdpoint/admin takes: only there a rule can be a function.",
    "What it raises is told here, and listed by `holdpoint alerts`. Several that run under the same name are one monitor: each alert is told by one of them.",
    "In a pipe each line is tab-separated: time, raised or cleared, severity, alert, monitor, rule, subject, what it says, the approval of the checkpoint that it raised or -.",
  ],
  examples: ["holdpoint monitor monitors.ts"],
  onlyHere: "it watches in this process",
  flags: {},
  run: watchMonitors,
};
