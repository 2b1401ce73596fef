/**
 * Output of `holdpoint policy backtest`, `suggest` and `show`: the most dangerous changes first; each suggestion in a
 * sentence with its evidence, and in full with a rule and a command line to paste; a stored document as YAML, every line
 * made visible.
 */

import { moneyText } from "../../kernel/money.ts";
import { visible } from "../../kernel/text.ts";
import {
  type BacktestReport,
  moneyListText,
  type PeopleRow,
  type PersonDecision,
  type PolicySide,
  plainMicros,
  type Transition,
  type VerdictChange,
} from "../../policy/backtest/rules/answers.ts";
import { dayRangeText } from "../../policy/backtest/suggest.ts";
import type { DescribedSuggestion, SuggestedGrant, Suggestions } from "../../policy/contract.ts";
import { policyYaml } from "../../policy/yaml.ts";
import { type Context, EXIT, shellQuote, whereFlags, word } from "../shell/command.ts";
import { sectionsOn } from "../shell/sections.ts";
import { fold, formatAgo, formatMoment, pluralize, type Style, type Terminal } from "../shell/terminal.ts";
import { programText, shortDigest, untilText } from "./words.ts";

function sayPainted(terminal: Terminal, style: Style, line: string): void {
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
    `${action}  ${formatMoment(at)}  ${visible(tool)} by ${visible(agent)}${money}${sum}`,
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

const transitionWords = ({ sums }: Transition): string => (sums.length === 0 ? "" : `  (${sums.join("; ")})`);

function printMissing(terminal: Terminal, { missing, limited, byCode }: BacktestReport): void {
  const { erased, gone, unreviewed, partHistory, beside, decisions } = missing;
  const lines = [
    [limited, "refused by limits of the supervised run itself, which no policy can change"],
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
  const time = since === null ? "" : ` since ${formatMoment(since)}`;
  for (const line of people.flatMap(dangerLines)) sayPainted(terminal, ["red", "bold"], `! ${line}`);
  printChanges(terminal, report.dangers, leftOff.dangers, field);
  if (report.dangers.length > 0) terminal.line();
  terminal.line(
    `${terminal.paint("bold", visible(policy.name))} ${shortDigest(policy.digest)} on ${pluralize(actions, "action")}${time}: ${compared} compared, ${terminal.paint(changed === 0 ? "green" : "yellow", `${changed} would change`)}`,
  );
  printMissing(terminal, report);
  for (const row of transitions)
    sayPainted(terminal, [], `  ${row.count}  ${row.from} → ${row.to}${transitionWords(row)}`);
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

const DAY_MS = 86_400_000;

function limitWords({ total, amount }: SuggestedGrant): readonly string[] {
  if (total === undefined || amount === undefined) return [];
  return ["--total", shellQuote(moneyText(total)), "--amount", shellQuote(amount)];
}

/** `where`: flags that locate the store. */
function grantLine(offer: SuggestedGrant, where: string): string {
  const { tool, agent, when, uses, forMs, reason } = offer;
  const words = [
    ...["npx", "holdpoint", "grants", "give"],
    ...["--tool", shellQuote(visible(tool)), "--agent", shellQuote(visible(agent))],
    ...(when === undefined ? [] : ["--when", shellQuote(when)]),
    ...["--uses", String(uses), ...limitWords(offer)],
    ...["--for", `${forMs / DAY_MS}d`, "--reason", shellQuote(reason)],
  ];
  return `${words.join(" ")}${where}`;
}

function supportWords(suggestion: DescribedSuggestion): string {
  const { people, days } = suggestion;
  const on = days === 1 ? "on" : `on ${days} days,`;
  return `${people.map(visible).join(", ")}; ${on} ${dayRangeText(suggestion)}`;
}

function backtestWords({ letThrough, keptOut }: DescribedSuggestion): string {
  const { total, undecided, sums } = letThrough;
  const sum = sums.map((one) => `, ${visible(one.field)} ${one.sum} in all`).join("");
  const open = undecided === 0 ? "" : `, ${undecided} of which nobody had decided`;
  return `${total} would not have been asked about${sum}${open}; of ${keptOut} that people rejected or changed, none`;
}

/** To be copied, so neither folded nor escaped. Suggestions contain only visible text. */
function paste(terminal: Terminal, lines: readonly string[]): void {
  for (const line of lines) terminal.line(`  ${terminal.paint("cyan", line)}`);
}

function sayFolded(terminal: Terminal, text: string, indent = "", style: Style = []): void {
  const lines = terminal.interactive ? fold(text, terminal.columns - indent.length) : [text];
  for (const line of lines) terminal.line(indent + terminal.paint(style, line.trimEnd()));
}

/** In full also the expressions behind it, to paste. */
function print(context: Context, suggestion: DescribedSuggestion): void {
  const { terminal } = context;
  const { headline, askedBy, asRule, asGrant } = suggestion;
  const sections = sectionsOn(terminal, true);
  terminal.line();
  sayFolded(terminal, headline, "", "bold");
  sections.field("decided by", supportWords(suggestion));
  sections.field("asked by", askedBy.join(", "));
  sections.field("back-test", backtestWords(suggestion));
  if (!context.full) return;
  const { offer, summary } = asGrant;
  sayFolded(terminal, offer === null ? summary : summary.replace(/\.$/, ":"), "  ");
  if (offer !== null) paste(terminal, [grantLine(offer, whereFlags(context))]);
  sayFolded(terminal, asRule.summary, "  ");
  paste(terminal, asRule.text.trimEnd().split("\n"));
}

export function printSuggestions(
  context: Context,
  { suggestions, asked, erased }: Suggestions,
  min: number,
): void {
  const { terminal } = context;
  for (const suggestion of suggestions) print(context, suggestion);
  if (suggestions.length > 0) terminal.line();
  const found = suggestions.length === 0 ? "Nothing is suggested" : `${suggestions.length} suggested`;
  const takes = `It takes ${min} approvals of one tool and agent, given on two days or by two people, and nothing rejected or changed among what it covers.`;
  sayFolded(terminal, `${found}, from ${asked} actions that people were asked about. ${takes}`);
  if (suggestions.length > 0 && !context.full)
    terminal.line("--full prints each as a standing grant and as a rule, to paste.");
  if (erased > 0) terminal.line(`${erased} erased bodies could not be looked at.`);
}

/** The document as YAML, with every line made visible, so that no text can pass for something else. */
export function documentLines(document: unknown): readonly string[] {
  return policyYaml(document).trimEnd().split("\n").map(visible);
}

export async function runShow(context: Context): Promise<number> {
  const { terminal, hp, now } = context;
  const kept = await hp.policies.get(word(context));
  if (context.json) {
    const { text: _text, ...version } = kept;
    terminal.json(version);
    return EXIT.ok;
  }
  const { name, digest, at, by, source, programs, document } = kept;
  const sections = sectionsOn(terminal, true);
  sections.field("policy", name);
  sections.field("digest", digest);
  sections.field("since", formatAgo(at, now));
  sections.field("until", untilText(kept, now));
  sections.field("by", `${by}, from ${source}`);
  if (programs.length > 0) sections.field("program", programText(kept));
  sections.heading("Document");
  sections.block(documentLines(document));
  return EXIT.ok;
}
