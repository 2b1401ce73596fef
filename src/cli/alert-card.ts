/** An alert as people read it: what was found, by which rule, who has seen it, and what can be done about it. */

import type { Alert } from "../index.ts";
import { visible } from "../kernel/text.ts";
import { type Context, EXIT } from "./command.ts";
import { sectionsOn } from "./sections.ts";
import type { Style } from "./terminal.ts";
import { ago } from "./times.ts";
import { whereFlags } from "./where-flags.ts";

export const SEVERITY_STYLES: { readonly [severity in Alert["severity"]]: Style } = {
  info: "cyan",
  warning: "yellow",
  critical: "red",
};

/** Who has seen it first, and what they said to it. */
export function seenText({ by, note, at }: NonNullable<Alert["acknowledged"]>, now: number): string {
  return `${ago(at, now)} by ${visible(by)}${note === null ? "" : `: ${visible(note)}`}`;
}

function nextOf({ id, status, approval, acknowledged, workflow }: Alert): readonly string[] {
  return [
    ...(approval === null ? [] : [`show ${approval}`]),
    ...(acknowledged === null && status === "standing" ? [`alerts ack ${id}`] : []),
    ...(workflow === null ? [] : [`show ${workflow}`]),
  ];
}

export async function showAlert(context: Context, id: string): Promise<number> {
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
  sections.field("raised", ago(alert.raisedAt, now));
  sections.field("over", alert.clearedAt === null ? "not yet" : ago(alert.clearedAt, now));
  sections.field("seen", alert.acknowledged === null ? "by nobody yet" : seenText(alert.acknowledged, now));
  const next = nextOf(alert);
  if (next.length === 0) return EXIT.ok;
  sections.heading("Next");
  for (const line of next) terminal.line(`  npx holdpoint ${line}${whereFlags(context)}`);
  return EXIT.ok;
}
