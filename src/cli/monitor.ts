/** `holdpoint monitor`: rules over the journal of programs that run elsewhere, until Ctrl-C or SIGTERM. */

import type { Holdpoint, Monitor, Notice } from "../index.ts";
import { visible } from "../kernel/text.ts";
import { noticeText } from "../runtime/notices.ts";
import { SEVERITY_STYLES } from "./alert-card.ts";
import { type Command, type Context, EXIT, word } from "./command.ts";
import { counted } from "./counted.ts";
import { fold } from "./measure.ts";
import { placeOf } from "./open-store.ts";
import { moment } from "./times.ts";
import { whereFlags } from "./where-flags.ts";

const SIGNALS = ["SIGINT", "SIGTERM"] as const;

type Raised = Extract<Notice, { kind: "alert" }>;
type Cleared = Extract<Notice, { kind: "alert_cleared" }>;

const WIDEST = "critical".length;

/** Columns as documented in the reference. */
function cellsForPipe(notice: Raised | Cleared, at: number): readonly string[] {
  const about = [notice.alert, notice.monitor, notice.rule, notice.subject];
  const rest = notice.kind === "alert" ? [notice.says, notice.approval ?? "-"] : ["-", "-"];
  const head = notice.kind === "alert" ? ["raised", notice.severity] : ["cleared", "-"];
  return [moment(at), ...head, ...about, ...rest].map(visible);
}

function tellPerson(context: Context, notice: Raised | Cleared, at: number): void {
  const { terminal } = context;
  const isRaised = notice.kind === "alert";
  const what = (isRaised ? notice.severity : "over").padEnd(WIDEST);
  const head = terminal.paint(isRaised ? SEVERITY_STYLES[notice.severity] : "green", what);
  terminal.line(`${moment(at)}  ${head}  ${visible(notice.monitor)}: ${visible(notice.rule)}`);
  const said = isRaised ? `: ${visible(notice.says)}` : "";
  for (const line of fold(`${visible(notice.subject)}${said}`, terminal.columns - 2))
    terminal.line(`  ${terminal.strange(line)}`);
  if (!isRaised) return;
  const where = whereFlags(context);
  if (notice.approval === null) terminal.line(`  npx holdpoint show ${notice.alert}${where}`);
  else terminal.line(`  It was stopped; decide: npx holdpoint show ${notice.approval}${where}`);
}

function tell(context: Context, notice: Notice): void {
  const { terminal, json } = context;
  if (notice.kind === "maintenance_failed") {
    terminal.note(`holdpoint: ${noticeText(notice)}`);
    return;
  }
  if (notice.kind !== "alert" && notice.kind !== "alert_cleared") return;
  const at = Date.now();
  if (json) terminal.json({ at, ...notice });
  else if (terminal.interactive) tellPerson(context, notice, at);
  else terminal.line(cellsForPipe(notice, at).join("\t"));
}

/** Until somebody ends it, or nobody reads what is printed. */
function untilTold(context: Context): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  for (const name of SIGNALS) process.once(name, () => resolve());
  context.terminal.closed.addEventListener("abort", () => resolve(), { once: true });
  if (context.terminal.closed.aborted) resolve();
  return promise;
}

type Started = { readonly monitor: Monitor; readonly rules: number };

async function startAll(context: Context, hp: Holdpoint): Promise<readonly Started[]> {
  const started: Started[] = [];
  const { loadMonitors } = await import("./load-monitor.ts");
  for (const options of await loadMonitors(context, word(context)))
    started.push({ monitor: await hp.monitor(options), rules: options.rules.length });
  return started;
}

function printStart({ terminal, folder }: Context, started: readonly Started[]): void {
  for (const { monitor, rules } of started)
    terminal.note(`Watching ${visible(folder)} as ${visible(monitor.name)}, by ${counted(rules, "rule")}.`);
  terminal.note("Ctrl-C ends it. Where it stands is kept, and the next start goes on from there.");
}

async function watch(context: Context): Promise<number> {
  const told = untilTold(context);
  const notify = (notice: Notice) => tell(context, notice);
  const { where } = placeOf(context.values);
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
  summary: "watch the journal of other programs by the rules of a file, and raise alerts, until Ctrl-C",
  details: [
    "The file is YAML, { monitor: <name>, rules: [{ kind: silence, name: hangs, for: 10m }] }, or a module whose default export is what hp.monitor takes: only there a rule can be a function.",
    "What it raises is told here, and listed by `holdpoint alerts`. Several that run under the same name are one monitor: each alert is told by one of them.",
    "In a pipe each line is tab-separated: time, raised or cleared, severity, alert, monitor, rule, subject, what it says, the approval of the checkpoint that it raised or -.",
  ],
  onlyHere: "it watches in this process",
  flags: {},
  run: watch,
};
