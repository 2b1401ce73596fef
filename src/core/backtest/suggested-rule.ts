/**
 * A suggestion as a rule of a policy, and a document with it: what is printed to be pasted is what was tried.
 *
 * S1. An approve rule does not outrank what asks: the rules of the document that asked are narrowed by it.
 * S2. What it says of arguments is asked only of its own tool, since another one may not have them, and a policy that asks
 *     for them is then not usable. A rule that speaks of several tools is narrowed by a copy of it for that tool.
 */
import type { PolicyText } from "../policy/document.ts";
import { patternsOf } from "../policy/tool-pattern.ts";
import type { Suggestion } from "./suggest.ts";

export type SuggestedRule = {
  readonly id: string;
  readonly tool: string;
  /** The rules that asked are narrowed by it: `!(…)` of this. */
  readonly when: string;
  /** Ids of those rules; some of them may stand in no document. */
  readonly askedBy: readonly string[];
};

type Rule = NonNullable<PolicyText["rules"]>[number];

/** Where several policies ask at once, each names its rule. */
export const rulesNamed = (rule: string): readonly string[] => rule.split("; ");

/** What has to be done to a rule that asked. */
export type Narrowing = {
  readonly rule: string;
  /** It speaks of other tools too: the id of its copy for this one. */
  readonly copy: string | null;
};

const LONGEST_ID = 60;

const plain = (id: string): string => id.replace(/[^A-Za-z0-9_]+/g, "_").slice(0, LONGEST_ID);

const idOf = ({ tool, agent }: Suggestion): string =>
  plain(`suggested_${tool}_${agent.replace(/^agent:/, "")}`);

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
    return { id, tool, when: own, askedBy: [...new Set(askedBy.flatMap(rulesNamed))] };
  });
}

/** A rule whose condition is code cannot be narrowed here. */
const isNarrowed = (rule: Rule, { askedBy }: SuggestedRule): boolean =>
  rule.shadow !== true &&
  rule.verdict === "escalate" &&
  askedBy.includes(rule.id) &&
  typeof rule.when !== "function";

const isOfOne = ({ tool }: Rule, name: string): boolean => {
  const patterns = patternsOf(tool);
  return patterns.every((pattern) => pattern === name);
};

/** `args.a > 1` becomes `(args.a > 1) && …`. */
const and = (when: Rule["when"], more: string): string =>
  typeof when === "string" ? `(${when}) && ${more}` : more;

export const otherTools = (tool: string): string => `tool.name != ${JSON.stringify(tool)}`;

/** In the order of the document. */
export function narrowingsIn(document: PolicyText, suggested: SuggestedRule): readonly Narrowing[] {
  const { rules = [] } = document;
  const taken = new Set([...rules.map(({ id }) => id), suggested.id]);
  return rules
    .filter((rule) => isNarrowed(rule, suggested))
    .map((rule) => {
      if (isOfOne(rule, suggested.tool)) return { rule: rule.id, copy: null };
      const copy = freeId(plain(`${rule.id}_${suggested.tool}`), taken);
      taken.add(copy);
      return { rule: rule.id, copy };
    });
}

function narrowed(rule: Rule, { tool, when }: SuggestedRule, { copy }: Narrowing): readonly Rule[] {
  const own = { ...rule, when: and(rule.when, `!(${when})`) };
  if (copy === null) return [own];
  return [
    { ...rule, when: and(rule.when, otherTools(tool)) },
    { ...own, id: copy, tool },
  ];
}

/** Of one rule of its own, and nothing else changed. */
export function withRule(document: PolicyText, suggested: SuggestedRule): PolicyText {
  const { id, tool, when } = suggested;
  const narrowings = new Map(narrowingsIn(document, suggested).map((one) => [one.rule, one]));
  const rules = (document.rules ?? []).flatMap((rule) => {
    const narrowing = isNarrowed(rule, suggested) ? narrowings.get(rule.id) : undefined;
    return narrowing === undefined ? [rule] : narrowed(rule, suggested, narrowing);
  });
  return { ...document, rules: [...rules, { id: unusedId(rules, id), tool, when, verdict: "approve" }] };
}

const unusedId = (rules: readonly Rule[], id: string): string =>
  rules.some((one) => one.id === id) ? unusedId(rules, `${id}_`) : id;
