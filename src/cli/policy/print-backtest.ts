/** What a back-test found, for people: the most dangerous first. */

import { visible } from "../../kernel/text.ts";
import type { PersonDecision } from "../../policy/backtest/rules/replay-state.ts";
import type {
  BacktestReport,
  PeopleRow,
  PolicySide,
  Transition,
  VerdictChange,
} from "../../policy/backtest/rules/report.ts";
import { moneyListText, plainMicros, sumsText } from "../../policy/backtest/trial-report.ts";
import { fold } from "../measure.ts";
import type { Style, Terminal } from "../terminal.ts";
import { moment } from "../times.ts";

const SHORT = 12;

const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? "" : "s"}`;

function say(terminal: Terminal, style: Style, line: string): void {
  for (const part of fold(line, terminal.columns)) terminal.line(terminal.paint(style, part));
}

function dangerLines({ decision, total, approve, alike, editBlocked }: PeopleRow): readonly string[] {
  const through = approve - alike;
  if (decision === "rejected" && through > 0)
    return [`People rejected ${total}; this policy would let ${through} of them through without asking.`];
  if (decision !== "edited") return [];
  const lines: string[] = [];
  if (through > 0)
    lines.push(
      `People changed ${total}; this policy would let ${through} of them through without asking, not as people had changed them.`,
    );
  if (editBlocked > 0)
    lines.push(`People changed ${total}; this policy would refuse what they made of ${editBlocked} of them.`);
  return lines;
}

const PAST: { readonly [decision in PersonDecision]: string } = {
  rejected: "rejected",
  edited: "changed",
  approved: "approved",
  expired: "left undecided until it expired",
  cancelled: "withdrew",
};

function peopleLine({ decision, total, approve, escalate, block }: PeopleRow): string {
  const would = `let ${approve} through, ask about ${escalate}, block ${block}`;
  return `  ${PAST[decision]} ${total}: it would ${would}`;
}

function sideLine(head: string, { verdict, rule, reason, revised, asks }: PolicySide): string {
  const said = reason === "" ? "" : `: ${visible(reason)}`;
  const whom = asks === undefined ? "" : `; asks ${visible(asks)}`;
  return `  ${head} ${verdict}${revised ? ", revised" : ""}  [${visible(rule)}]${said}${whom}`;
}

function personLine({ person }: VerdictChange): readonly string[] {
  if (person === null) return [];
  const who = person.by.length === 0 ? "nobody" : person.by.map(visible).join(", ");
  const reason = person.reason === "" ? "" : `: ${visible(person.reason)}`;
  return [`  people ${PAST[person.decision]} it (${who})${reason}`];
}

function changeLines(change: VerdictChange, amount: string | undefined): readonly string[] {
  const { action, at, tool, agent, from, to, costs, edit } = change;
  const money = costs === null || costs.length === 0 ? "" : `  ${moneyListText(costs)}`;
  const sum =
    change.amount === null || amount === undefined
      ? ""
      : `  ${visible(amount)} ${plainMicros(change.amount)}`;
  return [
    `${action}  ${moment(at)}  ${visible(tool)} by ${visible(agent)}${money}${sum}`,
    sideLine("was", from),
    sideLine("now", to),
    ...personLine(change),
    ...(edit === null ? [] : [sideLine("of what people made of it:", edit)]),
  ];
}

function printChanges(
  terminal: Terminal,
  changes: readonly VerdictChange[],
  left: number,
  amount: string | undefined,
): void {
  for (const change of changes)
    for (const [at, line] of changeLines(change, amount).entries())
      for (const part of fold(line, terminal.columns))
        terminal.line(at === 0 ? terminal.paint("bold", part) : terminal.strange(part));
  if (left > 0) terminal.line(`… ${left} more (use --limit ${changes.length + left})`);
}

function transitionWords(row: Transition, field: string | undefined): string {
  const words = sumsText(row, field);
  return words.length === 0 ? "" : `  (${words.join("; ")})`;
}

function printMissing(terminal: Terminal, { missing, limited, byCode }: BacktestReport): void {
  const { erased, gone, unreviewed, partHistory, beside, decisions } = missing;
  const lines = [
    [limited, "refused by limits of the supervised run itself, which hold whatever a policy says"],
    [byCode, "decided by code beside the documents, which cannot be judged again and is taken as it was"],
    [erased, "could not be replayed: what was proposed or said of it was erased"],
    [gone, "could not be replayed: the arguments were kept apart and are gone"],
    [unreviewed, "had not come before any policy: held, a duplicate, or withdrawn first"],
    [partHistory, "compared with part of the workflow's history erased: the answer may be another"],
    [
      beside,
      "compared without a document that was asked beside this one, and is gone or only a program can ask",
    ],
    [decisions, "of people's questions or edits could not be read any more"],
  ] as const;
  for (const [count, what] of lines) if (count > 0) terminal.line(`  ${count} ${what}`);
}

export function printBacktest(terminal: Terminal, report: BacktestReport, field: string | undefined): void {
  const { policy, since, actions, compared, changed, transitions, people, leftOff } = report;
  const time = since === null ? "" : ` since ${moment(since)}`;
  for (const line of people.flatMap(dangerLines)) say(terminal, ["red", "bold"], `! ${line}`);
  printChanges(terminal, report.dangers, leftOff.dangers, field);
  if (report.dangers.length > 0) terminal.line();
  terminal.line(
    `${terminal.paint("bold", visible(policy.name))} ${policy.digest.slice(0, SHORT)} on ${counted(actions, "action")}${time}: ${compared} compared, ${terminal.paint(changed === 0 ? "green" : "yellow", `${changed} would change`)}`,
  );
  printMissing(terminal, report);
  for (const row of transitions)
    say(terminal, [], `  ${row.count}  ${row.from} → ${row.to}${transitionWords(row, field)}`);
  if (people.length > 0) {
    terminal.line();
    terminal.line(terminal.paint("bold", "What people decided"));
    for (const row of people) terminal.line(peopleLine(row));
  }
  if (report.changes.length === 0) return;
  terminal.line();
  terminal.line(terminal.paint("bold", "What would change"));
  printChanges(terminal, report.changes, leftOff.changes, field);
}
