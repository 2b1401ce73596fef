/** What became of each rule when an action was judged, over all rounds: one line a rule, for people. */
import { canonicalJson } from "../../kernel/canonical-json.ts";
import type { ExplainedRound, ExplainedRule, Explanation } from "./explain.ts";
import type { SeenValue } from "./values-seen.ts";

export type RuleState = "decided" | "matched" | "did_not_match" | "other_tool" | "shadow" | "failed";

export type StatedRule = {
  readonly id: string;
  readonly verdict: string;
  readonly state: RuleState;
  /** The condition, and what it looked at; or why it cannot be answered. */
  readonly note: string;
};

const MOST_VALUE = 200;

function valueText({ name, value, error }: SeenValue): string {
  if (error !== null) return `${name}: ${error}`;
  const isLong = typeof value === "string" && value.length > MOST_VALUE;
  const text = canonicalJson(isLong ? value.slice(0, MOST_VALUE + 1).toWellFormed() : value);
  return `${name} = ${text.length > MOST_VALUE ? `${text.slice(0, MOST_VALUE).toWellFormed()}…` : text}`;
}

function noteOf({ outcome, when, values, error }: ExplainedRule): string {
  if (outcome === "speaks of other tools") return "";
  return [
    ...(when === null ? [] : [when]),
    ...values.map(valueText),
    ...(error === null ? [] : [`${error}; it blocks`]),
  ].join("; ");
}

/** Where several policies speak at once, each names its rule. */
const hasDecided = ({ id, shadow }: ExplainedRule, { verdict }: ExplainedRound): boolean =>
  !shadow && verdict.rule === id;

function stateOf(rule: ExplainedRule, round: ExplainedRound): RuleState {
  switch (rule.outcome) {
    case "speaks of other tools":
      return "other_tool";
    case "cannot be answered":
      return "failed";
    case "does not match":
      return "did_not_match";
    default:
      if (rule.shadow) return "shadow";
      return hasDecided(rule, round) ? "decided" : "matched";
  }
}

/** As the last round has it; a rule that changed the arguments before that has decided too. */
export function ruleStates({ rounds }: Explanation): readonly StatedRule[] {
  const last = rounds.at(-1);
  if (last === undefined) return [];
  return last.rules.map((rule, index) => {
    const { id, verdict } = rule;
    const earlier = rounds.slice(0, -1).flatMap((round) => {
      const then = round.rules[index];
      return then !== undefined && stateOf(then, round) === "decided" ? [then] : [];
    });
    const [first] = earlier;
    if (first === undefined) return { id, verdict, state: stateOf(rule, last), note: noteOf(rule) };
    return { id, verdict, state: "decided", note: noteOf(first) };
  });
}
