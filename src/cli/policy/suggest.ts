import type { Suggestion } from "../../core/backtest/suggest.ts";
import { visible } from "../../core/visible.ts";
import type { TriedRule } from "../../engine/backtest/try-rules.ts";
import { DEFAULT_MIN } from "../../engine/limits.ts";
import type { Suggestions } from "../../engine/suggest-rules.ts";
import { type Command, type Context, EXIT } from "../command.ts";
import { fold } from "../measure.ts";
import { sectionsOn } from "../sections.ts";
import type { Style, Terminal } from "../terminal.ts";
import { whereFlags } from "../where-flags.ts";
import { countOf, SINCE, sinceOf } from "./since.ts";
import { daysOf, grantLine, ruleLines } from "./suggested-text.ts";

function headline({ tool, agent, when, approved }: Suggestion): string {
  const what = when === "" ? "" : ` with ${when}`;
  return `${visible(tool)} by ${visible(agent)}${what}: approved ${approved} of ${approved}, never changed`;
}

function supportWords(suggestion: Suggestion): string {
  const { people, days } = suggestion;
  const on = days === 1 ? "on" : `on ${days} days,`;
  return `${people.map(visible).join(", ")}; ${on} ${daysOf(suggestion)}`;
}

function backtestWords({ letThrough, keptOut }: Suggestion): string {
  const { total, undecided, sums } = letThrough;
  const sum = sums.map((one) => `, ${visible(one.field)} ${one.sum} in all`).join("");
  const open = undecided === 0 ? "" : `, ${undecided} of which nobody had decided`;
  return `${total} would not have been asked about${sum}${open}; of ${keptOut} that people rejected or changed, none`;
}

/** To be copied, so neither folded nor marked. Suggestions are made only about what can be seen as it is. */
function paste(terminal: Terminal, lines: readonly string[]): void {
  for (const line of lines) terminal.line(`  ${terminal.paint("cyan", line)}`);
}

function say(terminal: Terminal, text: string, indent = "", style: Style = []): void {
  const lines = terminal.interactive ? fold(text, terminal.columns - indent.length) : [text];
  for (const line of lines) terminal.line(indent + terminal.paint(style, line.trimEnd()));
}

/** A grant is one person's word: it answers nothing that several are asked about. */
function grantWords({ letThrough: { ofSeveral, weekly, total } }: Suggestion): string {
  const several = "ask several people, by a quorum or in stages";
  if (weekly === 0)
    return `No grant answers these: they ${several}, and a grant is one person's. To grant them, a rule that asks one person has to come first.`;
  const some = ofSeveral === 0 ? "" : `; not for ${ofSeveral} of the ${total}, which ${several}`;
  return `As a grant, which ends by itself and can be taken back${some}:`;
}

const STILL: Readonly<Record<string, string>> = {
  code: "code of the program, which no rule outranks",
  unknown: "a policy that cannot be asked any more",
  unusable: "a policy that is not usable with this rule in it",
};

/** The rule's own back-test: what asks beside rules goes on asking. */
function ruleWords({ total, letThrough, stillAsked }: TriedRule): string {
  if (stillAsked.length === 0)
    return `As a rule, with the rules that asked narrowed: all ${total} would not have been asked about.`;
  const who = stillAsked.map(({ by, count }) => `${count} by ${STILL[by] ?? visible(by)}`).join(", ");
  const risk = stillAsked.some(({ by }) => by.startsWith("risk:"))
    ? " A route of the risk outranks an approve rule: its conditions would have to be narrowed."
    : "";
  if (letThrough === 0)
    return `As a rule it answers none of them by itself: people would still be asked about ${who}.${risk}`;
  return `As a rule, with the rules that asked narrowed: ${letThrough} of ${total} would not have been asked about; people would still be asked about ${who}.${risk}`;
}

function print(terminal: Terminal, suggestion: Suggestions["suggestions"][number], where: string): void {
  const sections = sectionsOn(terminal, true);
  terminal.line();
  say(terminal, headline(suggestion), "", "bold");
  sections.field("decided by", supportWords(suggestion));
  sections.field("asked by", suggestion.askedBy.join(", "));
  if (suggestion.open.length > 0) sections.field("left open", `any ${suggestion.open.join(", ")}`);
  sections.field("back-test", backtestWords(suggestion));
  say(terminal, grantWords(suggestion), "  ");
  if (suggestion.letThrough.weekly > 0) paste(terminal, [grantLine(suggestion, where)]);
  say(terminal, ruleWords(suggestion.asRule), "  ");
  paste(terminal, ruleLines(suggestion, suggestion.asRule));
}

function printAll(context: Context, { suggestions, asked, erased }: Suggestions, min: number): void {
  const { terminal } = context;
  for (const suggestion of suggestions) print(terminal, suggestion, whereFlags(context));
  if (suggestions.length > 0) terminal.line();
  const found = suggestions.length === 0 ? "Nothing is suggested" : `${suggestions.length} suggested`;
  const takes = `It takes ${min} approvals of one tool and agent, given on two days or by two people, and nothing rejected or changed among what it covers.`;
  say(terminal, `${found}, from ${asked} actions that people were asked about. ${takes}`);
  if (erased > 0) terminal.line(`${erased} erased bodies could not be looked at.`);
}

export const policySuggest: Command = {
  name: "policy suggest",
  words: [],
  summary: "rules and grants that people's decisions support, each with what it would have let through",
  details: [
    "Grouped by tool and agent, and as narrow as what was approved: numbers between the lowest and the highest, and below everything that was not; texts among those that were; no other arguments. What is too different each time is left open, and named.",
  ],
  onlyHere: "it goes over the whole journal",
  flags: {
    since: SINCE,
    min: { value: "<n>", summary: `how many approvals a suggestion takes; ${DEFAULT_MIN} unless set` },
  },
  async run(context) {
    const { terminal, hp } = context;
    const min = countOf(context, "min", 1) ?? DEFAULT_MIN;
    const found = await hp.policies.suggest({
      ...sinceOf(context),
      min,
      progress: (done, total) =>
        terminal.progress(`${Math.floor((done / Math.max(1, total)) * 100)} % of the journal …`),
    });
    terminal.progress(null);
    if (context.json) terminal.json(found);
    else printAll(context, found, min);
    return EXIT.ok;
  },
};
