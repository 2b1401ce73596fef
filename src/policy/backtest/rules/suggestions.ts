/**
 * Suggests rules and grants that people's decisions support, and adds such a rule to a document. A suggestion matches
 * no action that a person rejected or changed; one with unreadable arguments may match. It is based on at least `min`
 * approvals, on two days or by two people, is as narrow as the approvals, and is evaluated by the expression itself.
 * The rule that is printed for pasting is the rule that was tried. An approve rule does not outrank a rule that
 * escalates: that rule is narrowed instead. Arguments are read for the suggestion's own tool only, since another may
 * lack them; a rule for several tools is narrowed by a copy for that tool.
 */

import { visible } from "../../../kernel/text.ts";
import { ANY, type Type } from "../../expression/types.ts";
import type { PolicyText } from "../../rules/document.ts";
import { patternsOf } from "../../rules/tools.ts";
import {
  type ApprovedCondition,
  approvedCondition,
  countDays,
  decidersOf,
  decisionTime,
  type FieldCondition,
  filterInSteps,
  isNo,
  isYes,
  numberAt,
} from "./approved-condition.ts";
import type { Sample, SampleGroup, Samples } from "./decision-samples.ts";

export type Suggestion = {
  readonly tool: string;
  readonly agent: string;
  readonly conditions: readonly FieldCondition[];
  /** The conditions as an expression. */
  readonly when: string;
  /** Arguments for which any value is let through, because there were too many values to list. */
  readonly open: readonly string[];
  readonly approved: number;
  readonly people: readonly string[];
  readonly days: number;
  readonly first: number;
  readonly last: number;
  /** The rules that escalated. An approve rule does not outrank them. */
  readonly askedBy: readonly string[];
  /** From the replay: every approval request that the suggestion would have made unnecessary. */
  readonly letThrough: {
    readonly total: number;
    /** Without a decision by a person: pending, expired or withdrawn. */
    readonly undecided: number;
    /** Requests to several people, by a quorum or in stages. A grant by one person does not cover these. */
    readonly ofSeveral: number;
    /** Of the others, the most approvals within seven days. A higher request rate is no reason to grant more. */
    readonly weekly: number;
    /** Bounded numbers: their total sum, and the highest sum within seven days that one person may grant. */
    readonly sums: readonly {
      readonly field: string;
      /** As written in an expression. */
      readonly path: string;
      readonly sum: number;
      readonly weekly: number;
    }[];
  };
  /** Rejections and changes by people that the suggestion does not match. */
  readonly keptOut: number;
};

const WEEK_MS = 7 * 86_400_000;

/** The highest sum within seven days. `of` returns the amount of each sample. */
function weekly(samples: readonly Sample[], of: (sample: Sample) => number): number {
  const inOrder = samples.toSorted((a, b) => a.at - b.at);
  let [most, sum, from] = [0, 0, 0];
  for (const sample of inOrder) {
    sum += of(sample);
    for (let oldest = inOrder[from]; oldest !== undefined && oldest.at <= sample.at - WEEK_MS; ) {
      sum -= of(oldest);
      oldest = inOrder[++from];
    }
    most = Math.max(most, sum);
  }
  return most;
}

function letThroughBy(met: readonly Sample[], { bounded }: ApprovedCondition): Suggestion["letThrough"] {
  const agreed = met.filter(isYes);
  const grantable = agreed.filter(({ ofSeveral }) => !ofSeveral);
  const sums = bounded.map((place) => {
    const of = (sample: Sample) => numberAt(sample, place) || 0;
    const sum = met.reduce((total, sample) => total + of(sample), 0);
    return { field: place.field, path: place.path, sum, weekly: weekly(grantable, of) };
  });
  const undecided = met.length - agreed.length;
  const ofSeveral = met.filter((sample) => sample.ofSeveral).length;
  return { total: met.length, undecided, ofSeveral, weekly: weekly(grantable, () => 1), sums };
}

function* suggestionOf(group: SampleGroup, found: ApprovedCondition): Generator<void, Suggestion> {
  const { tool, agent, samples } = group;
  const { yes, when, conditions, open } = found;
  const met = yield* filterInSteps(samples, found.covers);
  const letThrough = letThroughBy(met, found);
  yield;
  const times = yes.map(decisionTime);
  return {
    ...{ tool, agent, conditions, when, open },
    approved: yes.length,
    people: decidersOf(yes),
    days: countDays(yes),
    first: times.reduce((least, at) => Math.min(least, at), Number.POSITIVE_INFINITY),
    last: times.reduce((most, at) => Math.max(most, at), 0),
    askedBy: [...new Set(met.map(({ rule }) => rule))].sort(),
    letThrough,
    keptOut: samples.filter(isNo).length,
  };
}

/** False for a name with hidden characters: nothing is suggested about it. */
const isSaid = ({ tool, agent }: SampleGroup): boolean => visible(tool + agent) === tool + agent;

/** Best supported first; the same journal gives the same list. `argsOf` returns the type of a tool's arguments. */
export function* suggestionsFrom(
  { groups }: Samples,
  min: number,
  argsOf: (tool: string) => Type = () => ANY,
): Generator<void, readonly Suggestion[]> {
  const suggestions: Suggestion[] = [];
  for (const group of [...groups.values()].filter(isSaid)) {
    const found = yield* approvedCondition({ ...group, args: argsOf(group.tool) }, min);
    if (found !== undefined) suggestions.push(yield* suggestionOf(group, found));
  }
  const name = ({ tool, agent }: Suggestion) => JSON.stringify([tool, agent]);
  return suggestions.sort((a, b) => b.approved - a.approved || (name(a) < name(b) ? -1 : 1));
}

export type SuggestedRule = {
  readonly id: string;
  readonly tool: string;
  /** The rules that escalated are narrowed by `!(…)` of this. */
  readonly when: string;
  /** Ids of those rules. Some may not be in any document. */
  readonly askedBy: readonly string[];
};

type Rule = NonNullable<PolicyText["rules"]>[number];

/** If several policies escalate, each names its rule. */
export const rulesNamed = (rule: string): readonly string[] => rule.split("; ");

/** How to narrow a rule that escalated. */
export type Narrowing = {
  readonly rule: string;
  /** If the rule also applies to other tools: the id of its copy for this tool. */
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

/** Rules for all suggestions, in order, with unique ids that are not in `used`, the ids taken by documents. */
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

/** In document order. */
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

/** Adds one rule, narrows those that escalated, and changes nothing else. */
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
