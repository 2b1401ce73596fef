/** A suggestion as text to paste: a grant's command line, and a rule. */
import type { Suggestion } from "../../core/backtest/suggest.ts";
import { type Narrowing, otherTools, type SuggestedRule } from "../../core/backtest/suggested-rule.ts";
import { visible } from "../../core/visible.ts";
import type { TriedRule } from "../../engine/backtest/try-rules.ts";
import { moment } from "../times.ts";

/** One word for a POSIX shell, whatever is in it. */
export function shellWord(text: string): string {
  return /^[\w.:/@-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

const CURRENCY = /_(usd|eur|gbp|chf|jpy)$/;

/** Money that is bounded, where its name says which. */
function totalOf({ letThrough }: Suggestion): readonly string[] {
  const found = letThrough.sums.find(({ field }) => CURRENCY.test(field));
  const currency = CURRENCY.exec(found?.field ?? "")?.[1]?.toUpperCase();
  if (found === undefined || currency === undefined) return [];
  const cents = (Math.ceil(found.weekly * 100) / 100).toString();
  return ["--total", shellWord(`${cents} ${currency}`), "--amount", shellWord(found.path)];
}

const day = (at: number): string => moment(at).slice(0, 10);

/** `2026-05-04 to 2026-05-08`, or the one day. */
export const daysOf = ({ first, last }: Suggestion): string =>
  day(first) === day(last) ? day(first) : `${day(first)} to ${day(last)}`;

function reasonOf(suggestion: Suggestion): string {
  const { approved, people } = suggestion;
  const who = `${people.length} ${people.length === 1 ? "person" : "people"}`;
  return `approved ${approved} of ${approved} by ${who}, ${daysOf(suggestion)}`;
}

/** For a week, as often and as much as in the busiest one. `where`: the flags that name the store. */
export function grantLine(suggestion: Suggestion, where = ""): string {
  const { tool, agent, when, letThrough } = suggestion;
  const words = [
    ...["npx", "holdpoint", "grants", "give"],
    ...["--tool", shellWord(visible(tool)), "--agent", shellWord(visible(agent))],
    ...(when === "" ? [] : ["--when", shellWord(when)]),
    ...["--uses", String(letThrough.weekly), ...totalOf(suggestion)],
    ...["--for", "7d", "--reason", shellWord(reasonOf(suggestion))],
  ];
  return `${words.join(" ")}${where}`;
}

/** YAML's single quotes: nothing in them means anything else. */
const quoted = (text: string): string => `'${text.replaceAll("'", "''")}'`;

const inBrackets = (id: string, more: string): string =>
  `# in the rule ${visible(id)}: put its "when", if it has one, into brackets, and add  && ${more}`;

/** Without a place in the document that asked, nothing is there to be narrowed. */
function narrowLines({ rule, copy }: Narrowing, { tool, when }: SuggestedRule): readonly string[] {
  if (copy === null) return [inBrackets(rule, `!(${when})`)];
  return [
    inBrackets(rule, otherTools(tool)),
    `# after it, once more the rule ${visible(rule)} as it was, with  id: ${copy}  tool: ${quoted(visible(tool))}  and the same with  && !(${when})`,
  ];
}

/** The very rule that was tried, and what has to be narrowed for it. */
export function ruleLines(
  suggestion: Suggestion,
  { rule, narrowings }: Pick<TriedRule, "rule" | "narrowings">,
): readonly string[] {
  const { id, tool, when } = rule;
  return [
    `- id: ${id}`,
    `  tool: ${quoted(visible(tool))}`,
    `  when: ${quoted(when)}`,
    "  verdict: approve",
    `  reason: ${quoted(reasonOf(suggestion))}`,
    ...narrowings.flatMap((one) => narrowLines(one, rule)),
  ];
}
