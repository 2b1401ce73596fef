/**
 * A suggestion as a rule of a policy, and a document with it: what is printed to be pasted is what was tried.
 *
 * S1. An approve rule does not outrank what asks: the rules of the document that asked are narrowed by it.
 * S2. What it says of arguments is asked only of its own tool: another one may not have them.
 */
import type { PolicyText } from "../policy/document.ts";
import type { Suggestion } from "./suggest.ts";

export type SuggestedRule = {
  readonly id: string;
  readonly tool: string;
  readonly when: string;
  /** What the rules that asked are narrowed by: `!(…)` of this. */
  readonly except: string;
  /** Ids of those rules; some of them may stand in no document. */
  readonly askedBy: readonly string[];
};

type Rule = NonNullable<PolicyText["rules"]>[number];

/** Where several policies ask at once, each names its rule. */
export const rulesNamed = (rule: string): readonly string[] => rule.split("; ");

const LONGEST_ID = 60;

const idOf = ({ tool, agent }: Suggestion): string =>
  `suggested_${tool}_${agent.replace(/^agent:/, "")}`.replace(/[^A-Za-z0-9_]+/g, "_").slice(0, LONGEST_ID);

function freeId(id: string, taken: ReadonlySet<string>, number = 1): string {
  const tried = number === 1 ? id : `${id}_${number}`;
  return taken.has(tried) ? freeId(id, taken, number + 1) : tried;
}

/** Of all suggestions, in their order: no two have the same id, and none has one of `used`, which documents have. */
export function rulesFor(
  suggestions: readonly Suggestion[],
  used: Iterable<string> = [],
): readonly SuggestedRule[] {
  const taken = new Set(used);
  return suggestions.map((suggestion) => {
    const { tool, agent, when, askedBy } = suggestion;
    const id = freeId(idOf(suggestion), taken);
    taken.add(id);
    const who = `agent == ${JSON.stringify(agent)}`;
    const own = when === "" ? who : `${who} && ${when}`;
    return {
      id,
      tool,
      when: own,
      except: `tool.name == ${JSON.stringify(tool)} && ${own}`,
      askedBy: [...new Set(askedBy.flatMap(rulesNamed))],
    };
  });
}

function narrowed(rule: Rule, { except, askedBy }: SuggestedRule): Rule {
  if (rule.shadow === true || rule.verdict !== "escalate" || !askedBy.includes(rule.id)) return rule;
  const { when } = rule;
  return { ...rule, when: typeof when === "string" ? `(${when}) && !(${except})` : `!(${except})` };
}

/** Of one rule of its own, and nothing else changed. A rule whose condition is code cannot be narrowed here. */
export function withRule(document: PolicyText, rule: SuggestedRule): PolicyText {
  const { id, tool, when } = rule;
  const rules = (document.rules ?? []).map((one) => narrowed(one, rule));
  return { ...document, rules: [...rules, { id: unusedId(rules, id), tool, when, verdict: "approve" }] };
}

const unusedId = (rules: readonly Rule[], id: string): string =>
  rules.some((one) => one.id === id) ? unusedId(rules, `${id}_`) : id;
