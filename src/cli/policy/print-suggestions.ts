/** Suggestions on the terminal: what supports each, and what to paste. */

import { visible } from "../../kernel/text.ts";
import type { Suggestion } from "../../policy/backtest/rules/suggestions.ts";
import type { Suggestions } from "../../policy/backtest/suggest.ts";
import {
  dayRangeText,
  grantEffectText,
  headline,
  ruleEffectText,
  ruleLines,
  suggestedGrant,
} from "../../policy/backtest/suggestion-text.ts";
import type { Context } from "../command.ts";
import { fold } from "../measure.ts";
import { sectionsOn } from "../sections.ts";
import type { Style, Terminal } from "../terminal.ts";
import { whereFlags } from "../where-flags.ts";
import { grantLine } from "./grant-line.ts";

function supportWords(suggestion: Suggestion): string {
  const { people, days } = suggestion;
  const on = days === 1 ? "on" : `on ${days} days,`;
  return `${people.map(visible).join(", ")}; ${on} ${dayRangeText(suggestion)}`;
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

function print(terminal: Terminal, suggestion: Suggestions["suggestions"][number], where: string): void {
  const sections = sectionsOn(terminal, true);
  terminal.line();
  say(terminal, headline(suggestion), "", "bold");
  sections.field("decided by", supportWords(suggestion));
  sections.field("asked by", suggestion.askedBy.join(", "));
  if (suggestion.open.length > 0) sections.field("left open", `any ${suggestion.open.join(", ")}`);
  sections.field("back-test", backtestWords(suggestion));
  const grant = suggestedGrant(suggestion);
  say(terminal, `${grantEffectText(suggestion)}${grant === null ? "" : ":"}`, "  ");
  if (grant !== null) paste(terminal, [grantLine(grant, where)]);
  say(terminal, ruleEffectText(suggestion.asRule), "  ");
  paste(terminal, ruleLines(suggestion, suggestion.asRule));
}

export function printSuggestions(
  context: Context,
  { suggestions, asked, erased }: Suggestions,
  min: number,
): void {
  const { terminal } = context;
  for (const suggestion of suggestions) print(terminal, suggestion, whereFlags(context));
  if (suggestions.length > 0) terminal.line();
  const found = suggestions.length === 0 ? "Nothing is suggested" : `${suggestions.length} suggested`;
  const takes = `It takes ${min} approvals of one tool and agent, given on two days or by two people, and nothing rejected or changed among what it covers.`;
  say(terminal, `${found}, from ${asked} actions that people were asked about. ${takes}`);
  if (erased > 0) terminal.line(`${erased} erased bodies could not be looked at.`);
}
