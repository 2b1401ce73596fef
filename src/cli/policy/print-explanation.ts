/** An explanation for people: rule by rule, then what came of it. */

import { canonicalJson } from "../../kernel/canonical-json.ts";
import { visible, visiblePreview } from "../../kernel/text.ts";
import {
  type ExplainedRound,
  type ExplainedRule,
  type Explanation,
  type ExplanationContext,
  explainNotes,
  type SeenValue,
} from "../../policy/backtest/rules/explain.ts";
import type { PolicyInput, Verdict } from "../../policy/rules/verdict.ts";

import type { Context } from "../command.ts";
import { cut, missing } from "../measure.ts";
import { type Sections, sectionsOn } from "../sections.ts";
import { moment } from "../times.ts";

export type Explained = Explanation &
  Omit<ExplanationContext, "count"> & {
    readonly policy: { readonly name: string; readonly digest: string };
    readonly input: PolicyInput;
  };

/** Which of how many policies, and where it comes from. */
type Place = { readonly words: string; readonly number: number; readonly count: number };

const LABELS = 14;
const MOST_VALUE = 200;
const MARKS = {
  matches: "✓",
  "does not match": "·",
  "speaks of other tools": "-",
  "cannot be answered": "!",
} as const;

function valueText({ name, value, error }: SeenValue): string {
  if (error !== null) return `${name}: ${visible(error)}`;
  const { text, left } = cut(canonicalJson(value), MOST_VALUE);
  return `${name} = ${visiblePreview(text)}${left === 0 ? "" : missing(left, "character")}`;
}

function ruleLines(rule: ExplainedRule): readonly string[] {
  const { id, verdict, shadow, outcome, error, when, values } = rule;
  const head = `${MARKS[outcome]} ${visible(id)}: ${visible(verdict)}${shadow ? ", on trial" : ""}: ${outcome}`;
  if (outcome === "speaks of other tools") return [head];
  return [
    head,
    ...(when === null ? [] : [`    when ${visible(when)}`]),
    ...values.map((one) => `    ${valueText(one)}`),
    ...(error === null ? [] : [`    ${visible(error)}; it blocks`]),
  ];
}

function verdictWords(verdict: Verdict): string {
  const set = verdict.verdict === "revise" ? ` to ${visiblePreview(canonicalJson(verdict.set))}` : "";
  return `${verdict.verdict}${set} [${verdict.rule ?? "policy"}]${verdict.reason ? `: ${verdict.reason}` : ""}`;
}

function limitWords({ allowed, toolCalls, calls }: NonNullable<ExplainedRound["limits"]>): string {
  if (!allowed) return "the tool is not among those that are allowed";
  const all = toolCalls.most === null ? `${toolCalls.made}` : `${toolCalls.made} of ${toolCalls.most}`;
  return `${all} tool calls, ${calls.made} of ${calls.most} of this tool`;
}

function printRound(sections: Sections, round: ExplainedRound, number: number): void {
  sections.heading(number === 1 ? "Rules" : `Rules, round ${number}, on what was revised`);
  if (number > 1) sections.tree("arguments", round.args);
  sections.block(round.rules.flatMap(ruleLines));
  if (round.riskConditions.length > 0) {
    sections.heading("Risk");
    sections.block(round.riskConditions.flatMap(ruleLines));
    if (round.risk !== null) sections.field("risk", `${round.risk.score}, ${round.risk.level}`);
  }
  if (round.totals.length > 0) sections.field("totals", round.totals.map(valueText).join(", "));
  if (round.limits !== null) sections.field("limits", limitWords(round.limits));
  sections.field("says", verdictWords(round.verdict));
}

function printNotes(sections: Sections, explained: Explained, { count }: Place): void {
  const { recorded, hasSchema, input, review } = explained;
  if (recorded !== null)
    sections.field("at the time", `${recorded.verdict} [${recorded.rule}] ${recorded.reason}`);
  // How a schema is given is a matter of the command line.
  for (const note of explainNotes(explained, { ...explained, hasSchema: true, count }))
    sections.field("note", note);
  if (!hasSchema && review.revisions.length > 0)
    sections.field(
      "note",
      `no schema of ${input.tool} is known: --tools gives one to check revisions against`,
    );
}

export function printExplanation({ terminal, full }: Context, explained: Explained, place: Place): void {
  const { policy, input, rounds, review } = explained;
  const sections = sectionsOn(terminal, full, LABELS);
  if (place.number > 1) terminal.line();
  if (place.count > 1) sections.heading(`Policy ${place.number} of ${place.count}`);
  sections.field("policy", `${policy.name} ${policy.digest.slice(0, 12)}, ${place.words}`);
  sections.field("action", `${input.tool} by ${input.agent} at ${moment(input.now)}`);
  if (input.workflow !== null)
    sections.field(
      "workflow",
      `${input.workflow.name}, attempt ${input.workflow.generation}, ${input.history.length} calls before`,
    );
  sections.tree("arguments", input.args);
  for (const [index, round] of rounds.entries()) printRound(sections, round, index + 1);
  sections.heading("Verdict");
  sections.field(review.verdict, `[${review.rule}]${review.reason === "" ? "" : ` ${review.reason}`}`);
  if (review.revisions.length > 0) sections.tree("arguments", review.args);
  printNotes(sections, explained, place);
}
