/** `holdpoint monitor` runs rules over the journal of other programs until Ctrl-C or SIGTERM. */
import type { Monitor } from "../alerts/monitor.ts";
import type { Holdpoint } from "../index.ts";
import { visible } from "../kernel/text.ts";
import { type Notice, noticeText } from "../runtime/notices.ts";
import { untilSignal } from "./operations.ts";
import { SEVERITY_TONES } from "./resources/notices.ts";
import { type Command, type Context, EXIT, whereFlags, word } from "./shell/command.ts";
import { locateStore } from "./shell/files.ts";
import { fold, formatMoment, pluralize } from "./shell/terminal.ts";

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
  const head = terminal.paint(isRaised ? SEVERITY_TONES[notice.severity] : "green", what);
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
  terminal.note("Ctrl-C ends it. Its position is kept, and the next start continues from there.");
}

async function watchMonitors(context: Context): Promise<number> {
  const until = untilSignal(context.terminal.closed);
  const notify = (notice: Notice) => printNotice(context, notice);
  const { where } = locateStore(context.values);
  const { holdpoint } = await import("../index.ts");
  const hp = holdpoint({ ...where, mode: "existing", agent: "monitor", notify });
  try {
    printStart(context, await startAll(context, hp));
    await until.signal;
  } finally {
    until.stop();
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
